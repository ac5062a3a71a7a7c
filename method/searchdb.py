"""The search database of a run: what was retrieved, and what came of it (methods.md 1.6).

A fold over two kinds of facts: :meth:`SearchDatabase.add` after a retrieve or look-up, before
generation, and :meth:`SearchDatabase.conclude` when the iteration's child is known. A resumed run
tells both again, so nothing here is the source of truth; ``search.db``
(:mod:`method.searchcache`) is a copy for people and tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from method.identity import Index, lasting_keys
from method.protocols import GivenDocument, Program, Retrieval, Snapshot
from method.rules import Rules
from method.snapshot import render_snapshot

Operation = Literal["retrieve", "look-up"]

FEEDBACK_LIMIT = 10_000
"""Characters of an outcome's feedback."""


@dataclass(frozen=True)
class Version:
    """One stored occurrence of a document."""

    document: GivenDocument
    iteration: int


@dataclass(frozen=True)
class Credited:
    """A document of a record in the version that was given to the child.

    ``predicted`` is this iteration's prediction; a look-up has none. ``first_t`` and ``latest_t``
    tell when it was retrieved.
    """

    document: GivenDocument
    predicted: float | None
    first_t: int
    latest_t: int

    @property
    def db_id(self) -> str:
        """The document's id in the database."""
        return self.document.db_id or ""


@dataclass(frozen=True)
class Outcome:
    """The measured outcome of a complete attempt; ``child_score`` is ``None`` when unknown."""

    child_id: str | None = None
    child_score: float | None = None
    feedback: str = ""
    valid: bool = False


@dataclass(frozen=True)
class Record:
    """One retrieve or look-up, in the order of the run."""

    record_id: str
    iteration: int
    operation: Operation
    queries: tuple[tuple[int, str], ...]
    documents: tuple[Credited, ...]
    parent_id: str
    parent_score: float
    outcome: Outcome | None = None
    time: str = ""
    """When it was added, for people; never in a prompt."""

    @property
    def difference(self) -> float | None:
        """Child score minus parent score."""
        if self.outcome is None or self.outcome.child_score is None:
            return None
        return self.outcome.child_score - self.parent_score

    @property
    def distinct_queries(self) -> tuple[str, ...]:
        """The executed queries, each once, in order."""
        return tuple(dict.fromkeys(text for _, text in self.queries))


class SearchDatabase:
    """Records and documents of one run, empty at the start."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.records: list[Record] = []
        self.versions: dict[str, list[Version]] = {}
        """Stored versions by ``db_id``, oldest first."""
        self._index: Index[str] = Index()
        self._latest: dict[str, GivenDocument] = {}
        self._names: dict[str, str] = {}
        """What the last snapshot left out to keep to its budget."""

    def add(self, t: int, retrieval: Retrieval, parent: Program, time: str = "") -> Record | None:
        """Store the record of iteration ``t``; ``None`` when it neither retrieved nor looked up.

        New documents get their ``db_id``; the record holds the documents as they were given.
        """
        if retrieval.decision not in ("retrieve", "look-up"):
            return None
        store = self._store if retrieval.decision == "retrieve" else self._credit
        record = Record(
            record_id=f"rec_{len(self.records) + 1:06d}",
            iteration=t,
            operation=retrieval.decision,
            queries=retrieval.executed_queries,
            documents=tuple(store(t, document) for document in retrieval.documents),
            parent_id=parent.id,
            parent_score=parent.search_score,
            time=time,
        )
        self.records.append(record)
        return record

    def conclude(self, t: int, outcome: Outcome) -> None:
        """Fill in the outcome of the record of iteration ``t``, if there is one.

        Without documents nothing was tried, so under ``official`` such a record stays without.
        """
        if not self.records or self.records[-1].iteration != t:
            return
        record = self.records[-1]
        if not record.documents and not self._rules.records_empty_outcome:
            return
        feedback = " ".join(outcome.feedback.split())[:FEEDBACK_LIMIT]
        self.records[-1] = replace(record, outcome=replace(outcome, feedback=feedback))

    def snapshot(self) -> Snapshot:
        """The database as an iteration sees it."""
        text, visible, flags = render_snapshot(self.records, self._rules)
        return Snapshot(text, visible, self._documents(), flags)

    def latest(self, db_id: str) -> GivenDocument:
        """The latest stored version with the latest prediction. Raises ``KeyError``."""
        return self._latest[db_id]

    def _documents(self) -> Mapping[str, GivenDocument]:
        """Ids, URLs and provider ids to latest versions; where names clash an id goes first."""
        named = {name: self._latest[db_id] for name, db_id in self._names.items()}
        return named | self._latest

    def _store(self, t: int, document: GivenDocument) -> Credited:
        keys = lasting_keys(document, self._rules.dedup)
        db_id = self._index.find(keys)
        if db_id is None:
            db_id = f"doc_{len(self.versions) + 1:06d}"
            self._index.keep(keys, db_id)
            self.versions[db_id] = []
        stored = replace(document, db_id=db_id)
        versions = self.versions[db_id]
        first = versions[0].iteration if versions else t
        if self._fills_body(versions, document):
            versions[-1] = Version(stored, versions[-1].iteration)
        else:
            versions.append(Version(stored, t))
        self._latest[db_id] = self._newest(db_id, document.predicted, t, first)
        for name in (document.url, document.provider_id):
            if name:
                self._names.setdefault(name, db_id)
        return Credited(replace(stored, first_retrieved_t=first), document.predicted, first, t)

    def _newest(self, db_id: str, predicted: float | None, t: int, first: int) -> GivenDocument:
        """What a look-up gives: the newest version with the newest prediction."""
        before = self._latest.get(db_id)
        predicted_at: int | None = t
        if predicted is None:
            predicted = before.predicted if before else None
            predicted_at = before.predicted_at if before else None
        return replace(
            self.versions[db_id][-1].document,
            ref=None,
            predicted=predicted,
            predicted_at=predicted_at,
            first_retrieved_t=first,
        )

    def _fills_body(self, versions: list[Version], document: GivenDocument) -> bool:
        """Whether full text arrives for a page of which only a snippet was stored."""
        if self._rules.dedup != "any_key" or not versions:
            return False
        return bool(document.raw) and not versions[-1].document.raw

    def _credit(self, t: int, document: GivenDocument) -> Credited:
        versions = self.versions[document.db_id or ""]
        first, latest = versions[0].iteration, versions[-1].iteration
        return Credited(replace(document, first_retrieved_t=first), None, first, latest)
