"""Table 1: records and ties, and the ratios that the paper derives from its small tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import fmean
from typing import Literal

from analysis.published import EVODUET, Published, RecordCell
from analysis.rows import DataProblem

TIE = Decimal("1e-9")
"""Scores that differ by no more match."""

Outcome = Literal["record", "tie", "loss"]
SWAP, ROSETTA, DENOISING = "swap_reduction", "rosetta", "denoising"


def improvement(previous: Decimal, found: Decimal, direction: str) -> Decimal:
    """How much better ``found`` is; negative when it is worse."""
    return found - previous if direction == "max" else previous - found


def outcome(gain: Decimal) -> Outcome:
    """Verdict on an improvement."""
    return "record" if gain > TIE else "loss" if gain < -TIE else "tie"


def outcome_of(cell: RecordCell) -> Outcome:
    """Verdict on a row of Table 1(a)."""
    return outcome(improvement(cell.previous.exact, cell.found.exact, cell.direction))


def relative_change_pct(cell: RecordCell) -> float | None:
    """100 |found - previous| / previous, ``None`` for a previous score of 0."""
    if not cell.previous.exact:
        return None
    return float(100 * abs(cell.found.exact - cell.previous.exact) / abs(cell.previous.exact))


@dataclass(frozen=True)
class CostPoint:
    """What a method reached and what it cost in USD; ``None`` where it is not printed."""

    method: str
    ndg: float | None
    cost_usd: float | None
    note: str


def cost_points(data: Published) -> list[CostPoint]:
    """Table 1(e)."""
    rows = data.rows("table1e_pareto", ("method", "ndg_pct", "cost_usd", "note"))
    numbers = [(row.optional_number("ndg_pct"), row.optional_number("cost_usd")) for row in rows]
    return [
        CostPoint(
            row.text("method"), None if ndg is None else float(ndg),
            None if cost is None else float(cost), row.optional("note"),
        )
        for row, (ndg, cost) in zip(rows, numbers, strict=True)
    ]  # fmt: skip


def non_dominated(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Which (cost, NDG) points no other point beats: none as cheap and as good and better in one.

    Equal points do not beat each other.
    """
    return [
        not any(c <= cost and g >= gain and (c, g) != (cost, gain) for c, g in points)
        for cost, gain in points
    ]


def derived(data: Published) -> dict[str, float | int | None]:
    """Keys and values of ``table1_derived.csv``; ``None`` where the data lack what a key needs."""
    records = [cell for cell in data.records if outcome_of(cell) == "record"]
    domains = {_domain(data, cell) for cell in records}
    return {
        "n_records": len(records),
        "n_ties": sum(outcome_of(cell) == "tie" for cell in data.records),
        "n_record_domains": len(domains),
        "mean_cost_usd": fmean(float(cell.cost_usd) for cell in data.records),
        "swap_reduction_pct": _reduction(data.records, SWAP),
        "rosetta_reduction_pct": _reduction(data.records, ROSETTA),
        "denoising_record_ndg": _record_ndg(data),
        "denoising_cost_ratio": _cost_ratio(cost_points(data)),
        "gate_advantage_denoising": _gate_advantage(data),
    }


def _domain(data: Published, cell: RecordCell) -> str:
    if cell.task_id not in data.domains:
        raise DataProblem(f"table3_tasks.csv: no row for {cell.task_id} of table1a_records.csv")
    return data.domains[cell.task_id]


def _find(records: Iterable[RecordCell], task_id: str) -> RecordCell | None:
    return next((cell for cell in records if cell.task_id == task_id), None)


def _reduction(records: Iterable[RecordCell], task_id: str) -> float | None:
    cell = _find(records, task_id)
    return None if cell is None else relative_change_pct(cell)


def _record_ndg(data: Published) -> float | None:
    """NDG of the Denoising record between the x0 anchor and Table 1(a)'s previous best."""
    cell, anchors = _find(data.records, DENOISING), data.anchors.get(DENOISING)
    if cell is None or anchors is None:
        return None
    x0 = anchors.x0.exact
    if cell.previous.exact == x0:
        raise DataProblem("table1a_records.csv: prev_sota of denoising equals the x0 anchor")
    return float(100 * (cell.found.exact - x0) / (cell.previous.exact - x0))


def _cost_ratio(points: Sequence[CostPoint]) -> float | None:
    """Cost of the previous best method over EvoDuet's."""
    costs = {point.method: point.cost_usd for point in points}
    theirs, ours = costs.get("SimpleTES"), costs.get(EVODUET)
    return theirs / ours if theirs is not None and ours else None


def _gate_advantage(data: Published) -> float | None:
    """NDG points of the knowledge gap over the stagnation heuristic, on Denoising."""
    values = data.keyed("table1b_gating", "gating", "denoising_ndg_pct")
    ours, theirs = values.get("knowledge_gap"), values.get("stagnation_heuristic")
    return None if ours is None or theirs is None else float(ours.exact - theirs.exact)
