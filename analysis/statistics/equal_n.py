"""Best-of-n at equal n: the best of six beats the best of two without a better method."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from analysis.statistics.bootstrap import Interval, percentile
from analysis.statistics.scores import Array, Scores


def expected_best(values: Array, n: int) -> float:
    """Mean of the best of ``n`` values drawn without replacement, over all draws.

    Exact: the i-th smallest of m values is the best of C(i - 1, n - 1) of the C(m, n) draws. Raises
    ``ValueError`` when there are fewer than ``n`` values.
    """
    ordered = np.sort(values)
    if not 1 <= n <= len(ordered):
        raise ValueError(f"the best of {n} of {len(ordered)} values is not defined")
    draws = comb(len(ordered), n)
    weights = [comb(place, n - 1) / draws for place in range(len(ordered))]
    return float(np.dot(weights, ordered))


@dataclass(frozen=True)
class EqualN:
    """Two methods at the same number of runs a task, averaged over their common tasks."""

    n: int
    n_tasks: int
    ours: float
    theirs: float
    difference: Interval
    """Middle 95 % of the difference over draws of n runs of each; no interval for other runs."""

    @property
    def delta(self) -> float:
        """Ours minus theirs."""
        return self.ours - self.theirs


def equal_n(ours: Scores, theirs: Scores, *, draws: int = 2_000, seed: int = 0) -> list[EqualN]:
    """Expected best-of-n for every n up to the smallest number of runs of any common task."""
    common = sorted(set(ours.tasks) & set(theirs.tasks))
    if not common:
        return []
    sides = [[scores.of_task(task) for task in common] for scores in (ours, theirs)]
    smallest = min(len(runs) for side in sides for runs in side)
    rng = np.random.default_rng(seed)
    found = []
    for n in range(1, smallest + 1):
        best = [np.mean([expected_best(runs, n) for runs in side]) for side in sides]
        drawn = [np.mean([_best(runs, n, draws, rng) for runs in side], axis=0) for side in sides]
        spread = percentile(drawn[0] - drawn[1])
        found.append(EqualN(n, len(common), float(best[0]), float(best[1]), spread))
    return found


def _best(runs: Array, n: int, draws: int, rng: np.random.Generator) -> Array:
    """Best of n runs without replacement, ``draws`` times."""
    order = rng.random((draws, len(runs))).argsort(axis=1)[:, :n]
    result: Array = runs[order].max(axis=1)
    return result
