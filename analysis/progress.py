"""How a run got where it got: its trace as curves against what it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from analysis.runs import Run
from analysis.statistics.anytime import Curve
from analysis.trace_fields import ABSENT
from benchmark.ndg import ndg

AXES = ("iterations", "evaluations", "llm_calls", "tokens", "usd", "seconds")
"""What progress is drawn against; tokens are prompt and completion, seconds are wall clock."""
COUNTS = AXES[:4]
"""Axes on which costs are whole numbers."""


@dataclass(frozen=True)
class Progress:
    """Curves of a run by axis; an axis that is not known for every iteration is absent.

    ``measure`` says what the curves show: ``ndg``, or ``search_score`` for a held-out task without
    report points (and for data that are not comparable), which is never NDG.
    """

    run: Run
    measure: str
    curves: Mapping[str, Curve]


@dataclass(frozen=True)
class _Step:
    """What an iteration spent, and what it found."""

    t: int
    started: datetime | None
    ended: datetime | None
    spent: Mapping[str, float | None]
    best: float | None
    gain: float | None
    reported: bool


class ProgressFold:
    """Fold of one run: :meth:`add` its records in any order, then :meth:`result`."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._steps: list[_Step] = []

    def add(self, record: Mapping[str, Any]) -> None:
        """Take a record. Raises ``KeyError``, ``TypeError`` or ``ValueError`` for a broken one."""
        usage, absent = record["usage"]["by_purpose"].values(), record.get(ABSENT, ())
        known, after = "usage" not in absent, record["run_best_after"]
        self._steps.append(
            _Step(
                t=record["t"],
                started=_time(record["started"]),
                ended=_time(record["ended"]),
                spent={
                    "evaluations": None
                    if "candidates" in absent
                    else sum(c["eval"] is not None for c in record["candidates"]),
                    "llm_calls": sum(row["calls"] for row in usage) if known else None,
                    "tokens": sum(row["prompt"] + row["completion"] for row in usage)
                    if known
                    else None,
                    "usd": _usd(record) if known else None,
                },
                best=_score(record) if after is None else float(after),
                gain=_gain(self._run, record),
                reported=record["report"] is not None,
            )
        )

    def result(self) -> Progress:
        """The run's curves up to the last record."""
        run, steps = self._run, sorted(self._steps, key=lambda step: step.t)
        reported = any(step.reported for step in steps)
        if run.variant == "official" and (reported or not run.held_out):
            measure, values = "ndg", [_start(run)]
            for step in steps:
                values.append(values[-1] if step.gain is None else step.gain)
        else:
            measure = "search_score"
            values = [float(run.x0.get("search_score") or 0.0)]
            for step in steps:  # what a record does not tell is no new best
                values.append(values[-1] if step.best is None else max(values[-1], step.best))
        totals = _totals(steps)
        curves = {
            axis: Curve.of([cost for cost in costs if cost is not None], values)
            for axis, costs in totals.items()
            if None not in costs and (axis == "iterations" or not run.recorded)
        }
        return Progress(run, measure, curves)


def _totals(steps: Sequence[_Step]) -> dict[str, list[float | None]]:
    """Running totals on every axis; ``None`` from the first iteration whose cost is not known."""
    totals: dict[str, list[float | None]] = {axis: [0.0] for axis in AXES}
    begun: datetime | None = None
    for step in steps:
        begun = begun or step.started
        totals["iterations"].append(float(step.t))
        totals["seconds"].append(_seconds(step, begun, totals["seconds"][-1]))
        for axis, spent in step.spent.items():
            before = totals[axis][-1]
            totals[axis].append(None if before is None or spent is None else before + spent)
    return totals


def _seconds(step: _Step, begun: datetime | None, before: float | None) -> float | None:
    """Since the run began, pauses included; a clock that was set back stands still."""
    if step.started is None or step.ended is None or begun is None or before is None:
        return None
    return max(before, (step.ended - begun).total_seconds())


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _score(record: Mapping[str, Any]) -> float | None:
    """Score of the child, if there is one."""
    score: float | None = None if record["child"] is None else record["child"]["search_score"]
    return score


def _usd(record: Mapping[str, Any]) -> float | None:
    """Cost of an iteration's model calls and searches; ``None`` when one is unpriced."""
    usage, search = record["usage"]["by_purpose"].values(), record["search_usage"]
    unpriced_search = search["requests"] and search["cost_usd"] is None
    if unpriced_search or any(row["unpriced_calls"] for row in usage):
        return None
    return sum(row["cost_usd"] or 0.0 for row in usage) + float(search["cost_usd"] or 0.0)


def _start(run: Run) -> float:
    """NDG before the first iteration: of the initial program, or 0 where that is held out."""
    objective = run.x0.get("objective")
    return 0.0 if objective is None else _ndg(run, objective)


def _ndg(run: Run, objective: float) -> float:
    anchors = run.task.declared.anchors
    return ndg(objective, anchors.initial.value, anchors.sota.value).value


def _gain(run: Run, record: Mapping[str, Any]) -> float | None:
    """NDG of a new best of the run; held-out tasks have it at report points alone."""
    found = record["child"]["objective"] if record["new_best"] else None
    if run.held_out:
        found = record["report"]["reporting"] if record["report"] is not None else None
    return None if found is None else _ndg(run, found)
