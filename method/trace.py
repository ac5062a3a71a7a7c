"""The trace: one object for each outer iteration, made from the journal (methods.md section 3).

The engine journals an iteration's record when it closes it (:func:`iteration_record`); what depends
on the clock, on usage or on the run's identity is added when the journal is folded
(:func:`read_trace`).
"""

from __future__ import annotations

import difflib
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from method.identity import host_of
from method.journal import Event, read_journal
from method.protocols import (
    EvalResult,
    GivenDocument,
    Program,
    Retrieval,
    Selection,
)
from method.rendering import given_body, given_text

if TYPE_CHECKING:
    from method.engine import Candidate

SCHEMA = "evoduet.trace/1"


def iteration_record(
    t: int,
    selection: Selection,
    retrieval: Retrieval,
    candidates: Sequence[Candidate],
    prompts: Sequence[str],
    chosen: Candidate | None,
    child: Program | None,
    events: Sequence[Mapping[str, Any]],
    best: Program,
    reported: EvalResult | None,
) -> dict[str, Any]:
    """What is known when iteration ``t`` is over, but for times, usage and the run's id."""
    parent = selection.parent
    final_prompt = prompts[-1]
    documents = [_document(document, selection) for document in retrieval.documents]
    return {
        "t": t,
        "parent": {"id": parent.id, "score": parent.search_score, "iteration": parent.iteration},
        "context_ids": list(selection.context_ids),
        "label": selection.label,
        "run_best_after": best.search_score,
        "new_best": child is not None and best.id == child.id,
        "gate": retrieval.gate,
        "population_analysis": retrieval.analysis,
        "rounds": list(retrieval.rounds),
        "documents": documents,
        "n_planned": retrieval.n_candidates,
        "attempts": candidates[-1].attempt,
        "prompt_sha256": _sha256(final_prompt),
        "prompt_docs": _exposed(retrieval, final_prompt),
        "candidates": [_candidate(candidate, parent) for candidate in candidates],
        "selected_slot": None if chosen is None else chosen.slot,
        "child": None if child is None else _child(child, parent),
        "report": None if reported is None else {"id": best.id, "reporting": reported.objective},
        "scaffold_events": [dict(event) for event in events],
        "external_errors": list(retrieval.errors),
        "excluded": any(error.startswith("retrieval_error") for error in retrieval.errors),
    }


def read_trace(folder: Path) -> list[dict[str, Any]]:
    """The trace of a run, folded from its journal. Raises ``JournalError``."""
    events = read_journal(folder)
    run_id = next((e.data["run_id"] for e in events if e.name == "run_started"), folder.name)
    started = {e.data["t"]: e.time for e in events if e.name == "iteration_selected"}
    x0 = next((e.data["search_score"] for e in events if e.name == "seed_evaluated"), None)
    records, before = [], x0
    for event in events:
        if event.name != "iteration_done":
            continue
        t = event.data["t"]
        record = {
            "schema": SCHEMA,
            "run_id": run_id,
            "started": started.get(t),
            "ended": event.time,
            "run_best_before": before,
            **{name: value for name, value in event.data.items() if name != "key"},
            "usage": usage_by_purpose(_of(events, "model_call", t)),
            "search_usage": search_usage(_of(events, "search", t)),
        }
        before = record["run_best_after"]
        records.append(record)
    return records


def write_trace(folder: Path) -> Path:
    """Write ``trace.jsonl`` beside the journal, whole or not at all."""
    path = folder / "trace.jsonl"
    partial = folder / ".trace.jsonl.partial"
    lines = [
        json.dumps(record, ensure_ascii=False, allow_nan=False) for record in read_trace(folder)
    ]
    partial.write_text(
        "".join(line + "\n" for line in lines), encoding="utf-8", errors="surrogatepass"
    )
    partial.replace(path)
    return path


class TraceProblem(ValueError):
    """A trace object breaks its schema; the message names iteration and place."""


def check_trace(records: Iterable[Mapping[str, Any]]) -> None:
    """Validate trace objects against the shipped JSON Schema. Raises :class:`TraceProblem`."""
    import jsonschema

    text = resources.files("method").joinpath("trace.schema.json").read_text(encoding="utf-8")
    validator = jsonschema.Draft202012Validator(json.loads(text))
    for record in records:
        for error in validator.iter_errors(record):
            place = "/".join(str(part) for part in error.absolute_path) or "the object"
            raise TraceProblem(f"iteration {record.get('t')}: {place}: {error.message}")


def usage_by_purpose(events: Iterable[Event]) -> dict[str, dict[str, Any]]:
    """Calls, tokens and cost of model calls; unknown tokens count 0, unknown cost is counted."""
    found: dict[str, dict[str, Any]] = {}
    costs: dict[str, list[float]] = {}
    for event in events:
        answer, purpose = event.data["answer"], event.data["purpose"]
        row = found.setdefault(purpose, dict.fromkeys(_USAGE, 0) | {"cost_usd": None})
        row["calls"] += 1
        for name in ("prompt", "completion", "reasoning", "cached"):
            row[name] += answer["usage"][name] or 0
        if answer["cost_usd"] is None:
            row["unpriced_calls"] += 1
        else:
            costs.setdefault(purpose, []).append(answer["cost_usd"])
    for purpose, known in costs.items():
        found[purpose]["cost_usd"] = math.fsum(known)  # whatever order the answers arrived in
    return found


_USAGE = ("calls", "prompt", "completion", "reasoning", "cached", "cost_usd", "unpriced_calls")


def search_usage(events: Iterable[Event]) -> dict[str, Any]:
    """Requests, credits and cost of searches."""
    answers = [event.data["answer"] for event in events]
    credits = [answer["credits"] for answer in answers if answer["credits"] is not None]
    costs = [answer["cost_usd"] for answer in answers if answer["cost_usd"] is not None]
    return {
        "requests": len(answers),
        "credits": math.fsum(credits) if credits else None,
        "cost_usd": math.fsum(costs) if costs else None,
    }


def _of(events: Sequence[Event], name: str, t: int) -> list[Event]:
    return [event for event in events if event.name == name and event.data["t"] == t]


def _document(document: GivenDocument, selection: Selection) -> dict[str, Any]:
    predicted = document.predicted
    return {
        "doc_id": document.doc_id,
        "ref": document.ref,
        "db_id": document.db_id,
        "predicted": predicted,
        "predicted_at": document.predicted_at,
        "promising": predicted is not None and predicted > selection.parent_score,
        "body_sha256": _sha256(document.body),
        "chars_in_prompt": len(given_body(document)),
        "first_retrieved_t": document.first_retrieved_t,
        "title": document.title,
        "url": document.url,
        "host": host_of(document.url),
    }


def _exposed(retrieval: Retrieval, prompt: str) -> list[str | None]:
    """Documents whose section really stands in the final prompt."""
    if not retrieval.documents or given_text(retrieval) not in prompt:
        return []
    return [
        document.doc_id or document.db_id or document.provider_id
        for document in retrieval.documents
    ]


def _candidate(candidate: Candidate, parent: Program) -> dict[str, Any]:
    parsed, result = candidate.parsed, candidate.result
    code = parsed.code if parsed is not None else None
    return {
        "attempt": candidate.attempt,
        "slot": candidate.slot,
        "parse": "llm_error" if parsed is None else parsed.status,
        "call_id": candidate.completion.call_id,
        "flags": [*candidate.flags, *(() if parsed is None else parsed.flags)],
        "blocks": [] if parsed is None else list(parsed.blocks),
        "error": candidate.failure or None,
        "code_sha256": None if code is None else _sha256(code),
        "diff_summary": "" if parsed is None else parsed.changes,
        "lines_added": None if code is None else _lines_added(parent.code, code),
        "eval": None if result is None else _evaluation(result, candidate.reruns),
    }


def _evaluation(result: EvalResult, reruns: int) -> dict[str, Any]:
    return {
        "status": result.status,
        "search_score": result.search_score,
        "objective": result.objective,
        "metrics": dict(result.metrics),
        "feedback": result.feedback,
        "reason": result.reason,
        "wall_s": result.wall_s,
        "cpu_s": result.cpu_s,
        "max_rss": result.max_rss,
        "reruns": reruns,
    }


def _child(child: Program, parent: Program) -> dict[str, Any]:
    return {
        "id": child.id,
        "search_score": child.search_score,
        "objective": child.objective,
        "reporting": None,
        "beats_parent": child.search_score > parent.search_score,
        "admitted": True,
    }


def _lines_added(before: str, after: str) -> int:
    rows = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    return sum(row.startswith("+") and not row.startswith("+++ ") for row in rows)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()
