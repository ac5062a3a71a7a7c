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
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from method.identity import host_of
from method.journal import Event, read_journal
from method.protocols import (
    EvalResult,
    GivenDocument,
    InsertResult,
    Program,
    Retrieval,
    Selection,
)
from method.rendering import given_body, given_text

if TYPE_CHECKING:
    from method.attempts import Candidate, Drawn

SCHEMA = "evoduet.trace/1"


def iteration_record(
    t: int,
    selection: Selection,
    retrieval: Retrieval,
    flags: Sequence[str],
    drawn: Drawn,
    child: Program | None,
    inserted: InsertResult | None,
    events: Sequence[Mapping[str, Any]],
    best: Program,
) -> dict[str, Any]:
    """What is known when iteration ``t`` is over, but for times, usage, reports and the run's id.

    ``flags`` are those of the snapshot; ``best`` is the best program of the run after ``t``.
    """
    parent, chosen = selection.parent, drawn.chosen
    final_prompt = drawn.prompts[-1]
    return {
        "t": t,
        "parent": {"id": parent.id, "score": parent.search_score, "iteration": parent.iteration},
        "context_ids": list(selection.context_ids),
        "label": selection.label,
        "run_best_after": best.search_score,
        "new_best": child is not None and best.id == child.id,
        "gate": retrieval.gate,
        "population_analysis": retrieval.analysis,
        "rounds": [*retrieval.rounds, *drawn.rounds],
        "documents": [_document(document, selection) for document in retrieval.documents],
        "n_planned": retrieval.n_candidates,
        "attempts": drawn.attempts,
        "prompt_sha256": _sha256(final_prompt),
        "prompt_docs": _exposed(retrieval, final_prompt),
        "candidates": [_candidate(candidate, parent) for candidate in drawn.candidates],
        "selected_slot": None if chosen is None else chosen.slot,
        "child": None if child is None else _child(child, parent, inserted),
        "scaffold_events": [dict(event) for event in events],
        "external_errors": list(retrieval.errors),
        "excluded": any(error.startswith("retrieval_error") for error in retrieval.errors),
        "flags": list(flags),
    }


def read_trace(folder: Path) -> list[dict[str, Any]]:
    """The trace of a run, folded from its journal. Raises ``JournalError``."""
    events = read_journal(folder)
    manifest = next((e.data for e in events if e.name == "run_started"), {})
    started = {e.data["t"]: e.time for e in events if e.name == "iteration_selected"}
    calls, searches = _by_iteration(events, "model_call"), _by_iteration(events, "search")
    reports = {e.data["t"]: e.data for e in events if e.name == "report_evaluation"}
    before = next((e.data["search_score"] for e in events if e.name == "seed_evaluated"), None)
    records = []
    for event in events:
        if event.name != "iteration_done":
            continue
        t = event.data["t"]
        known = {name: value for name, value in event.data.items() if name != "key"}
        record = {
            "schema": SCHEMA,
            "run_id": manifest.get("run_id", folder.name),
            "prompt_version": _prompt_version(manifest),
            "started": started.get(t),
            "ended": event.time,
            "run_best_before": before,
            **known,
            **_reported(known["child"], reports.get(t)),
            "usage": model_usage(calls[t]),
            "search_usage": search_usage(searches[t]),
        }
        before = record["run_best_after"]
        records.append(record)
    return records


def _by_iteration(events: Iterable[Event], name: str) -> Mapping[int, list[Event]]:
    found: defaultdict[int, list[Event]] = defaultdict(list)
    for event in events:
        if event.name == name:
            found[event.data["t"]].append(event)
    return found


def _prompt_version(manifest: Mapping[str, Any]) -> str | None:
    """One hash over the hashes of all prompts that the run was started with."""
    prompts = manifest.get("prompts")
    return None if prompts is None else _sha256(json.dumps(prompts, sort_keys=True))


def _reported(child: Mapping[str, Any] | None, report: Mapping[str, Any] | None) -> dict[str, Any]:
    """The reporting score of the run's best after an iteration, where it was asked for."""
    if report is None:
        return {"report": None}
    best, reporting = report["key"][1], report["result"]["objective"]
    found: dict[str, Any] = {"report": {"id": best, "reporting": reporting}}
    if child is not None and child["id"] == best:
        found["child"] = {**child, "reporting": reporting}
    return found


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


def read_written(folder: Path, *, recorded: bool = False) -> list[dict[str, Any]]:
    """``trace.jsonl`` as it lies there, validated; empty where there is none.

    Raises :class:`TraceProblem` naming the line.
    """
    path = folder / "trace.jsonl"
    records: list[dict[str, Any]] = []
    for number, line in enumerate(path.open("rb") if path.is_file() else (), start=1):
        try:
            text = line.decode("utf-8", errors="surrogatepass")
            record = json.loads(text, parse_constant=_refuse)
            if not isinstance(record, dict):
                raise ValueError("not a JSON object")
            check_trace([record], recorded=recorded)
        except ValueError as error:
            raise TraceProblem(
                f"{path}: line {number}: {error}; without the file it is written from the journal"
            ) from None
        records.append(record)
    return records


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


class TraceProblem(ValueError):
    """A trace object breaks its schema; the message names iteration and place."""


def check_trace(records: Iterable[Mapping[str, Any]], *, recorded: bool = False) -> None:
    """Validate trace objects against the shipped JSON Schema. Raises :class:`TraceProblem`.

    ``recorded``: they were imported from a record of others, where any field may be unknown (null).
    """
    import jsonschema

    text = resources.files("method").joinpath("trace.schema.json").read_text(encoding="utf-8")
    validator = jsonschema.Draft202012Validator(json.loads(text))
    for record in records:
        for error in validator.iter_errors(record):
            if recorded and error.instance is None:
                continue
            place = "/".join(str(part) for part in error.absolute_path) or "the object"
            raise TraceProblem(f"iteration {record.get('t')}: {place}: {error.message}")


def model_usage(events: Iterable[Event]) -> dict[str, dict[str, dict[str, Any]]]:
    """Calls, tokens and cost of model calls, ``by_purpose``.

    Unknown tokens count 0, calls of unknown cost are counted.
    """
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
    return {"by_purpose": found}


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


def _child(child: Program, parent: Program, inserted: InsertResult | None) -> dict[str, Any]:
    return {
        "id": child.id,
        "search_score": child.search_score,
        "objective": child.objective,
        "reporting": None,
        "beats_parent": child.search_score > parent.search_score,
        "admitted": inserted is not None and inserted.admitted,
    }


def _lines_added(before: str, after: str) -> int:
    old, new = before.splitlines(), after.splitlines()
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    matcher = difflib.SequenceMatcher(None, old[same:], new[same:])
    return sum(end - start for tag, _, _, start, end in matcher.get_opcodes() if tag != "equal")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()
