"""Facts of a run, folded from the records of its trace in any order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from analysis.behaviour.iterations import (
    EQUAL,
    EVALUATION_FAILED,
    IMPROVED,
    LOWER,
    NO_PROGRAM,
    NOT_IMPROVED,
    UNKNOWN,
    Iteration,
    LookedUp,
    RunFacts,
    TaskName,
)
from analysis.trace_fields import ABSENT, start_of
from analysis.traces import Trace

MODEL_GATE = "knowledge"
"""Kind of a gate that decides and does not tell its kind."""


class Facts:
    """Fold of one run: :meth:`add` its records, then :meth:`result`."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._found: list[Iteration] = []
        self._pages: dict[object, int] = {}
        self._retrieved: dict[str, int] = {}
        self._gate: str | None = None
        self._decided = False
        self._planned: int | None = None
        self._start: float | None = None

    def add(self, record: Mapping[str, Any]) -> None:
        """Take a record. Raises ``KeyError``, ``TypeError`` or ``ValueError`` for a broken one."""
        t = record["t"]
        gate, rounds, given = record["gate"], record["rounds"], record["documents"]
        decision = gate["decision"] if gate else None
        if gate:
            self._gate = gate["kind"] or self._gate
            self._decided = True
        if self._start is None:
            self._start = start_of(record)
        if decision in ("retrieve", "look-up"):
            drawn = sum(row["attempt"] == 1 for row in record["candidates"])
            self._planned = max(self._planned or 0, record["n_planned"] or drawn) or None
        results = list(_results(rounds))
        self._remember(t, results, given if decision == "retrieve" else ())
        child = record["child"]
        parent = _number(record["parent"]["score"])
        score = None if child is None else _number(child["search_score"])
        absent = record.get(ABSENT, ())
        first, reached = _attempt(record["candidates"], 1)
        asked = [query for round_ in rounds for query in round_["queries"]]
        self._found.append(
            Iteration(
                t=t,
                decision=decision,
                executed=gate["executed"] if gate else None,
                malformed=bool(gate and gate["malformed"]),
                parent_id=record["parent"]["id"],
                parent=parent,
                child_id=None if child is None else child["id"],
                child=score,
                best_before=_number(record["run_best_before"]),
                predictions=tuple(
                    float(row["predicted"]) for row in given if row["predicted"] is not None
                ),
                queries=tuple(str(query["text"] or "") for query in asked if query["valid"]),
                executed_queries=sum(bool(query["executed"]) for query in asked),
                returned=len(results),
                new_pages=0,
                hosts=frozenset(_hosts(results)),
                retained_hosts=frozenset(_hosts(given)),
                looked_up=tuple(_looked_up(gate, given)) if decision == "look-up" else (),
                unresolved=len(set(gate["unresolved_ids"])) if decision == "look-up" else 0,
                exposed=None if "prompt_docs" in absent else bool(record["prompt_docs"]),
                excluded=bool(record["excluded"]),
                outcome=_outcome(record, parent, score),
                failed_first=None if "candidates" in absent else not first,
                failed_first_evaluation=not first and reached,
                said_promising=any(row["promising"] for row in given),
                said_best=bool(record["new_best"]),
            )
        )

    def result(self) -> RunFacts:
        """The run, when all records were added."""
        trace = self._trace
        found = sorted(self._found, key=lambda iteration: iteration.t)
        new = dict.fromkeys((i.t for i in found), 0)
        for t in self._pages.values():
            new[t] += 1
        last = found[-1].t if found else 0
        retriever = trace.retriever or ("evoduet" if self._decided else "")
        kind = trace.config.get("gate") if retriever == "evoduet" else None
        if kind is None and self._decided:
            kind = MODEL_GATE
        found = self._with_best_before(found)
        return RunFacts(
            folder=trace.folder,
            run_id=trace.run_id,
            task=TaskName.of(trace),
            model=trace.model,
            n=trace.candidates or self._planned,
            retriever=retriever,
            gate=self._gate or kind,
            recorded=bool(trace.manifest.get("recorded")),
            slots=max(trace.iterations or 0, last) if trace.ended else last,
            iterations=tuple(
                replace(i, new_pages=new[i.t], looked_up=self._resolved(i)) for i in found
            ),
        )

    def _remember(
        self, t: int, results: Sequence[Mapping[str, Any]], kept: Sequence[Mapping[str, Any]]
    ) -> None:
        for row in (*results, *kept):
            if row["db_id"] is not None:
                self._retrieved[row["db_id"]] = min(t, self._retrieved.get(row["db_id"], t))
        for row in results:
            key: object = page_key(row["url"])
            if key is None:  # a text without address: whether it is new is all that is known
                key = object() if row["is_new_in_run"] else ""
            if key != "":
                self._pages[key] = min(t, self._pages.get(key, t))

    def _with_best_before(self, found: Sequence[Iteration]) -> list[Iteration]:
        """Iterations in order; a best before that no record tells follows from the start's score.

        Unless that is not known: then a child's record must tell whether it is a new best.
        """
        best = _number((self._trace.summary.get("x0") or {}).get("search_score"))
        best = self._start if best is None else best
        completed = []
        for i in found:
            before = best if i.best_before is None else i.best_before
            completed.append(replace(i, best_before=before))
            if before is not None:
                best = before if i.child is None else max(before, i.child)
        return completed

    def _resolved(self, iteration: Iteration) -> tuple[LookedUp, ...]:
        """Look-ups with their first retrieval, which came before them."""
        found = []
        for looked in iteration.looked_up:
            first = looked.first_t or self._retrieved.get(looked.db_id) or self._listed(looked)
            known = first is not None and first < iteration.t
            found.append(replace(looked, first_t=first if known else None))
        return tuple(found)

    def _listed(self, looked: LookedUp) -> int | None:
        """First retrieval by `documents.jsonl`."""
        rows = self._trace.listed_documents.values()
        return min((r.first_t for r in rows if r.db_id == looked.db_id and r.first_t), default=None)


def page_key(url: str) -> str | None:
    """Key by which a page repeats; ``None`` for what is no address of the web.

    Host in lower case, path and query byte for byte, without scheme and fragment.
    """
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return None
    if parts.scheme.lower() not in ("http", "https") or not parts.netloc:
        return None
    return f"{parts.netloc.lower()}{parts.path}{'?' + parts.query if parts.query else ''}"


def _results(rounds: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for round_ in rounds:
        for search in round_["searches"]:
            yield from search["results"]


def _hosts(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        host = (row["host"] or "").strip().lower().removeprefix("www.")
        if host:
            yield host


def _looked_up(gate: Mapping[str, Any], given: Sequence[Mapping[str, Any]]) -> Iterator[LookedUp]:
    first = {row["db_id"]: row["first_retrieved_t"] for row in given}
    for db_id in dict.fromkeys(gate["resolved_ids"]):
        yield LookedUp(db_id, first.get(db_id))


def _attempt(candidates: Sequence[Mapping[str, Any]], number: int) -> tuple[bool, bool]:
    """Whether one sample of an attempt was valid, and whether one reached the evaluator."""
    verdicts = [c["eval"] for c in candidates if c["attempt"] == number and c["eval"] is not None]
    valid = any(
        verdict["status"] == "ok"
        and verdict["search_score"] is not None
        and math.isfinite(verdict["search_score"])
        for verdict in verdicts
    )
    return valid, bool(verdicts)


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _outcome(record: Mapping[str, Any], parent: float | None, score: float | None) -> str:
    if score is None and "candidates" in record.get(ABSENT, ()):
        return UNKNOWN
    if score is None:
        _, reached = _attempt(record["candidates"], record["attempts"])
        return EVALUATION_FAILED if reached else NO_PROGRAM
    if parent is None:
        said = record["child"]["beats_parent"]
        return UNKNOWN if said is None else IMPROVED if said else NOT_IMPROVED
    if score > parent:
        return IMPROVED
    return EQUAL if score == parent else LOWER
