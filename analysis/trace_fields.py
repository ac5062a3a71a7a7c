"""Trace records with fewer fields than the schema has, completed by what follows from the others.

The schema is methods.md section 3. What a record does not tell becomes null, empty or is derived;
where null and "none" must not be confused, the field's name stands in ``absent`` of the record, so
that what needs it is not decidable instead of zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

Fields = dict[str, Any]

ABSENT = "absent"
"""Key of the names among :data:`_TELLING` that a record does not have; missing when it has all."""
_TELLING = ("candidates", "prompt_docs", "usage")
_NULL = ("started", "ended", "gate", "child", "report", "population_analysis", "prompt_sha256",
         "run_best_before", "run_best_after", "n_planned", "selected_slot")  # fmt: skip
_EMPTY = ("context_ids", "rounds", "prompt_docs", "candidates", "scaffold_events",
          "external_errors")  # fmt: skip


def completed(record: Fields) -> Fields:
    """The record itself, with every field that the analysis reads; nothing told is changed.

    Raises ``TypeError``, ``AttributeError`` or ``ValueError`` for fields of another kind.
    """
    absent = [name for name in _TELLING if record.get(name) is None]
    if absent:
        record[ABSENT] = absent
    for name in _NULL:
        record.setdefault(name, None)
    for name in _EMPTY:
        if record.get(name) is None:
            record[name] = []
    record.setdefault("label", "")
    if record.get("excluded") is None:
        record["excluded"] = bool(record["external_errors"])
    _parent(record)
    for place, round_ in enumerate(record["rounds"], 1):
        _round(round_, place)
    _documents(record)
    _gate(record)
    _candidates(record)
    _child(record)
    _usage(record)
    return record


def _defaults(fields: Fields, **values: Any) -> None:
    for name, value in values.items():
        fields.setdefault(name, value)


def _parent(record: Fields) -> None:
    if record.get("parent") is None:
        record["parent"] = {}
    _defaults(record["parent"], id=None, score=None, iteration=None)


def _round(round_: Fields, place: int) -> None:
    _defaults(round_, r=place, attempt=None, candidate_slot=None, scoring_status=None,
              knowledge_after=None, call_id=None)  # fmt: skip
    for name in ("queries", "searches", "pool", "unscored", "retained"):
        if round_.get(name) is None:
            round_[name] = []
    if round_.get("predictions") is None:
        round_["predictions"] = {}
    for slot, query in enumerate(round_["queries"]):
        _defaults(query, slot=slot, text=None, duplicate_of=None)
        query.setdefault("valid", bool(query["text"]))
        query.setdefault("executed", bool(query["valid"]))
    for slot, search in enumerate(round_["searches"]):
        search.setdefault("query_slot", slot)
        if search.get("results") is None:
            search["results"] = []
        for row in search["results"]:
            _defaults(row, doc_id=None, ref=None, db_id=None, url="", is_new_in_run=True)
            row.setdefault("host", _host(row["url"]))


def _documents(record: Fields) -> None:
    """Given documents; without the field those that the last round retained."""
    results = {
        row["doc_id"]: row
        for round_ in record["rounds"]
        for search in round_["searches"]
        for row in search["results"]
        if row["doc_id"]
    }
    if record.get("documents") is None:
        kept = record["rounds"][-1]["retained"] if record["rounds"] else []
        names = [row if isinstance(row, dict) else {"doc_id": row} for row in kept]
        record["documents"] = [{**_found(results.get(row.get("doc_id"))), **row} for row in names]
    predictions: dict[str, Any] = {}
    for round_ in record["rounds"]:
        predictions |= round_["predictions"]
    score = record["parent"]["score"]
    for row in record["documents"]:
        _defaults(row, doc_id=None, db_id=None, ref=None, predicted_at=None, body_sha256=None,
                  chars_in_prompt=None, first_retrieved_t=None, title="", url="")  # fmt: skip
        row.setdefault("predicted", predictions.get(row["doc_id"]))
        row.setdefault("host", _host(row["url"]))
        if "promising" not in row:
            known = row["predicted"] is not None and score is not None
            row["promising"] = row["predicted"] > score if known else None


def _found(row: Mapping[str, Any] | None) -> Fields:
    return {name: row[name] for name in ("db_id", "url", "host")} if row else {}


def _gate(record: Fields) -> None:
    gate = record["gate"]
    if not gate:
        record["gate"] = None
        return
    if gate.get("decision") is None:
        gate["decision"] = gate.get("executed") or "missing"
    decision = gate["decision"]
    _defaults(gate, kind=None, malformed=False, raw_decision=decision, flags=[],
              executed=None if decision == "missing" else decision)  # fmt: skip
    if gate.get("unresolved_ids") is None:
        gate["unresolved_ids"] = []
    if gate.get("resolved_ids") is None:
        ids = (row["db_id"] for row in record["documents"]) if decision == "look-up" else ()
        gate["resolved_ids"] = [name for name in ids if name is not None]


def _candidates(record: Fields) -> None:
    for slot, candidate in enumerate(record["candidates"]):
        _defaults(candidate, attempt=1, slot=slot, parse="ok", code_sha256=None, eval=None,
                  error=None)  # fmt: skip
        verdict = candidate["eval"]
        if verdict is not None:
            _defaults(verdict, search_score=None, objective=None, metrics={}, feedback="")
            verdict.setdefault("status", "ok" if _finite(verdict["search_score"]) else "error")
    if record.get("attempts") is None:
        tried = (candidate["attempt"] for candidate in record["candidates"])
        record["attempts"] = max(tried, default=1)


def _child(record: Fields) -> None:
    child, before = record["child"], record["run_best_before"]
    score = None
    if child is not None:
        parent, score = record["parent"]["score"], child.setdefault("search_score", None)
        known = score is not None and parent is not None
        _defaults(child, id=None, objective=None, reporting=None, admitted=None,
                  beats_parent=score > parent if known else None)  # fmt: skip
        if record["selected_slot"] is None and score is not None:
            record["selected_slot"] = _selected(record, score)
    if before is not None and "new_best" not in record:
        record["new_best"] = score is not None and score > before
    record.setdefault("new_best", None)
    if before is not None and record["run_best_after"] is None:
        record["run_best_after"] = before if score is None else max(before, score)


def start_of(record: Mapping[str, Any]) -> float | None:
    """Search score of the initial program, where the record begins from it; else ``None``."""
    parent = record["parent"]
    first = parent["iteration"] == 0 or (parent["iteration"] is None and record["t"] == 1)
    score: float | None = parent["score"] if first else None
    return score


def fill_bests(records: Sequence[Fields], start: float | None) -> None:
    """Complete what records do not tell of the run's best, from all of them in order of t.

    ``start`` is the search score of the initial program, ``None`` where no summary tells it.
    """
    starts = (start_of(record) for record in records)
    best = next((score for score in starts if score is not None), None) if start is None else start
    for record in records:
        told, child = record["run_best_before"], record["child"]
        before = record["run_best_before"] = best if told is None else told
        score = None if child is None else child["search_score"]
        if before is None:
            continue
        if record["new_best"] is None:
            record["new_best"] = score is not None and score > before
        if record["run_best_after"] is None:
            record["run_best_after"] = before if score is None else max(before, score)
        best = record["run_best_after"]


def _selected(record: Fields, score: float) -> int | None:
    """The first candidate of the last attempt with the child's score."""
    for candidate in record["candidates"]:
        verdict = candidate["eval"] or {}
        if candidate["attempt"] == record["attempts"] and verdict.get("search_score") == score:
            slot: int = candidate["slot"]
            return slot
    return None


def _usage(record: Fields) -> None:
    usage = record.get("usage") or {}
    if "by_purpose" not in usage:  # purposes may stand there by themselves
        record["usage"] = usage = {"by_purpose": usage}
    for row in usage["by_purpose"].values():
        _defaults(row, calls=0, prompt=0, completion=0, reasoning=0, cached=0, cost_usd=None)
        row.setdefault("unpriced_calls", row["calls"] if row["cost_usd"] is None else 0)
    if record.get("search_usage") is None:
        record["search_usage"] = {}
    _defaults(record["search_usage"], requests=0, credits=None, cost_usd=None)


def _finite(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value)


def _host(url: str | None) -> str:
    try:
        return urlsplit(url or "").hostname or ""
    except ValueError:
        return ""
