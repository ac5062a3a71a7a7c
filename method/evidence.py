"""What one retrieve has found so far: pool, predictions, retention (methods.md 1.4 d to f).

Pure bookkeeping without calls: :class:`EvidencePool` is driven by the inner loop, and
:func:`judge` decides what of a scoring answer counts.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from method.identity import Index, keys_of
from method.parsing.json_answers import Read, ScoringAnswer
from method.protocols import GivenDocument, ScoringStatus
from method.rules import Rules

_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\Z", re.A)


@dataclass(frozen=True)
class Judgement:
    """What a scoring answer is worth.

    ``scores`` holds the new predictions by ``ref`` in pool order; ``dropped`` the rows that do not
    count, each with its index and reason; ``unscored`` the targets without a score; ``knowledge``
    the new knowledge state, or ``None`` when it stays as it was; ``proposed`` the text written.
    """

    status: ScoringStatus
    scores: Mapping[str, float]
    dropped: tuple[Mapping[str, Any], ...] = ()
    unscored: tuple[str, ...] = ()
    knowledge: str | None = None
    proposed: str = ""
    flags: tuple[str, ...] = ()


def judge(
    read: Read[ScoringAnswer], pool: Sequence[str], scored: Mapping[str, float], rules: Rules
) -> Judgement:
    """Judge a scoring answer row by row.

    Args:
        read: the answer as :func:`method.parsing.json_answers.read_scoring` read it.
        pool: the ``ref`` of every document shown, in pool order.
        scored: predictions of earlier rounds, which an answer cannot change.
        rules: the switches of ``scoring``.
    """
    targets = [ref for ref in pool if ref not in scored]
    if read.answer is None:
        return Judgement("failed", {}, unscored=tuple(targets), flags=read.flags)
    rows = _Rows(targets, scored, rules)
    rows.read(read.answer.document_predictions)
    scores = {ref: rows.scores[ref] for ref in targets if ref in rows.scores}
    unscored = tuple(ref for ref in targets if ref not in scores)
    knowledge = read.answer.knowledge_state_analysis
    surplus = bool(rows.dropped) and rules.scoring_complete == "strict"
    status: ScoringStatus = "scored"
    if not scores:
        status = "no_valid_predictions"
    elif unscored or surplus or not knowledge.strip():
        status = "partial"
    return Judgement(
        status=status,
        scores=scores,
        dropped=tuple(rows.dropped),
        unscored=unscored,
        knowledge=knowledge if status == "scored" else None,
        proposed=knowledge,
        flags=(*read.flags, *rows.flags),
    )


class _Rows:
    """The rows of one answer, judged in order."""

    def __init__(self, targets: Sequence[str], scored: Mapping[str, float], rules: Rules) -> None:
        self._targets, self._scored, self._rules = frozenset(targets), scored, rules
        self.scores: dict[str, float] = {}
        self.dropped: list[Mapping[str, Any]] = []
        self.flags: list[str] = []

    def read(self, rows: Iterable[Any]) -> None:
        rows = list(rows)
        self._counts = Counter(
            row["evidence_ref"]
            for row in rows
            if isinstance(row, dict) and isinstance(row.get("evidence_ref"), str)
        )
        self._seen: set[str] = set()
        for index, row in enumerate(rows):
            reason = self._read_row(row)
            if reason:
                self.dropped.append({"index": index, "reason": reason})

    def _read_row(self, row: Any) -> str:
        """Take one row; the reason when it does not count."""
        if not isinstance(row, dict):
            return "not_an_object"
        ref = row.get("evidence_ref")
        if not isinstance(ref, str):
            return "invalid_reference"
        if ref in self._scored:
            return "already_scored"
        if ref not in self._targets:
            return "not_in_prediction_targets"
        repeated = self._counts[ref] > 1
        if repeated and (self._rules.scoring_duplicates == "drop" or ref in self._seen):
            return "duplicate_reference"
        self._seen.add(ref)
        score = self._score(row.get("estimated_child_score"))
        if score is None:
            return "invalid_score"
        self.scores[ref] = score
        return ""

    def _score(self, value: Any) -> float | None:
        if isinstance(value, str) and self._rules.scoring_strings == "numbers":
            if not _NUMBER.match(value.strip()):
                return None
            value = float(value)
            if "numeric_strings" not in self.flags:
                self.flags.append("numeric_strings")
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        try:
            score = float(value)
        except OverflowError:
            return None
        return score if math.isfinite(score) else None


def retain(pool: Sequence[str], scores: Mapping[str, float], limit: int) -> list[str]:
    """The best predicted documents, at most ``limit``; ties keep their order in the pool."""
    scored = [ref for ref in pool if ref in scores]
    return sorted(scored, key=lambda ref: -scores[ref])[:limit]


class EvidencePool:
    """The documents of one retrieve.

    Each different document gets a ``ref`` when it is first seen (``evidence_1``, ...); its score,
    once predicted, stays for the iteration, also while it is discarded.
    """

    def __init__(self, rules: Rules, limit: int) -> None:
        self._rules, self._limit = rules, limit
        self._index: Index[str] = Index()
        self._count = 0
        self._documents: dict[str, GivenDocument] = {}
        self.scores: dict[str, float] = {}
        self.pool: list[str] = []
        self.retained: list[str] = []

    def name(self, document: GivenDocument) -> GivenDocument:
        """The document with its ``ref``: that of an earlier same one, else the next."""
        keys = keys_of(document, self._rules.dedup)
        ref = self._index.find(keys)
        if ref is None:
            self._count += 1
            ref = f"evidence_{self._count}"
            self._index.keep(keys, ref)
        return replace(document, ref=ref)

    def gather(self, found: Iterable[GivenDocument]) -> None:
        """Begin a round: the retained documents in rank order, then what was found (named)."""
        shown = {ref: self._documents[ref] for ref in self.retained}
        for document in found:
            shown.setdefault(document.ref or "", document)
        self._documents, self.pool = shown, list(shown)

    def documents(self, refs: Iterable[str]) -> list[GivenDocument]:
        """Documents of the pool."""
        return [self._documents[ref] for ref in refs]

    def unscored(self) -> list[str]:
        """The documents of the pool that want a prediction."""
        return [ref for ref in self.pool if ref not in self.scores]

    def predict(self, scores: Mapping[str, float]) -> None:
        """Remember new predictions; an old one is never overwritten."""
        self.scores = {**scores, **self.scores}

    def select(self) -> None:
        """End a round: retain the best of the pool."""
        self.retained = retain(self.pool, self.scores, self._limit)
