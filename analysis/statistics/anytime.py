"""Best so far against what it took: curves, areas, targets reached, and waits with censoring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.statistics.scores import Array

TARGETS = tuple(float(target) for target in range(10, 101, 10))
"""Levels of NDG in percent that the runtime distribution counts."""

WAITS = (50.0, 80.0, 95.0, 100.0)
"""Levels whose waiting time is estimated."""

GRID = 101
"""Points of a mean curve."""


@dataclass(frozen=True)
class Curve:
    """Value of the run's best as a step function: ``value[i]`` holds from ``cost[i]`` on.

    ``cost`` starts at 0 and never falls (iterations, evaluations, USD ...); it ends with what the
    run spent, whether or not its last step improved anything. A held-out value may fall, because
    the best is chosen by another score.
    """

    cost: Array
    value: Array

    @classmethod
    def of(cls, cost: Sequence[float], value: Sequence[float]) -> Curve:
        """A curve from two lists of equal length. Raises ``ValueError`` when costs fall."""
        costs, values = np.asarray(cost, float), np.asarray(value, float)
        if costs.shape != values.shape or not len(costs) or (np.diff(costs) < 0).any():
            raise ValueError("a curve needs as many values as costs, and costs that never fall")
        return cls(costs, values)

    @property
    def spent(self) -> float:
        """Cost at the end."""
        return float(self.cost[-1])

    def at(self, where: Array) -> Array:
        """Values at the given costs; before the first one, the first value."""
        place = np.searchsorted(self.cost, where, side="right") - 1
        result: Array = self.value[np.maximum(place, 0)]
        return result

    def area(self) -> float:
        """Mean height over the run: the area under the curve divided by what was spent."""
        if not self.spent > self.cost[0]:
            return float(self.value[-1])
        return float(np.dot(np.diff(self.cost), self.value[:-1]) / (self.spent - self.cost[0]))

    def reaches(self, target: float) -> float | None:
        """Cost at which the target is first met, ``None`` if it is not."""
        met = np.flatnonzero(self.value >= target)
        return float(self.cost[met[0]]) if len(met) else None


def costs_up_to(end: float, *, whole: bool) -> Array:
    """Costs from 0 to ``end``, about :data:`GRID` of them; whole numbers where costs are counts."""
    grid: Array = np.linspace(0.0, end, GRID) if end > 0 else np.zeros(1)
    return np.unique(np.floor(grid + 1e-9)) if whole else grid


def mean_curve(curves: Sequence[Curve], *, whole: bool) -> tuple[Array, Array]:
    """Costs and the mean of the curves there, up to the cost that all of them have spent."""
    grid = costs_up_to(min(curve.spent for curve in curves), whole=whole)
    result: Array = np.mean([curve.at(grid) for curve in curves], axis=0)
    return grid, result


def runtime_distribution(
    curves: Sequence[Curve], targets: Sequence[float] = TARGETS
) -> tuple[Array, Array]:
    """Costs, and the share of (run, target) pairs met by then (the ECDF of COCO)."""
    waits = [wait for curve in curves for t in targets if (wait := curve.reaches(t)) is not None]
    costs = np.unique(np.array([0.0, *waits]))
    met = np.searchsorted(np.sort(waits), costs, side="right") if waits else np.zeros(1)
    return costs, met / (len(curves) * len(targets))


@dataclass(frozen=True)
class Wait:
    """Cost to reach a target; runs that did not reach it are censored at what they spent."""

    target: float
    n: int
    reached: int
    median: float | None
    """Smallest cost by which half the runs are estimated to be there; ``None``: never so far."""


def wait(curves: Sequence[Curve], target: float) -> Wait:
    """Kaplan-Meier estimate of the cost to reach a target."""
    from scipy.stats import CensoredData, ecdf

    found = [curve.reaches(target) for curve in curves]
    met = [cost for cost in found if cost is not None]
    if not met:
        return Wait(target, len(curves), 0, None)
    open_ = [curve.spent for curve, cost in zip(curves, found, strict=True) if cost is None]
    reached = ecdf(CensoredData(uncensored=met, right=open_)).cdf
    half = np.flatnonzero(reached.probabilities >= 0.5 - 1e-12)
    median = float(reached.quantiles[half[0]]) if len(half) else None
    return Wait(target, len(curves), len(met), median)
