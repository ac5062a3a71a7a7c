"""Percentile intervals by resampling runs, or tasks and their runs, and Wilson intervals."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.statistics.scores import Array, Scores

REPEATS = 10_000
LEVEL = 0.95
_CHUNK = 1_000
"""Resamples in memory at a time."""


@dataclass(frozen=True)
class Interval:
    """Lower and upper end of a 95 % interval."""

    lo: float
    hi: float


def resamples(
    *methods: Scores, tasks: bool, repeats: int = REPEATS, seed: int = 0
) -> Iterator[list[Array]]:
    """One array of shape (chunk, tasks, runs) for each method, NaN where a task has fewer runs.

    Runs are drawn with replacement within their task. With ``tasks`` the tasks are drawn with
    replacement first, the same for all methods. The draws depend on the seed alone. Raises
    ``ValueError`` when the methods do not cover the same tasks.
    """
    names = methods[0].tasks
    if any(method.tasks != names for method in methods):
        raise ValueError("a paired interval needs the same tasks on both sides")
    rng = np.random.default_rng(seed)
    for start in range(0, repeats, _CHUNK):
        shape = (min(_CHUNK, repeats - start), len(names))
        everyone = np.broadcast_to(np.arange(len(names)), shape)
        chosen = rng.integers(len(names), size=shape) if tasks else everyone
        yield [_drawn_runs(method, chosen, rng) for method in methods]


def _drawn_runs(scores: Scores, chosen: NDArray[np.intp], rng: np.random.Generator) -> Array:
    most = scores.values.shape[1]
    counts = scores.counts[chosen][..., np.newaxis]
    runs = (rng.random((*chosen.shape, most)) * counts).astype(np.intp)
    drawn = np.take_along_axis(scores.values[chosen], runs, axis=-1)
    result: Array = np.where(np.arange(most) < counts, drawn, np.nan)
    return result


def interval(
    statistic: Callable[..., Array],
    *methods: Scores,
    tasks: bool,
    repeats: int = REPEATS,
    seed: int = 0,
) -> Interval:
    """Stratified percentile bootstrap of a statistic of one (..., tasks, runs) array a method."""
    parts = resamples(*methods, tasks=tasks, repeats=repeats, seed=seed)
    return percentile(np.concatenate([statistic(*arrays) for arrays in parts]))


def percentile(draws: Array) -> Interval:
    """The middle 95 % of resampled statistics."""
    lo, hi = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(lo), float(hi))


def seed_of(*names: object) -> int:
    """A seed from what is resampled, so that no result depends on the order of the rest."""
    return zlib.crc32("\x1f".join(map(str, names)).encode())


def wilson(successes: int, trials: int) -> Interval | None:
    """Wilson interval of a proportion; ``None`` without trials."""
    from scipy.stats import binomtest

    if trials == 0:
        return None
    found = binomtest(successes, trials).proportion_ci(LEVEL, method="wilson")
    return Interval(float(found.low), float(found.high))
