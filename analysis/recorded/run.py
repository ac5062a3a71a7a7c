"""A recorded run as manifest, trace records and summary of ours (data/trajectories format)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from analysis.published import default_folder
from analysis.recorded.evidence import Evidence, Names, evidence_of
from analysis.recorded.objectives import objective_of
from analysis.recorded.source import Node, differing, points_of, read_source, steps_of
from analysis.rows import DataProblem, read_rows
from benchmark.catalogue import UnknownTask, find_task
from benchmark.ndg import ndg
from benchmark.task import Task

METHOD = "openevolve-native+evoduet"
LABEL = f"{METHOD} (recorded)"
"""Method in every table and figure: never averaged with own runs of the method."""

_EDITS = {"diff edits": "diff", "diff": "diff", "full rewrite": "full", "full": "full"}
_TOLD = ("key", "slug", "behavior", "title", "summary", "takeaway", "edit_mode", "run_fingerprint")


@dataclass(frozen=True)
class RecordedRun:
    """What a run folder is made of. ``records`` lack what folding a journal adds.

    ``start`` is the initial program's search score and objective; ``notes`` are what a reader must
    know.
    """

    manifest: Mapping[str, Any]
    start: Mapping[str, float | None]
    records: Sequence[Mapping[str, Any]]
    blobs: Mapping[str, str]
    summary: Mapping[str, Any]
    notes: Sequence[str]


def read_recorded(path: Path, run_id: str, task_name: str | None = None) -> RecordedRun:
    """Read a downloaded record. ``task_name`` names the task where the file's own words do not.

    Raises :class:`DataProblem` naming the file and the place.
    """
    source, sha256 = read_source(path)
    task = _task(source, path, task_name)
    points, steps = points_of(source), steps_of(source)
    last = source.integer("last_iteration") or max(chain(points, steps))
    for t in chain(points, steps):
        if t > last:
            raise DataProblem(f"{path}: iteration {t} is beyond last_iteration {last}")
    x0 = points[0].require("candidate_score", points[0].number("candidate_score"))
    names = Names()
    notes = list(differing(points))
    records = _records(task, points, steps, x0, names, notes)
    manifest = _manifest(source, task, run_id, last, steps, sha256)
    start = {"search_score": x0, "objective": objective_of(task, x0)}
    summary = _summary(manifest, task, records, start, last)
    return RecordedRun(manifest, start, records, names.blobs, summary, notes)


# --- records -----------------------------------------------------------------------------------


def _records(
    task: Task,
    points: Mapping[int, Node],
    steps: Mapping[int, Node],
    x0: float,
    names: Names,
    notes: list[str],
) -> list[dict[str, Any]]:
    """One record for each iteration on record: a missing point leaves its slot without one."""
    best, records = x0, []
    for t in sorted({*points, *steps} - {0}):
        point, step = points.get(t), steps.get(t)
        scored = point.number("candidate_score") if point is not None else None
        told = step.number("child_score") if step is not None else None
        if None not in (scored, told) and scored != told:
            notes.append(f"iteration {t}: child_score {told!r} of the step, {scored!r} in history")
        score = scored if scored is not None else told
        after = best if score is None else max(best, score)
        records.append(_record(task, t, point, step, score, best, after, names))
        best = after
    return records


def _record(
    task: Task,
    t: int,
    point: Node | None,
    step: Node | None,
    score: float | None,
    before: float,
    after: float,
    names: Names,
) -> dict[str, Any]:
    parent = step.number("parent_score") if step is not None else None
    told = step.number("child_score") if step is not None else None
    compared = None not in (parent, told)
    evidence = Evidence((), ()) if step is None else evidence_of(step, parent, names)
    child = None
    if score is not None:
        child = {
            "id": f"recorded-{t}", "search_score": score, "objective": objective_of(task, score),
            "reporting": None, "admitted": None,
            "beats_parent": score > parent if compared else None,  # type: ignore[operator]
        }  # fmt: skip
    return {
        "t": t, "started": None, "ended": None,
        "parent": {"id": None, "score": parent, "iteration": None},
        "context_ids": [], "label": "", "run_best_before": before, "run_best_after": after,
        "new_best": after > before, "gate": _gate(point, step), "population_analysis": None,
        "rounds": list(evidence.rounds), "documents": list(evidence.documents),
        "n_planned": _planned(step), "attempts": None, "prompt_sha256": None,
        "prompt_docs": [document["doc_id"] for document in evidence.documents],
        "candidates": [], "selected_slot": None, "child": child, "report": None,
        "scaffold_events": [], "external_errors": [], "excluded": False,
        "flags": [],
    }  # fmt: skip


def _gate(point: Node | None, step: Node | None) -> dict[str, Any]:
    told = [node.gate() for node in (point, step) if node is not None]
    decision = next((word for word in told if word not in (None, "missing")), None) or "missing"
    evidence = step.object("evidence") if step is not None else None
    gate = evidence.object("gate") if evidence is not None else None
    knowledge = gate.text("knowledge") if gate is not None else None
    reason = gate.text("reason") if gate is not None else None
    if step is not None:
        knowledge = knowledge or step.text("knowledge_state")
        reason = reason or step.text("reasoning")
    return {
        "kind": "knowledge", "decision": decision, "raw_decision": None, "malformed": None,
        "would_have_parsed": None, "executed": None if decision == "missing" else decision,
        "knowledge": knowledge, "reasoning": reason, "requested_ids": [], "resolved_ids": [],
        "unresolved_ids": [], "flags": [], "call_id": None,
    }  # fmt: skip


def _planned(step: Node | None) -> int | None:
    """Candidates that were planned, where the step tells."""
    evidence = step.object("evidence") if step is not None else None
    condition = evidence.object("generation_condition") if evidence is not None else None
    return condition.integer("num_generations", least=1) if condition is not None else None


# --- manifest and summary ----------------------------------------------------------------------


def _manifest(
    source: Node, task: Task, run_id: str, last: int, steps: Mapping[int, Node], sha256: str
) -> dict[str, Any]:
    edit = source.text("edit_mode")
    if edit is not None and edit not in _EDITS:
        source.wrong("edit_mode", edit, f"one of {', '.join(_EDITS)}")
    settings = {
        "candidates": source.integer("budget", least=1), "seed": source.integer("seed"),
        "edit": None if edit is None else _EDITS[edit],
    }  # fmt: skip
    model = source.text("model") or "unknown"
    history = source.object("history")
    return {
        "run_id": run_id,
        "model": model,
        "config": {
            "task": task.id, "method": METHOD, "model": model, "search": "tavily",
            "iterations": last,
            **{name: value for name, value in settings.items() if value is not None},
        },
        "held_out": task.declared.held_out,
        "recorded": {
            "source": "project page, recorded by the paper's authors",
            "file_sha256": sha256,
            "trace_sha256": history.text("trace_sha256") if history is not None else None,
            **{key: source.text(key) for key in _TOLD},
            "selected_steps": list(steps),
            "runtime_web_access": [t for t, s in steps.items() if s.flag("runtime_web_access")],
            "exposure": "declared, not read back from a prompt",
        },
    }  # fmt: skip


def _summary(
    manifest: Mapping[str, Any],
    task: Task,
    records: Sequence[Mapping[str, Any]],
    start: Mapping[str, float | None],
    last: int,
) -> dict[str, Any]:
    best: dict[str, Any] = {"t": 0, "id": None, **start}
    for record in records:
        if record["new_best"]:
            child = record["child"]
            best = {"t": record["t"]} | {k: child[k] for k in ("id", "search_score", "objective")}
    best["reporting"] = best["objective"]
    best |= _gain(task, best["objective"])
    return {
        "run_id": manifest["run_id"], "task": task.id, "method": LABEL, "model": manifest["model"],
        "status": "finished", "T": last, "done": len(records), "ndg": best["ndg"], "best": best,
        "x0": {**start, "reporting": start["objective"]}, "usage": {}, "search_usage": {},
        "cost_usd": None, "unpriced_calls": 0, "recorded": True,
    }  # fmt: skip


def _gain(task: Task, objective: float | None) -> dict[str, float | None]:
    if objective is None:
        return {"ndg": None, "ndg_raw": None}
    anchors = task.declared.anchors
    found = ndg(objective, anchors.initial.value, anchors.sota.value)
    return {"ndg": found.value, "ndg_raw": found.raw}


def _task(source: Node, path: Path, given: str | None) -> Task:
    """The task: as given, by the list of recorded runs, or by the file's own words."""
    slug, key, title = (source.text(name) for name in ("slug", "key", "task"))
    file = default_folder() / "page_recorded_runs.csv"
    listed = {row.text("slug"): row.text("task_id") for row in read_rows(file, ("slug", "task_id"))}
    words = [given] if given else [listed.get(slug or ""), listed.get(key or ""), title, slug, key]
    for word in words:
        name = (word or "").strip().lower().replace("-", "_").replace(" ", "_")
        try:
            return find_task(name)
        except UnknownTask:
            continue
    told = given or title or slug or key or "nothing"
    raise DataProblem(f"{path}: the task is not among ours ({told!r}); name it with --task")
