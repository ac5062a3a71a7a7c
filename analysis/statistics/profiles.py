"""Performance profiles: which share of run x task values reaches a level (Dolan and Moré, 2002)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.statistics.bootstrap import LEVEL, REPEATS, resamples
from analysis.statistics.scores import Array, Scores

TAUS = tuple(float(tau) for tau in range(121))
"""Levels of NDG in percent."""


@dataclass(frozen=True)
class Profile:
    """Share of values that are at least tau, with a pointwise 95 % band; aligned with ``taus``."""

    taus: tuple[float, ...]
    share: Array
    lo: Array
    hi: Array


def profile(
    scores: Scores,
    taus: Sequence[float] = TAUS,
    *,
    tasks: bool,
    repeats: int = REPEATS,
    seed: int = 0,
) -> Profile:
    """The profile of all run x task values; the band resamples as :func:`resamples` does."""
    parts = [
        shares(values, taus)
        for (values,) in resamples(scores, tasks=tasks, repeats=repeats, seed=seed)
    ]
    lo, hi = np.quantile(np.concatenate(parts), [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return Profile(tuple(taus), shares(scores.values[np.newaxis], taus)[0], lo, hi)


def shares(values: Array, taus: Sequence[float]) -> Array:
    """Shares for arrays of shape (n, tasks, runs), padded with NaN; shape (n, taus)."""
    pooled = values.reshape(len(values), -1)
    counts = np.isfinite(pooled).sum(axis=1)
    result: Array = np.stack([(pooled >= tau).sum(axis=1) / counts for tau in taus], axis=1)
    return result
