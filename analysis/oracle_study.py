"""Tables 4 and 5, Figures 3 and 4(a): what good documents alone and parallel candidates bring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from analysis.comparison import NEARLY_SOLVED
from analysis.ordering import in_order
from analysis.published import BASELINE, ORACLE, OracleCell, ParallelCell, Spread

BAND = 1.0 + 1e-9
"""NDG points that a mean may move and still count as unchanged; exactly 1.0 lies inside."""


@dataclass(frozen=True)
class OverallOracle:
    """Last rows of Table 4: means over tasks of cell means and of cell bests."""

    model: str
    openevolve_mean: float
    openevolve_best: float
    oracle_mean: float
    oracle_best: float
    n_tasks: int

    @property
    def delta_mean(self) -> float:
        """Difference of the means over tasks, before rounding."""
        return self.oracle_mean - self.openevolve_mean

    @property
    def delta_best(self) -> float:
        """The same for the bests."""
        return self.oracle_best - self.openevolve_best


def overall_oracle(cells: Sequence[OracleCell]) -> list[OverallOracle]:
    """One row for each model."""
    rows = []
    for model in in_order(cell.model for cell in cells):
        mine = [cell for cell in cells if cell.model == model]
        before, after = [cell.baseline for cell in mine], [cell.oracle for cell in mine]
        rows.append(OverallOracle(model, *_means(before), *_means(after), len(mine)))
    return rows


@dataclass(frozen=True)
class OverallParallel:
    """Last rows of Table 5."""

    model: str
    method: str
    n1_mean: float
    n1_best: float
    n8_mean: float
    n8_best: float
    n_tasks: int

    @property
    def delta_mean(self) -> float:
        """What eight candidates add to the mean, within the method."""
        return self.n8_mean - self.n1_mean

    @property
    def delta_best(self) -> float:
        """What they add to the best."""
        return self.n8_best - self.n1_best


def overall_parallel(cells: Sequence[ParallelCell]) -> list[OverallParallel]:
    """One row for each model and method."""
    rows = []
    for model in in_order(cell.model for cell in cells):
        for method in in_order(cell.method for cell in cells if cell.model == model):
            mine = [cell for cell in cells if (cell.model, cell.method) == (model, method)]
            one, eight = [cell.n1 for cell in mine], [cell.n8 for cell in mine]
            rows.append(OverallParallel(model, method, *_means(one), *_means(eight), len(mine)))
    return rows


def _means(spreads: Sequence[Spread]) -> tuple[float, float]:
    return fmean(float(s.mean) for s in spreads), fmean(float(s.best) for s in spreads)


@dataclass(frozen=True)
class Changes:
    """Figure 3(c): tasks whose mean moved by more than the band, up and down."""

    model: str
    improved: int
    degraded: int
    n_tasks: int


def changes(cells: Sequence[OracleCell]) -> list[Changes]:
    """One row for each model."""
    rows = []
    for model in in_order(cell.model for cell in cells):
        deltas = [cell.delta for cell in cells if cell.model == model]
        up, down = (sum(sign * delta > BAND for delta in deltas) for sign in (1, -1))
        rows.append(Changes(model, up, down, len(deltas)))
    return rows


@dataclass(frozen=True)
class NearlySolved:
    """Tasks that the baseline nearly solves, and how much documents move their means."""

    model: str
    n_tasks: int
    mean_change: float | None


def nearly_solved(cells: Sequence[OracleCell]) -> list[NearlySolved]:
    """One row for each model."""
    rows = []
    for model in in_order(cell.model for cell in cells):
        deltas = [
            cell.delta
            for cell in cells
            if cell.model == model and float(cell.baseline.mean) >= NEARLY_SOLVED
        ]
        rows.append(NearlySolved(model, len(deltas), fmean(deltas) if deltas else None))
    return rows


def parallel_means(
    cells: Sequence[ParallelCell], model: str, task_id: str
) -> list[tuple[int, str, float]]:
    """(N, method, mean NDG) of one model on one task (Figure 4(a))."""
    found = [cell for cell in cells if (cell.model, cell.task_id) == (model, task_id)]
    return [
        (n, method, float(spread.mean))
        for n in (1, 8)
        for method in (BASELINE, ORACLE)
        for cell in found
        if cell.method == method
        for spread in ((cell.n1 if n == 1 else cell.n8),)
    ]
