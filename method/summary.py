"""What a run has found so far, folded from its journal: ``summary.json`` and the best program."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark.catalogue import find_task
from benchmark.ndg import ndg
from benchmark.task import Task
from method.journal import Blobs, Event, JournalError, read_journal
from method.manifest import iterations_of, manifest_of, status_of
from method.trace import model_usage, search_usage


def summarise(folder: Path) -> dict[str, Any]:
    """What a run has found so far, from its journal. Raises ``JournalError``."""
    events = read_journal(folder)
    manifest = manifest_of(events)
    config = manifest["config"]
    task = find_task(config["task"])
    done = [event.data for event in events if event.name == "iteration_done"]
    seed = _seed(events)
    best = _best(done, seed)
    best |= _reporting(events, best, task, manifest)
    calls = [event for event in events if event.name == "model_call"]
    searches = [event for event in events if event.name == "search"]
    costs = [event.data["answer"]["cost_usd"] for event in (*calls, *searches)]
    return {
        "run_id": manifest["run_id"],
        "run": str(folder),
        "out": str(folder),
        "task": task.id,
        "method": config["method"] + (" (recorded)" if manifest.get("recorded") else ""),
        "model": manifest["model"],
        "status": status_of(events),
        "T": iterations_of(events),
        "done": len(done),
        "ndg": best.get("ndg"),
        "best": best,
        "x0": {
            "search_score": seed["search_score"],
            "objective": seed["objective"],
            "reporting": _reporting(events, seed, task, manifest)["reporting"],
        },
        "usage": model_usage(calls),
        "search_usage": search_usage(searches),
        "cost_usd": math.fsum(cost for cost in costs if cost is not None)
        if any(cost is not None for cost in costs)
        else None,
        "unpriced_calls": sum(cost is None for cost in costs),
    }


def is_recorded(folder: Path) -> bool:
    """Whether a run was imported from a record of others. Raises ``JournalError``."""
    return bool(manifest_of(read_journal(folder)).get("recorded"))


def best_program(folder: Path) -> tuple[str, Mapping[str, Any]]:
    """Source of the best program so far, and its summary. Raises ``JournalError``."""
    summary = summarise(folder)
    events = read_journal(folder)
    if manifest_of(events).get("recorded"):
        raise JournalError(f"{folder}: imported from a record, which does not hold its programs")
    t, blobs = summary["best"]["t"], Blobs(folder)
    if t == 0:
        return blobs.get(manifest_of(events)["x0"]), summary
    (record,) = (e.data for e in events if e.name == "iteration_done" and e.data["t"] == t)
    return blobs.get(chosen(record)["code_sha256"]), summary


def chosen(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The candidate of an iteration that became its child."""
    (candidate,) = (
        candidate
        for candidate in record["candidates"]
        if (candidate["slot"], candidate["attempt"])
        == (record["selected_slot"], record["attempts"])
    )
    found: Mapping[str, Any] = candidate
    return found


def write_summary(folder: Path) -> dict[str, Any]:
    """Write ``summary.json`` beside the journal, whole or not at all; returns what it holds."""
    content = summarise(folder)
    path = folder / "summary.json"
    partial = path.with_name(f".{path.name}.{time.monotonic_ns()}")
    try:
        partial.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return content


def _seed(events: Sequence[Event]) -> dict[str, Any]:
    name = next((e.data["id"] for e in events if e.name == "seed_evaluated"), None)
    for event in events:
        if event.name == "evaluation" and event.data["key"][:3] == [0, 0, 0]:
            result = event.data["result"]
            return {
                "t": 0,
                "id": name,
                "search_score": result["search_score"],
                "objective": result["objective"],
            }
    return {"t": 0, "id": name, "search_score": None, "objective": None}


def _best(done: Sequence[Mapping[str, Any]], seed: dict[str, Any]) -> dict[str, Any]:
    best = seed
    for record in done:
        child = record["child"]
        if child is not None and child["search_score"] > best["search_score"]:
            best = {
                "t": record["t"],
                "id": child["id"],
                "search_score": child["search_score"],
                "objective": child["objective"],
            }
    return dict(best)


def _reporting(
    events: Sequence[Event], best: Mapping[str, Any], task: Task, manifest: Mapping[str, Any]
) -> dict[str, Any]:
    """The reporting score of a program, and its NDG where it is known and comparable."""
    reporting = best["objective"]
    if manifest["held_out"]:
        reports = [
            event.data["result"]["objective"]
            for event in events
            if event.name == "report_evaluation" and event.data["key"][1] == best["id"]
        ]
        reporting = reports[-1] if reports else None
    variant = manifest["config"].get("variant") or "official"
    if reporting is None or variant != "official":
        return {"reporting": reporting, "ndg": None, "ndg_raw": None}
    anchors = task.declared.anchors
    gain = ndg(reporting, anchors.initial.value, anchors.sota.value)
    return {"reporting": reporting, "ndg": gain.value, "ndg_raw": gain.raw}
