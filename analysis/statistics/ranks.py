"""Order of several methods over tasks: mean ranks, Friedman and Nemenyi tests, its stability."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.statistics.scores import Array


@dataclass(frozen=True)
class Ranking:
    """Mean rank of each method (1 is best, ties share) and the tests on them.

    ``friedman_p`` and the rest need three methods and two tasks and are ``None`` otherwise. Two
    methods whose mean ranks differ by ``critical_difference`` or more differ at the 5 % level
    (Nemenyi; Demšar, JMLR 2006).
    """

    methods: tuple[str, ...]
    mean_ranks: Array
    n_tasks: int
    friedman_p: float | None
    critical_difference: float | None
    nemenyi_p: Array | None


def ranking(methods: Sequence[str], values: Array, level: float = 0.05) -> Ranking:
    """Rank the methods on each task; ``values`` of shape (methods, tasks), higher is better.

    Values closer than 1e-9 are tied.
    """
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    rounded = np.round(values, 9)
    k, n = rounded.shape
    ranks = rankdata(-rounded, axis=0).mean(axis=1)
    if k < 3 or n < 2:
        return Ranking(tuple(methods), ranks, n, None, None, None)
    # Methods that tie everywhere are no evidence of any order; the statistic would be 0 / 0.
    tied = bool((rounded == rounded[0]).all())
    friedman = 1.0 if tied else float(friedmanchisquare(*rounded).pvalue)
    error = math.sqrt(k * (k + 1) / (6 * n))
    quantile = float(studentized_range.ppf(1 - level, k, np.inf))
    distances = np.abs(ranks[:, np.newaxis] - ranks) / error * math.sqrt(2)
    return Ranking(
        methods=tuple(methods),
        mean_ranks=ranks,
        n_tasks=n,
        friedman_p=friedman,
        critical_difference=quantile / math.sqrt(2) * error,
        nemenyi_p=studentized_range.sf(distances, k, np.inf),
    )


def kendall(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Kendall's tau-b of two score lists of the same methods, ``None`` where one is constant."""
    from scipy.stats import kendalltau

    if len(one) < 2:
        return None
    tau = float(kendalltau(np.round(one, 9), np.round(other, 9)).statistic)
    return None if math.isnan(tau) else round(tau, 12)


@dataclass(frozen=True)
class Stability:
    """How far the order of methods stays the same when something is left out."""

    left_out: str
    tau: float | None
    same_leader: bool


def leave_out(values: Array, groups: Mapping[str, Iterable[int]]) -> list[Stability]:
    """Compare the order by mean over all tasks with that without each group of tasks.

    ``values`` has shape (methods, tasks); ``groups`` names column indices. A group that holds all
    tasks is skipped.
    """
    everything = values.mean(axis=1)
    found = []
    for name, members in groups.items():
        rest = np.delete(values, list(members), axis=1)
        if rest.shape[1]:
            without = rest.mean(axis=1)
            found.append(compare(name, everything, without))
    return found


def compare(name: str, usual: Array, changed: Array) -> Stability:
    """Order of methods in two lists of their scores."""
    return Stability(
        name,
        kendall(usual.tolist(), changed.tolist()),
        int(usual.argmax()) == int(changed.argmax()),
    )
