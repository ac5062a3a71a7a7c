"""Anchors for replaying the paper: x0 and SOTA of each task, read from a CSV file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from analysis.rows import DataProblem, Printed, Row, read_rows
from benchmark.ndg import Ndg, ndg

KINDS = ("replay", "recommended")
"""Column pairs ``<kind>_x0``, ``<kind>_sota`` that an anchors file may have, the first one wins."""


@dataclass(frozen=True)
class Anchors:
    """NDG 0 and NDG 100 of a task, on its reporting metric."""

    x0: Printed
    sota: Printed

    def gain(self, value: Printed) -> Ndg:
        """NDG of a score, floored at 0 and not capped, and its value without the floor."""
        return ndg(float(value), float(self.x0), float(self.sota))

    @property
    def direction(self) -> str:
        """``max`` or ``min``, as the two anchors imply."""
        return "max" if self.sota.exact > self.x0.exact else "min"


@dataclass(frozen=True)
class Range:
    """All anchors that the printed digits of the paper allow, each from low to high."""

    x0: tuple[float, float]
    sota: tuple[float, float]


def read_anchors(path: Path) -> dict[str, Anchors]:
    """Anchors by task, from columns ``replay_*`` or, when those are absent, ``recommended_*``.

    Raises :class:`DataProblem` for a file that has neither, or where x0 and SOTA are equal.
    """
    rows = read_rows(path, ("task_id",))
    kind = next((k for k in KINDS if _has(rows[0], f"{k}_x0") and _has(rows[0], f"{k}_sota")), None)
    if kind is None:
        names = " or ".join(f"{k}_x0, {k}_sota" for k in KINDS)
        raise DataProblem(f"{path}: not an anchors file; expected columns task_id and {names}")
    found: dict[str, Anchors] = {}
    for row in rows:
        task = row.text("task_id")
        anchors = Anchors(row.number(f"{kind}_x0"), row.number(f"{kind}_sota"))
        if task in found:
            raise row.problem("task_id", f"is {task} a second time")
        if float(anchors.x0) == float(anchors.sota):
            raise row.problem(f"{kind}_sota", f"equals {kind}_x0; NDG needs two different anchors")
        found[task] = anchors
    return found


def read_ranges(path: Path) -> dict[str, Range]:
    """Ranges by task, from columns ``x0_lo`` ... ``sota_hi``. Raises :class:`DataProblem`."""
    rows = read_rows(path, ("task_id", "x0_lo", "x0_hi", "sota_lo", "sota_hi"))
    found: dict[str, Range] = {}
    for row in rows:
        low_x0, high_x0, low_sota, high_sota = (
            float(row.number(name)) for name in ("x0_lo", "x0_hi", "sota_lo", "sota_hi")
        )
        apart = high_x0 < low_sota or high_sota < low_x0
        if low_x0 > high_x0 or low_sota > high_sota or not apart:
            raise row.problem("x0_lo", "to sota_hi: the ranges are not two separate intervals")
        found[row.text("task_id")] = Range((low_x0, high_x0), (low_sota, high_sota))
    return found


def _has(row: Row, column: str) -> bool:
    return column in row.fields
