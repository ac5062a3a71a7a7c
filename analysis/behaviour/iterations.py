"""One iteration as few facts, so that a study of many thousands fits in memory.

:class:`Facts` folds the records of one run, in any order. All counting starts from its
:class:`RunFacts`; what a figure means by its words is defined where it is counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from analysis.traces import Trace
from benchmark.task import Task

RULE_GATES = frozenset(("random", "stagnation", "always", "never"))
"""Gates that decide without a model: ablations, not EvoDuet's behaviour."""

IMPROVED, EQUAL, LOWER = "improved", "equal", "lower"
EVALUATION_FAILED, NO_PROGRAM = "evaluation_failed", "no_program"
OUTCOMES = (IMPROVED, EQUAL, LOWER, EVALUATION_FAILED, NO_PROGRAM)
UNKNOWN = "unknown"
"""A child whose parent's score is not on record."""


@dataclass(frozen=True, slots=True)
class LookedUp:
    """A document of a look-up; ``first_t`` is its first retrieval, ``None`` if nothing tells."""

    db_id: str
    first_t: int | None


@dataclass(frozen=True, slots=True)
class Iteration:
    """What one record says; ``parent`` is ``None`` where an imported record does not know it.

    ``decision`` and ``executed`` are ``None`` without a gate, ``executed`` also when the decision
    is missing. ``predictions`` are those of the given documents, in their order. ``queries`` are
    the texts of all valid ones. ``failed_first``: no candidate of the first attempt was valid;
    ``failed_first_evaluation``: and one of them had reached the evaluator.
    """

    t: int
    decision: str | None
    executed: str | None
    malformed: bool
    parent_id: str
    parent: float | None
    child_id: str | None
    child: float | None
    best_before: float | None
    predictions: tuple[float, ...]
    queries: tuple[str, ...]
    executed_queries: int
    returned: int
    new_pages: int
    hosts: frozenset[str]
    retained_hosts: frozenset[str]
    looked_up: tuple[LookedUp, ...]
    unresolved: int
    exposed: bool
    excluded: bool
    outcome: str
    failed_first: bool
    failed_first_evaluation: bool

    @property
    def promising(self) -> bool:
        """Whether a given document was predicted to lead strictly above the parent's score."""
        parent = self.parent
        return parent is not None and any(predicted > parent for predicted in self.predictions)

    @property
    def beats_parent(self) -> bool:
        """Whether there is a child strictly above the parent."""
        return self.outcome == IMPROVED

    @property
    def new_best(self) -> bool:
        """Whether there is a child strictly above everything before it."""
        before = self.best_before
        return self.child is not None and before is not None and self.child > before


@dataclass(frozen=True)
class RunFacts:
    """A run's iterations by t. ``slots`` are those scheduled, 1..T; some may have no record."""

    folder: Path
    run_id: str
    task: Task
    model: str
    n: int | None
    retriever: str
    gate: str | None
    recorded: bool
    slots: int
    iterations: tuple[Iteration, ...]

    @property
    def domain(self) -> str:
        """Title of the task's domain."""
        return self.task.declared.domain_title

    @property
    def decides(self) -> bool:
        """Whether a model decides what is retrieved: the pool of all decision statistics.

        Imported records were chosen for their stories, so they are in no rate.
        """
        return self.gate is not None and self.gate not in RULE_GATES and not self.recorded

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """Sort key that does not depend on where the run lies."""
        return (self.task.id, self.model, self.n or 0, self.retriever, self.run_id)


class Facts:
    """Fold of one run: :meth:`add` its records, then :meth:`result`."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._found: list[Iteration] = []
        self._pages: dict[object, int] = {}
        self._retrieved: dict[str, int] = {}
        self._gate: str | None = None

    def add(self, record: Mapping[str, Any]) -> None:
        """Take a record. Raises ``KeyError``, ``TypeError`` or ``ValueError`` for a broken one."""
        t = record["t"]
        gate, rounds, given = record["gate"], record["rounds"], record["documents"]
        decision = gate["decision"] if gate else None
        if gate:
            self._gate = gate["kind"]
        results = list(_results(rounds))
        self._remember(t, results, given if decision == "retrieve" else ())
        child = record["child"]
        parent = _number(record["parent"]["score"])
        score = None if child is None else float(child["search_score"])
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
                exposed=bool(record["prompt_docs"]),
                excluded=bool(record["excluded"]),
                outcome=_outcome(record, parent, score),
                failed_first=not first,
                failed_first_evaluation=not first and reached,
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
        kind = trace.config.get("gate") if trace.retriever == "evoduet" else None
        return RunFacts(
            folder=trace.folder,
            run_id=trace.run_id,
            task=trace.task,
            model=trace.model,
            n=trace.candidates,
            retriever=trace.retriever,
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
        for row in results:
            key: object = page_key(row["url"])
            if key is None:  # a text without address: whether it is new is all that is known
                key = object() if row["is_new_in_run"] else ""
            if key != "":
                self._pages[key] = min(t, self._pages.get(key, t))
        for row in kept:
            if row["db_id"] is not None:
                self._retrieved[row["db_id"]] = min(t, self._retrieved.get(row["db_id"], t))

    def _resolved(self, iteration: Iteration) -> tuple[LookedUp, ...]:
        """Look-ups with their first retrieval, which came before them."""
        found = []
        for looked in iteration.looked_up:
            first = looked.first_t or self._retrieved.get(looked.db_id)
            known = first is not None and first < iteration.t
            found.append(replace(looked, first_t=first if known else None))
        return tuple(found)


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
    if score is None:
        _, reached = _attempt(record["candidates"], record["attempts"])
        return EVALUATION_FAILED if reached else NO_PROGRAM
    if parent is None:
        return UNKNOWN
    if score > parent:
        return IMPROVED
    return EQUAL if score == parent else LOWER
