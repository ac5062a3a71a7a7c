"""The study as the report holds it: an index of runs, and blocks of data for each of them.

Runs are read one after another and only one is in memory; what a page needs later goes to a file of
blocks at once. Nothing depends on the clock, and runs are sorted, so the same input gives the same
bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from analysis.auditing.findings import DOCUMENTS_UNUSED
from analysis.ordering import domain_key, model_key
from analysis.report.audits import audit_of
from analysis.report.details import Chunks, Programs, cut, detail, lineage
from analysis.report.packing import block
from analysis.report.rows import Gains, Totals, held_out, read_rows
from analysis.rows import DataProblem
from analysis.runs import DONE, Configuration, configuration_of
from analysis.traces import Trace, open_trace

SCHEMA = "evoduet.report/1"
Details = Literal["none", "improving", "all"]
_MARKS = frozenset(("journal.jsonl", "trace.jsonl"))


def find_runs(places: Sequence[Path]) -> list[tuple[str, Path]]:
    """Run folders at or below ``places``, each once, with the name a reader knows it by.

    Raises :class:`DataProblem` for a place that does not exist or holds no run.
    """
    found: dict[Path, str] = {}
    for place in places:
        if not place.is_dir():
            raise DataProblem(f"{place}: no such folder; name runs or a folder of runs")
        mine = sorted(_below(place))
        if not mine:
            raise DataProblem(f"{place}: no runs there (no trace.jsonl or journal.jsonl below it)")
        for folder in mine:
            inside = folder.relative_to(place).as_posix()
            name = folder.resolve().name if inside == "." else inside
            found.setdefault(folder.resolve(), name)
    return [(name, folder) for folder, name in found.items()]


def _below(place: Path) -> Iterator[Path]:
    """Folders that hold a run; what lies in them (thousands of blobs) is not looked through."""
    for folder, inner, names in os.walk(place):
        if not _MARKS.isdisjoint(names):
            inner.clear()
            yield Path(folder)


@dataclass
class Study:
    """Index of the study; grows run by run."""

    details: Details
    runs: list[dict[str, Any]] = field(default_factory=list)
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    iterations: int = 0
    detailed: int = 0

    def index(self) -> dict[str, Any]:
        """What the page holds unpacked."""
        tasks = sorted(
            self.tasks.values(), key=lambda task: (domain_key(task["domain"]), task["id"])
        )
        return {"schema": SCHEMA, "details": self.details, "tasks": tasks, "runs": self.runs,
                "iterations": self.iterations, "detailed": self.detailed,
                "notes": self.notes}  # fmt: skip


def read_study(runs: Iterable[tuple[str, Path]], details: Details, blocks: IO[str]) -> Study:
    """Read runs, write their blocks. Raises :class:`DataProblem` when no run can be read."""
    study = Study(details)
    for name, trace in _sorted_traces(runs, study.notes):
        try:
            _add(study, name, trace, blocks)
        except DataProblem as problem:
            study.notes.append(_left_out(problem, name, trace.folder))
    if not study.runs:
        raise DataProblem("no run can be read: " + "; ".join(study.notes))
    return study


def _sorted_traces(
    runs: Iterable[tuple[str, Path]], notes: list[str]
) -> Iterator[tuple[str, Trace]]:
    """Runs by model, N, method, settings, task and seed, whatever the order of the folders."""
    found = []
    for name, folder in sorted(runs):
        try:
            trace = open_trace(folder)
            found.append((_order(trace), name, trace))
        except DataProblem as problem:
            notes.append(_left_out(problem, name, folder))
    found.sort(key=lambda item: item[:2])
    for _, name, trace in found:
        yield name, trace


def _left_out(problem: DataProblem, name: str, folder: Path) -> str:
    """A note that knows the run as the report does, without a path of this machine."""
    return f"left out: {str(problem).replace(str(folder), name)}"


def _order(trace: Trace) -> tuple[Any, ...]:
    seed = trace.config.get("seed")
    task = trace.task
    return (domain_key(task.declared.domain_title), task.name, model_key(trace.model),
            configuration(trace).key, seed if isinstance(seed, int) else -1)  # fmt: skip


def configuration(trace: Trace) -> Configuration:
    """What is compared. Raises :class:`DataProblem` for a run that does not tell its method."""
    try:
        return configuration_of(trace.summary, trace.manifest)
    except KeyError as missing:
        raise DataProblem(
            f"{trace.folder}: neither summary.json nor the journal tells its {missing}"
        ) from None


def _add(study: Study, name: str, trace: Trace, blocks: IO[str]) -> None:
    """Read a run; the study and the blocks change only when all of it could be read."""
    number = len(study.runs)
    programs, totals, rows = Programs(trace), Totals(), []
    for record, row in read_rows(trace):
        programs.add(record)
        totals.add(record, row)
        rows.append(row)
    audit = audit_of(trace)
    best = next((row["t"] for row in reversed(rows) if row["new_best"]), 0)
    path = lineage(rows, best)
    written, places = _details(number, trace, programs, _wanted(study.details, rows, path, audit))
    for row in rows:
        row["chunk"] = places.get(row["t"])
    page = {
        "rows": rows,
        "lineage": path,
        "usage": totals.usage,
        "search_usage": totals.search,
        "audit": audit,
        "config": trace.config,
        "best_program": None
        if study.details == "none"
        else {"t": best, "program": cut(programs.of_iteration(best))},
        "notes": trace.notes,
    }
    blocks.write(block(f"run-{number}", page))
    blocks.writelines(written)
    study.tasks.setdefault(trace.task.id, _task(trace))
    study.tasks[trace.task.id]["held_out"] |= held_out(trace)
    study.runs.append(_entry(name, trace, rows, totals, audit))
    study.iterations += len(rows)
    study.detailed += len(places)
    study.notes.extend(f"{name}: {note}" for note in trace.notes)


def _wanted(
    details: Details, rows: Sequence[Mapping[str, Any]], path: list[int], audit: Mapping[str, Any]
) -> set[int]:
    """Iterations that get details. That documents were not used is usual, and no reason."""
    if details == "none":
        return set()
    if details == "all":
        return {row["t"] for row in rows}
    flagged = {flag["t"] for flag in audit["flags"] if flag["flag"] != DOCUMENTS_UNUSED}
    return {*path, *flagged, *(row["t"] for row in rows if row["new_best"])}


def _details(
    number: int, trace: Trace, programs: Programs, wanted: set[int]
) -> tuple[list[str], dict[int, int]]:
    """Blocks of opened iterations, compressed, and which iteration is in which."""
    chunks = Chunks(trace)
    written: list[str] = []
    documents = trace.documents if wanted else {}
    for record in trace.iter_records() if wanted else ():
        if record["t"] in wanted:
            full = chunks.add(record["t"], detail(record, trace, programs, documents))
            if full is not None:
                written.append(block(f"run-{number}-{len(written)}", full))
    last = chunks.rest()
    if last is not None:
        written.append(block(f"run-{number}-{len(written)}", last))
    return written, chunks.place


def _task(trace: Trace) -> dict[str, Any]:
    declared = trace.task.declared
    return {
        "id": trace.task.id,
        "name": trace.task.name,
        "title": declared.title,
        "domain": declared.domain_title,
        "direction": declared.direction,
        "metric": declared.reporting_metric,
        "x0": declared.anchors.initial.value,
        "sota": declared.anchors.sota.value,
        "held_out": False,
    }


def _entry(
    name: str,
    trace: Trace,
    rows: Sequence[Mapping[str, Any]],
    totals: Totals,
    audit: Mapping[str, Any],
) -> dict[str, Any]:
    config, summary = configuration(trace), trace.summary
    status = str(summary.get("status") or "running")
    best = summary.get("best") or {}
    variant = trace.config.get("variant") or "official"
    comparable = variant == "official"
    gains = Gains(trace)
    flags: dict[str, int] = {}
    for flag in audit["flags"]:
        flags[flag["flag"]] = flags.get(flag["flag"], 0) + 1
    return {
        "name": name,
        "run_id": trace.run_id,
        "task": trace.task.id,
        "model": config.model,
        "n": config.n,
        "method": config.method,
        "settings": config.settings,
        "seed": trace.config.get("seed"),
        "variant": variant,
        "status": status,
        "complete": status in DONE,
        "iterations": trace.iterations,
        "done": len(rows),
        "held_out": gains.held_out,
        "x0_score": (summary.get("x0") or {}).get("search_score", rows[0]["best"]),
        "score": rows[-1]["best"],
        "objective": best.get("reporting", best.get("objective")),
        "ndg": (best.get("ndg") if summary else rows[-1]["ndg"]) if comparable else None,
        "ndg_raw": best.get("ndg_raw") if comparable else None,
        "usd": _cost(summary, rows),
        "recorded": bool(trace.manifest.get("recorded")),
        "evaluations": totals.evaluations,
        "seconds": rows[-1]["seconds"],
        "decisions": totals.decisions,
        "slots_missing": max(0, (trace.iterations or 0) - len(rows)) if trace.ended else 0,
        "flags": flags,
        "steps": list(_steps(rows, gains)),
    }


def _cost(summary: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> float | None:
    """USD of model calls and searches; ``None`` when a price is not known, which is not 0."""
    spent = [row["usd"] for row in rows]
    if None in spent or summary.get("unpriced_calls"):
        return None
    return summary["cost_usd"] if "cost_usd" in summary else float(sum(spent))


def _steps(rows: Sequence[Mapping[str, Any]], gains: Gains) -> Iterator[tuple[int, float]]:
    """Where the NDG of the run's best changes: iteration and new value, from iteration 0 on."""
    now = gains.start
    if now is not None:
        yield 0, now
    for row in rows:
        if row["ndg"] is not None and row["ndg"] != now:
            now = row["ndg"]
            yield row["t"], now
