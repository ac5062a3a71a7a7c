"""What the rules ask of an iteration, read from its trace record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Facts:
    """One iteration.

    ``decision`` is the gate's executed one, ``None`` without a gate; ``queries`` are the executed
    ones in order, ``final_query`` the last of them (of the child's own where candidates search for
    themselves), ``given`` the documents that stood in the prompt, ``kept`` those that the retrieve
    retained. Scores are search scores, higher is better, ``None``
    where there is no child or the record does not know. ``comparable``: child and parent may be
    compared; ``known``: rounds and documents of a retrieve are on record at all.
    """

    t: int
    decision: str | None
    queries: tuple[str, ...]
    final_query: str
    given: tuple[Record, ...]
    kept: tuple[Record, ...]
    parent_score: float | None
    child_score: float | None
    new_best: bool
    comparable: bool
    known: bool

    @property
    def change(self) -> float | None:
        """Child score minus parent score, where both are known and may be compared."""
        if not self.comparable or self.child_score is None or self.parent_score is None:
            return None
        return self.child_score - self.parent_score

    @property
    def retrieves(self) -> bool:
        """Whether the gate let the iteration search, with predictions for what was found."""
        return self.decision == "retrieve"

    @property
    def searches(self) -> bool:
        """Whether the iteration searched, by a gate or without one."""
        return self.retrieves or bool(self.queries)

    @property
    def improves(self) -> bool:
        """Whether there is a child that is better than its parent."""
        return self.change is not None and self.change > 0

    @property
    def promising(self) -> tuple[Record, ...]:
        """Retained documents with a prediction strictly above the parent's measured score."""
        if self.parent_score is None:
            return ()
        return tuple(
            document
            for document in self.kept
            if document.get("predicted") is not None and document["predicted"] > self.parent_score
        )


def facts_of(record: Record) -> Facts:
    """The facts of a record of `trace.jsonl`; tolerates nulls in records from elsewhere."""
    rounds: Sequence[Record] = record.get("rounds") or ()
    queries = _executed(rounds)
    own = [r for r in rounds if r.get("candidate_slot") in (None, record.get("selected_slot"))]
    documents = tuple(record.get("documents") or ())
    exposed = set(record.get("prompt_docs") or ())
    child, parent = record.get("child") or {}, record.get("parent") or {}
    decision = (record.get("gate") or {}).get("executed")
    return Facts(
        t=record["t"],
        decision=decision,
        queries=queries,
        final_query=next(reversed(_executed(own)), ""),
        given=tuple(d for d in documents if exposed & {d.get("doc_id"), d.get("db_id")})
        or (documents if exposed else ()),
        kept=documents,
        parent_score=parent.get("score"),
        child_score=child.get("search_score"),
        new_best=bool(record.get("new_best")),
        comparable=child.get("beats_parent", False) is not None,
        known=decision != "retrieve" or bool(rounds) or bool(documents),
    )


def _executed(rounds: Sequence[Record]) -> tuple[str, ...]:
    return tuple(
        str(query["text"])
        for round_ in rounds
        for query in round_.get("queries") or ()
        if query.get("executed") and query.get("text")
    )
