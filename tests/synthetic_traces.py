"""Traces written by hand: whole run folders that keep the schema, from what a test wants to count.

    runs = SyntheticRuns(tmp_path / "runs")
    runs.run("a", [
        slot("retrieve", parent=0.5, child=0.6, documents=[page("one", predicted=0.7)],
             queries=["circle packing"], returned=["https://arxiv.org/abs/1"]),
        slot("look-up", parent=0.6, documents=[page("one", first_t=1)]),
        None,                      # a slot without a record
    ], model="Luna", n=1)

Slots count from 1; best before and after follow from the children. Texts given as ``body`` and
``code`` become blobs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from analysis.behaviour.files import behaviour_files
from analysis.reading import read_traces
from analysis.runs import read_study

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
Made = dict[str, Any]


def sha256(text: str) -> str:
    """Name of a blob."""
    return hashlib.sha256(text.encode()).hexdigest()


def page(
    name: str,
    *,
    predicted: float | None = None,
    first_t: int | None = None,
    url: str | None = None,
    title: str = "A page",
    body: str = "",
    doc_id: str | None = None,
    db_id: str | None = "",
) -> Made:
    """A document that the generator is given; ``db_id`` is `doc_<name>` unless ``None``."""
    place = url or f"https://example.org/{name}"
    return {
        "doc_id": doc_id or f"r_{name}", "ref": None,
        "db_id": f"doc_{name}" if db_id == "" else db_id,
        "predicted": predicted, "predicted_at": None, "promising": False,
        "body_sha256": sha256(body), "chars_in_prompt": len(body), "first_retrieved_t": first_t,
        "title": title, "url": place, "host": urlsplit(place).hostname or "", "_text": body,
    }  # fmt: skip


def query(text: str | None, **more: Any) -> Made:
    """A query, valid and executed unless told otherwise (``valid``, ``executed``, ...)."""
    return {
        "slot": 0, "text": text, "keywords": None, "resources": None, "intent": None,
        "rationale": None, "valid": text is not None, "wire_text": text, "wire_truncated": False,
        "executed": text is not None, "duplicate_of": None, "error": None, "call_id": None, **more,
    }  # fmt: skip


def result(url: str, **more: Any) -> Made:
    """A search result; what is new in run and iteration is filled in by :class:`SyntheticRuns`."""
    return {
        "doc_id": f"u_{sha256(url)[:12]}", "ref": None, "db_id": None, "url": url,
        "host": urlsplit(url).hostname, "rank": 1, "is_new_in_run": None,
        "is_new_in_iteration": None, "has_raw": False, **more,
    }  # fmt: skip


def round_of(
    queries: Sequence[str | Made], returned: Sequence[str | Made] = (), r: int = 1, **more: Any
) -> Made:
    """A round; all results are those of its first query."""
    asked = [query(q) if isinstance(q, str) else dict(q) for q in queries]
    found = [result(u) if isinstance(u, str) else dict(u) for u in returned]
    search = {"query_slot": 0, "status": "ok", "error": None, "results": found, "credits": 1.0,
              "cost_usd": 0.008, "latency_s": 0.1, "blocked": 0}  # fmt: skip
    searched = any(q["executed"] for q in asked)
    for place, q in enumerate(asked):
        q["slot"] = place
    for rank, row in enumerate(found, 1):
        row["rank"] = rank
    return {
        "r": r, "attempt": None, "candidate_slot": None, "queries": asked,
        "searches": [search] if searched else [], "scoring_status": "scored", "call_id": None,
        "pool": [], "unscored": [], "predictions": {}, "rejected_predictions": [],
        "retained": [], "knowledge_after": None, **more,
    }  # fmt: skip


def candidate(
    score: float | None = None,
    *,
    status: str | None = None,
    attempt: int = 1,
    slot: int = 0,
    parse: str = "ok",
    code: str | None = None,
    **more: Any,
) -> Made:
    """A sample. A score means evaluated and valid; ``status`` another end of its evaluation.

    Without either it never reached the evaluator (``parse`` tells why).
    """
    reached = status or ("ok" if score is not None else None)
    verdict = {
        "status": reached, "search_score": score, "objective": score, "metrics": {},
        "feedback": "", "reason": "", "wall_s": 1.0, "cpu_s": 1.0, "max_rss": 1, "reruns": 0,
    }  # fmt: skip
    text = code if code is not None else f"x = {score}\n"
    return {
        "attempt": attempt, "slot": slot, "parse": parse, "call_id": None, "flags": [],
        "blocks": [], "error": None, "code_sha256": sha256(text) if parse == "ok" else None,
        "diff_summary": "", "lines_added": None, "eval": verdict if reached else None,
        "_text": text if code is not None else "", **more,
    }  # fmt: skip


def gate_of(
    decision: str,
    *,
    resolved: Sequence[str] = (),
    unresolved: Sequence[str] = (),
    kind: str = "knowledge",
    **more: Any,
) -> Made:
    """A gate's answer; ``executed`` is the decision, but ``None`` when it is missing."""
    executed = None if decision == "missing" else decision
    return {
        "kind": kind, "decision": decision, "raw_decision": executed, "malformed": False,
        "would_have_parsed": None, "executed": executed, "knowledge": "", "reasoning": "",
        "requested_ids": [*resolved, *unresolved], "resolved_ids": list(resolved),
        "unresolved_ids": list(unresolved), "flags": [], "call_id": None, **more,
    }  # fmt: skip


def slot(
    decision: str | None = "no-op",
    *,
    parent: float = 0.5,
    parent_t: int = 0,
    child: float | None = None,
    child_code: str | None = None,
    documents: Sequence[Made] = (),
    queries: Sequence[str | Made] = (),
    returned: Sequence[str | Made] = (),
    rounds: Sequence[Made] | None = None,
    unresolved: Sequence[str] = (),
    kind: str = "knowledge",
    candidates: Sequence[Made] | None = None,
    errors: Sequence[str] = (),
    **more: Any,
) -> Made:
    """An iteration.

    ``decision`` ``None`` has no gate. ``child`` is the selected candidate's score (``None``: no
    child, one sample that could not be parsed). A look-up resolves the ids of its documents; other
    ids go to ``unresolved``. ``errors`` make the slot excluded. ``more`` overrides fields.
    """
    looked = [d["db_id"] for d in documents] if decision == "look-up" else []
    if candidates is None:
        one = candidate(child, code=child_code) if child is not None else candidate(
            parse="parse_error")  # fmt: skip
        candidates = [one]
    if rounds is None:
        rounds = [round_of(queries, returned)] if queries or returned else []
    born = child is not None
    return {
        "parent": {"id": f"p{parent_t}", "score": parent, "iteration": parent_t},
        "gate": None if decision is None else gate_of(
            decision, resolved=looked, unresolved=unresolved, kind=kind),
        "rounds": list(rounds), "documents": [dict(d) for d in documents],
        "prompt_docs": [d["doc_id"] for d in documents],
        "candidates": list(candidates), "attempts": max(c["attempt"] for c in candidates),
        "selected_slot": next((c["slot"] for c in candidates if c["eval"]), 0) if born else None,
        "child": {"id": "", "search_score": child, "objective": child, "reporting": None,
                  "beats_parent": child > parent, "admitted": True} if child is not None else None,
        "external_errors": list(errors), "excluded": bool(errors), **more,
    }  # fmt: skip


def counted(runs: SyntheticRuns) -> dict[str, str]:
    """Every file about the behaviour of runs that can all be read without a note."""
    reading = read_traces(read_study(runs.folder))
    assert reading.notes == ()
    return {file.name: file.text() for file in behaviour_files(reading.runs)}


class SyntheticRuns:
    """Writes run folders below ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(
        self,
        name: str,
        slots: Sequence[Made | None],
        *,
        task: str = "mathematics/cp26",
        method: str = "openevolve-native+evoduet",
        model: str = "Luna",
        n: int = 1,
        seed: int = 1,
        status: str = "finished",
        iterations: int | None = None,
        x0: float = 0.5,
        x0_code: str = "x = 0.5\n",
        best: Mapping[str, Any] | None = None,
        cost: float | None = 0.5,
        blobs: bool = True,
        **config: Any,
    ) -> Path:
        """One run of ``iterations`` slots (default: those given); ``None`` has no record."""
        folder = self.folder / name
        folder.mkdir(parents=True)
        length = iterations or len(slots)
        settings = {
            "task": task, "method": method, "model": model, "candidates": n, "seed": seed,
            "iterations": length, "gate": "knowledge", "gate_p": 0.5, "rounds": 3, "queries": 1,
            "per_query": 5, "retain": 3, "rules": "official", "edit": "diff",
            "search": "offline", "variant": None, **config,
        }  # fmt: skip
        manifest = {"run_id": name, "model": model, "config": settings}
        event = {"seq": 0, "prev": "0" * 64, "time": "", "event": "run_started", "data": manifest}
        _write_lines(folder / "journal.jsonl", [event])
        records, texts = _records(name, slots, x0)
        _write_lines(folder / "trace.jsonl", records)
        if blobs:
            _write_blobs(folder, [*texts, x0_code])
        top = max((r for r in records if r["new_best"]), key=lambda r: r["t"], default=None)
        score = x0 if top is None else top["run_best_after"]
        found = {
            "t": top["t"] if top else 0, "id": top["child"]["id"] if top else "p0",
            "search_score": score, "objective": score, "reporting": score, "ndg": 0.0,
            "ndg_raw": 0.0, **(best or {}),
        }  # fmt: skip
        summary = {
            "run_id": name, "task": task, "method": method, "model": model, "status": status,
            "T": length, "done": len(records), "ndg": found["ndg"], "best": found,
            "x0": {"search_score": x0, "objective": x0, "reporting": x0}, "usage": {},
            "search_usage": {}, "cost_usd": cost, "unpriced_calls": int(cost is None),
        }  # fmt: skip
        (folder / "summary.json").write_text(json.dumps(summary))
        return folder


def _records(run_id: str, slots: Sequence[Made | None], x0: float) -> tuple[list[Made], list[str]]:
    best, seen, records, texts = x0, set[str](), [], []
    for t, given in enumerate(slots, 1):
        if given is None:
            continue
        made = json.loads(json.dumps(given))
        for holder in (*made["documents"], *made["candidates"]):
            texts.append(holder.pop("_text", ""))
        for document in made["documents"]:
            retrieved = (made["gate"] or {}).get("decision") == "retrieve"
            if document["first_retrieved_t"] is None and retrieved:
                document["first_retrieved_t"] = t
            predicted = document["predicted"]
            document["promising"] = predicted is not None and predicted > made["parent"]["score"]
        _mark_new(made["rounds"], seen)
        child = made["child"]
        before = best
        if child is not None:
            child["id"] = child["id"] or f"p{t}"
            best = max(best, child["search_score"])
        usage = {"calls": 1, "prompt": 100, "completion": 10, "reasoning": 0, "cached": 0,
                 "cost_usd": 0.01, "unpriced_calls": 0}  # fmt: skip
        records.append({
            "schema": "evoduet.trace/1", "run_id": run_id, "t": t,
            "started": (BEGIN + timedelta(minutes=t - 1)).isoformat(),
            "ended": (BEGIN + timedelta(minutes=t)).isoformat(),
            "context_ids": [], "label": "", "run_best_before": before, "run_best_after": best,
            "new_best": best > before, "population_analysis": None, "n_planned": 1,
            "prompt_sha256": sha256(f"{run_id} {t}"), "report": None,
            "usage": {"by_purpose": {"generation": usage}},
            "search_usage": {"requests": 0, "credits": None, "cost_usd": None},
            "scaffold_events": [], "flags": [], "prompt_version": None, **made,
        })  # fmt: skip
    return records, [text for text in texts if text]


def _mark_new(rounds: Sequence[Made], seen: set[str]) -> None:
    here: set[str] = set()
    for round_ in rounds:
        for row in (row for search in round_["searches"] for row in search["results"]):
            parts = urlsplit(row["url"])
            key = f"{parts.netloc.lower()}{parts.path}?{parts.query}"
            if row["is_new_in_run"] is None:
                row["is_new_in_run"] = key not in seen
            if row["is_new_in_iteration"] is None:
                row["is_new_in_iteration"] = key not in here
            seen.add(key)
            here.add(key)


def _write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def _write_blobs(folder: Path, texts: Sequence[str]) -> None:
    for text in texts:
        name = sha256(text)
        path = folder / "blobs" / name[:2] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
