"""Tables 7-10 on the NDG scale, and native differences between the methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from analysis.anchors import Anchors
from analysis.published import BASELINE, EVODUET, Published, ScoreCell
from analysis.rows import DataProblem, Printed


@dataclass(frozen=True)
class Gain:
    """NDG of one score of a cell: floored at 0, and raw without the floor."""

    cell: ScoreCell
    score: Printed
    value: float
    raw: float


def best_gains(data: Published) -> list[Gain]:
    """NDG of each cell's best run, which is also the largest NDG of its runs."""
    return [_gain(data, cell, cell.score.best) for cell in data.scores]


def gains_of_means(data: Published) -> list[Gain]:
    """NDG of each cell's mean score.

    Never above the mean NDG of the cell's runs, which the paper does not print: the floor at 0 is
    applied to runs, before averaging, and raises their mean.
    """
    return [_gain(data, cell, cell.score.mean) for cell in data.scores]


def anchors_of(data: Published, cell: ScoreCell) -> Anchors:
    """The anchors of a cell's task. Raises :class:`DataProblem` where they do not fit."""
    anchors = data.anchors.get(cell.task_id)
    if anchors is None:
        raise DataProblem(f"{data.anchors_file}: no anchors for {cell.task_id}")
    if anchors.direction != cell.direction:
        raise DataProblem(
            f"{data.anchors_file}: x0 and SOTA of {cell.task_id} say {anchors.direction}, "
            f"tables7_10_scores.csv says {cell.direction}"
        )
    return anchors


def _gain(data: Published, cell: ScoreCell, score: Printed) -> Gain:
    gain = anchors_of(data, cell).gain(score)
    assert gain.raw is not None
    return Gain(cell, score, gain.value, gain.raw)


@dataclass(frozen=True)
class AboveSota:
    """A cell whose best run is better than the SOTA anchor by more than rounding explains."""

    gain: Gain
    sota: Printed
    within_uncertainty: bool | None
    """Whether some SOTA that the printed digits allow is as good; ``None``: no range known."""


def above_sota(data: Published) -> list[AboveSota]:
    """Cells better than the anchor by more than half a unit of their last printed digit."""
    return [
        AboveSota(gain, anchors_of(data, gain.cell).sota, _within(data, gain))
        for gain in best_gains(data)
        if _lead(gain, anchors_of(data, gain.cell).sota.exact) > gain.score.unit / 2
    ]


def _lead(gain: Gain, sota: Decimal) -> Decimal:
    difference = gain.score.exact - sota
    return difference if gain.cell.direction == "max" else -difference


def _within(data: Published, gain: Gain) -> bool | None:
    allowed = data.anchor_ranges.get(gain.cell.task_id)
    if allowed is None:
        return None
    low, high = allowed.sota
    best_anchor = high if gain.cell.direction == "max" else low
    return _lead(gain, Decimal(repr(best_anchor))) <= 0


@dataclass(frozen=True)
class Comparison:
    """EvoDuet against the baseline on one task, with one model and one number of candidates."""

    baseline: ScoreCell
    evoduet: ScoreCell

    @property
    def delta_mean(self) -> Decimal:
        """Difference of the mean scores; positive: EvoDuet is better, in either direction."""
        return self._better(self.evoduet.score.mean, self.baseline.score.mean)

    @property
    def delta_best(self) -> Decimal:
        """Difference of the best scores, with the same sign."""
        return self._better(self.evoduet.score.best, self.baseline.score.best)

    def _better(self, ours: Printed, theirs: Printed) -> Decimal:
        difference = ours.exact - theirs.exact
        return difference if self.evoduet.direction == "max" else -difference


def comparisons(scores: Sequence[ScoreCell]) -> list[Comparison]:
    """Pairs of the two methods; a cell without its partner is in none (:func:`unpaired`)."""
    return [
        Comparison(cells[BASELINE], cells[EVODUET])
        for cells in _by_place(scores)
        if BASELINE in cells and EVODUET in cells
    ]


def unpaired(scores: Sequence[ScoreCell]) -> list[ScoreCell]:
    """Cells that cannot be compared, because the other method has no row for them."""
    return [cell for cells in _by_place(scores) if len(cells) == 1 for cell in cells.values()]


def notes_on_pairs(data: Published) -> list[str]:
    """What is in no comparison, and why."""
    return [
        f"tables7_10_scores.csv: {cell.task_id}, {cell.model}, N = {cell.n} has a row of "
        f"{cell.method} alone; it is in no comparison of the methods"
        for cell in unpaired(data.scores)
    ]


def _by_place(scores: Sequence[ScoreCell]) -> list[dict[str, ScoreCell]]:
    """Cells by method, for each model, N and task."""
    found: dict[tuple[str, int, str], dict[str, ScoreCell]] = {}
    for cell in scores:
        found.setdefault((cell.model, cell.n, cell.task_id), {})[cell.method] = cell
    return list(found.values())
