"""One number for many runs on many tasks (Agarwal et al., NeurIPS 2021).

Every aggregate takes an array of shape (..., tasks, runs), padded with NaN, and returns shape
(...): so one call serves the data and all their resamples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from analysis.statistics.scores import Array

TARGET = 100.0
"""NDG of the best known score; the optimality gap is measured to it."""

Aggregate = Callable[[Array], Array]


def mean(values: Array) -> Array:
    """Mean over tasks of the tasks' mean; a task counts the same however many runs it has."""
    result: Array = task_means(values).mean(axis=-1)
    return result


def median(values: Array) -> Array:
    """Median over tasks of the tasks' mean."""
    result: Array = np.median(task_means(values), axis=-1)
    return result


def iqm(values: Array) -> Array:
    """Interquartile mean of all run x task values: the middle half.

    With a number of values that four does not divide, those on the border count in part; else it
    is the 25 % trimmed mean.
    """
    pooled = np.sort(values.reshape(*values.shape[:-2], -1), axis=-1)  # NaN comes last
    count = np.isfinite(pooled).sum(axis=-1, keepdims=True)
    position = np.arange(pooled.shape[-1])
    inside = np.minimum(position + 1, 0.75 * count) - np.maximum(position, 0.25 * count)
    weights = np.clip(inside, 0, None)
    total: Array = np.where(weights > 0, pooled, 0.0) * weights
    result: Array = total.sum(axis=-1) / weights.sum(axis=-1)
    return result


def optimality_gap(values: Array) -> Array:
    """Mean over all run x task values of what is missing to :data:`TARGET`, at least 0."""
    result: Array = np.nanmean(np.maximum(0.0, TARGET - values), axis=(-2, -1))
    return result


def task_means(values: Array) -> Array:
    """Mean over runs, shape (..., tasks)."""
    result: Array = np.nanmean(values, axis=-1)
    return result


AGGREGATES: Mapping[str, Aggregate] = {
    "mean": mean,
    "median": median,
    "iqm": iqm,
    "optimality_gap": optimality_gap,
}


def probability_of_improvement(ours: Array, theirs: Array) -> Array:
    """P(X > Y) for a run X of ours and Y of theirs on the same task, averaged over tasks.

    Ties count one half. Shapes (..., tasks, runs of either), padded with NaN.
    """
    x, y = ours[..., :, np.newaxis], theirs[..., np.newaxis, :]
    wins = np.where(np.isnan(x) | np.isnan(y), np.nan, (x > y) + 0.5 * (x == y))
    result: Array = np.nanmean(wins, axis=(-2, -1)).mean(axis=-1)
    return result
