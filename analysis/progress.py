"""How a run got where it got: its trace as curves against what it took."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from analysis.rows import DataProblem
from analysis.runs import Run
from analysis.statistics.anytime import Curve
from benchmark.ndg import ndg

SCHEMA = "evoduet.trace/1"
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


def read_progress(run: Run) -> Progress:
    """Fold a run's trace. Raises :class:`DataProblem` naming the place."""
    costs = _Costs()
    gains, scores = [_start(run)], [float(run.x0["search_score"] or 0.0)]
    reported, t = False, 0
    for record in read_trace(run.folder):
        try:
            t = record["t"]
            costs.add(record)
            scores.append(float(record["run_best_after"]))
            gains.append(_gain_after(run, record, gains[-1]))
            reported |= record["report"] is not None
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise DataProblem(
                f"{run.folder}: iteration {t} of the trace cannot be read ({error!r}); "
                f"write the trace again with `evoduet trace {run.folder}`"
            ) from None
    known = run.variant == "official" and (reported or not run.held_out)
    return Progress(run, *(("ndg", costs.curves(gains)) if known else
                           ("search_score", costs.curves(scores))))  # fmt: skip


class _Costs:
    """Running totals on every axis; ``None`` from the first iteration whose cost is not known."""

    def __init__(self) -> None:
        self.totals: dict[str, list[float | None]] = {axis: [0.0] for axis in AXES}
        self.begun: datetime | None = None

    def add(self, record: Mapping[str, Any]) -> None:
        """Account for an iteration."""
        usage = record["usage"].values()
        self.totals["iterations"].append(float(record["t"]))
        self.totals["seconds"].append(self._seconds(record))
        for axis, spent in {
            "evaluations": sum(c["eval"] is not None for c in record["candidates"]),
            "llm_calls": sum(row["calls"] for row in usage),
            "tokens": sum(row["prompt"] + row["completion"] for row in usage),
            "usd": _usd(record),
        }.items():
            before = self.totals[axis][-1]
            unknown = before is None or spent is None
            self.totals[axis].append(None if unknown else before + spent)

    def _seconds(self, record: Mapping[str, Any]) -> float | None:
        """Since the run began, pauses included; a clock that was set back stands still."""
        before = self.totals["seconds"][-1]
        if record["started"] is None or record["ended"] is None or before is None:
            return None
        self.begun = self.begun or datetime.fromisoformat(record["started"])
        return max(before, (datetime.fromisoformat(record["ended"]) - self.begun).total_seconds())

    def curves(self, values: list[float]) -> dict[str, Curve]:
        """Values against every axis that is known throughout."""
        return {
            axis: Curve.of([cost for cost in totals if cost is not None], values)
            for axis, totals in self.totals.items()
            if None not in totals
        }


def _usd(record: Mapping[str, Any]) -> float | None:
    """Cost of an iteration's model calls and searches; ``None`` when one is unpriced."""
    usage, search = record["usage"].values(), record["search_usage"]
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


def _gain_after(run: Run, record: Mapping[str, Any], before: float) -> float:
    """NDG of the run's best after an iteration; held-out tasks have it at report points alone."""
    found = record["child"]["objective"] if record["new_best"] else None
    if run.held_out:
        found = record["report"]["reporting"] if record["report"] is not None else None
    return before if found is None else _ndg(run, found)


def read_trace(folder: Path) -> Iterator[dict[str, Any]]:
    """Records of `trace.jsonl`, one for each iteration; without that file, of the journal.

    A torn last line, as a growing trace has, is dropped. Raises :class:`DataProblem`.
    """
    path = folder / "trace.jsonl"
    if not path.is_file():
        yield from _from_journal(folder)
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return
            yield _record(path, number, line)


def _from_journal(folder: Path) -> list[dict[str, Any]]:
    from method.trace import read_trace as fold

    try:
        return fold(folder)
    except RuntimeError as error:  # JournalError: analysis knows of method the trace alone
        raise DataProblem(str(error)) from None


def _record(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line.decode("utf-8", errors="surrogatepass"))
        schema = record["schema"]
    except (ValueError, KeyError, TypeError):
        raise DataProblem(
            f"{path} line {number}: not a trace record; write the trace again with "
            f"`evoduet trace {path.parent}`"
        ) from None
    if schema != SCHEMA:
        raise DataProblem(f"{path} line {number}: schema {schema!r}, expected {SCHEMA!r}")
    found: dict[str, Any] = record
    return found
