"""The two losses of a denoised count matrix, and the scores made of them.

Molecular cross-validation (Batson et al., bioRxiv 786269) as the Open Problems benchmark uses it
(Luecken et al., Nature Biotechnology 2025): a method sees the training counts and is compared with
the test counts, thinned from the same molecules. Everything runs in blocks of rows, so that memory
beyond the matrices themselves stays bounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

Matrix: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Counts: TypeAlias = sparse.csr_array

TARGET_SUM = 10_000.0  # counts per cell after scaling, before the logarithm
EPSILON = 1e-6  # keeps the logarithm of a zero count finite
GATE = 0.97  # least normalised Poisson score of a method that counts
BLOCK = 1 << 18  # entries that are worked on at a time (2 MiB)


@dataclass(frozen=True)
class Losses:
    """``mse`` on log-normalised values and ``poisson``; lower is better."""

    mse: float
    poisson: float


@dataclass(frozen=True)
class Constants:
    """What a data set gives without denoising, and for the test counts themselves (``mse`` 0)."""

    baseline_mse: float
    baseline_poisson: float
    perfect_poisson: float


@dataclass(frozen=True)
class Quality:
    """Losses on the scale of one data set."""

    losses: Losses
    constants: Constants

    @property
    def mse_norm(self) -> float:
        """1 for a perfect answer, 0 for no denoising; clipped to [0, 1]."""
        baseline = self.constants.baseline_mse
        return min(1.0, max(0.0, (baseline - self.losses.mse) / baseline))

    @property
    def poisson_norm(self) -> float:
        """1 for a perfect answer, 0 for no denoising; not clipped."""
        worst, best = self.constants.baseline_poisson, self.constants.perfect_poisson
        return (worst - self.losses.poisson) / (worst - best)

    @property
    def passes_gate(self) -> bool:
        """Whether the Poisson score is high enough for the answer to count."""
        return self.poisson_norm >= GATE

    @property
    def is_sane(self) -> bool:
        """False for losses that no honest answer has: a Poisson loss below the perfect one."""
        mse, poisson = self.losses.mse, self.losses.poisson
        finite = math.isfinite(mse) and math.isfinite(poisson)
        return finite and mse >= 0 and poisson >= max(0.0, self.constants.perfect_poisson)

    @property
    def search_score(self) -> float:
        """The normalised mean squared error, or 0 behind the gate."""
        return self.mse_norm if self.passes_gate and self.is_sane else 0.0

    @property
    def heldout_score(self) -> float:
        """The mean of both normalised losses, or 0 behind the gate."""
        counts = self.passes_gate and self.is_sane
        return (self.mse_norm + self.poisson_norm) / 2 if counts else 0.0


def losses(denoised: Matrix | Counts, test: Matrix | Counts, train_total: float) -> Losses:
    """Compare a denoised matrix with the test counts (cells x genes, dense or sparse rows).

    ``train_total`` is the sum of the training counts. In the Poisson loss the test counts are the
    rate and the scaled answer the observation: the benchmark's historical order, on which all
    published constants depend. The shapes must be equal and not empty.
    """
    test_total = float(test.sum())
    squared, poisson = [], []
    for rows in blocks(test.shape):
        truth, answer = dense(test, rows), dense(denoised, rows)
        scaled = answer * test_total
        scaled /= train_total
        log_truth = truth + EPSILON
        np.log(log_truth, out=log_truth)
        scaled *= log_truth
        np.subtract(truth, scaled, out=scaled)
        poisson.append(float(np.sum(scaled)))
        difference = log_normalised(truth)
        difference -= log_normalised(answer)
        np.multiply(difference, difference, out=difference)
        squared.append(float(np.sum(difference)))
    size = test.shape[0] * test.shape[1]
    return Losses(math.fsum(squared) / size, math.fsum(poisson) / size)


def log_normalised(block: Matrix) -> Matrix:
    """Rows scaled to a sum of 10,000, then log(1 + x); a row of zeros stays zero. A new array."""
    depth = np.sum(block, axis=1, keepdims=True) / TARGET_SUM
    depth[depth == 0] = 1.0
    scaled: Matrix = block / depth
    return np.log1p(scaled, out=scaled)


def blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Slices of rows with about ``BLOCK`` entries each."""
    step = max(1, BLOCK // max(1, shape[1]))
    for start in range(0, shape[0], step):
        yield slice(start, min(start + step, shape[0]))


def dense(matrix: Matrix | Counts, rows: slice) -> Matrix:
    """Some rows as a dense float64 array."""
    block = matrix[rows]
    if not isinstance(block, np.ndarray):
        block = block.toarray()
    return np.ascontiguousarray(block, dtype=np.float64)


def measured_constants(train: Counts, test: Counts) -> Constants:
    """The constants of a split: no denoising gives the training counts, perfection the test's."""
    total = float(train.sum())
    unchanged = losses(train, test, total)
    return Constants(unchanged.mse, unchanged.poisson, losses(test, test, total).poisson)
