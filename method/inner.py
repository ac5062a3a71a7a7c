"""The query loop of one retrieve: ask, search, predict, retain (Algorithm 2; methods.md 1.4).

Fixed for all rounds are the parent and its score, the history, the snapshot and the population
analysis. There is no early stopping: R rounds of J queries and at most one scoring call each.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from method.asking import Answered, ask, question
from method.evidence import EvidencePool, Judgement, judge
from method.exposure import Hit, Ledger, query_key, search_trace, wire_query
from method.gates import parent_field
from method.identity import Index, lasting_keys
from method.parsing.json_answers import (
    QueryAnswer,
    Read,
    ScoringAnswer,
    read_query,
    read_scoring,
)
from method.prompting import analysis_field, fill, history_field, number
from method.protocols import GivenDocument, RunContext, ScoringStatus, Selection, Snapshot
from method.rendering import observed_documents
from method.rules import Rules


class RetrievalError(ValueError):
    """The iteration cannot retrieve; it goes on without documents."""


@dataclass(frozen=True)
class Found:
    """Result of a query loop: the retained documents in rank order, with their predictions."""

    documents: tuple[GivenDocument, ...]
    knowledge: str
    executed_queries: tuple[tuple[int, str], ...]
    rounds: tuple[Mapping[str, Any], ...]


class QueryLoop:
    """One retrieve of one iteration.

    Args:
        selection: parent and history.
        snapshot: the search database, fixed for the iteration.
        analysis: population observations A, perhaps empty.
        knowledge: knowledge state K^0, perhaps empty.
        run: calls and settings.
        ledger: ids and novelty of what the searches of the run return.

    Raises :class:`RetrievalError` when the parent's search score is not finite.
    """

    def __init__(
        self,
        selection: Selection,
        snapshot: Snapshot,
        analysis: str,
        knowledge: str,
        run: RunContext,
        ledger: Ledger,
    ) -> None:
        if not math.isfinite(selection.parent_score):
            raise RetrievalError(f"the parent's search score is {selection.parent_score}")
        self._run, self._ledger, self._snapshot = run, ledger, snapshot
        self._rules: Rules = run.settings.rules
        self._parent_score = float(selection.parent_score)
        self._fixed = {
            "population_state_analysis": analysis_field(analysis, self._rules),
            "evolutionary_history": history_field(selection.history_text, self._rules),
            "current_program": parent_field(selection, self._rules),
            "search_database": snapshot.text,
        }
        self._knowledge = knowledge
        self._evidence = EvidencePool(self._rules, run.settings.retain)
        self._stored = _stored(snapshot, self._rules)
        self._executed: list[tuple[int, str]] = []
        self._rounds: list[dict[str, Any]] = []

    async def find(self) -> Found:
        """Run all rounds."""
        for r in range(1, self._run.settings.rounds + 1):
            self._rounds.append(await self._round(r))
            self._run.note("round", self._rounds[-1])
        retained = self._evidence.documents(self._evidence.retained)
        scores, t = self._evidence.scores, self._run.t
        documents = tuple(
            replace(document, predicted=scores[document.ref or ""], predicted_at=t)
            for document in retained
        )
        return replace(self.given_up(), documents=documents)

    def given_up(self) -> Found:
        """What was asked so far, without documents: the result when something broke."""
        return Found((), self._knowledge, tuple(self._executed), tuple(self._rounds))

    async def _round(self, r: int) -> dict[str, Any]:
        queries, flags = await self._construct(r)
        searches, found = await self._search(r, queries)
        evidence = self._evidence
        evidence.gather(found)
        unscored = evidence.unscored()
        judgement: Judgement | None = None
        call_id: str | None = None
        status: ScoringStatus
        if not any(query["valid"] for query in queries):
            status = "no_query"
        elif not evidence.pool:
            status = "no_usable_documents"
        elif not unscored:
            status = "no_new_documents"
        else:
            judgement, cut, call_id = await self._score()
            flags += cut
            status = judgement.status
        if judgement is not None:
            evidence.predict(judgement.scores)
            self._knowledge = judgement.knowledge or self._knowledge
            flags += judgement.flags
        if status not in ("failed", "no_query"):
            evidence.select()
        return {
            "r": r,
            "attempt": None,
            "candidate_slot": None,
            "queries": queries,
            "searches": searches,
            **self._round_trace(unscored, judgement),
            "scoring_status": status,
            "knowledge_after": self._knowledge,
            "flags": list(dict.fromkeys(flags)),
            "call_id": call_id,
        }

    # --- a: queries ----------------------------------------------------------------------------

    async def _construct(self, r: int) -> tuple[list[dict[str, Any]], list[str]]:
        """J samples of one prompt; malformed ones are dropped and not replaced."""
        values = {
            **self._fixed,
            "knowledge_state_analysis": analysis_field(self._knowledge, self._rules),
        }
        flags: tuple[str, ...] = ()
        if r == 1:
            prompt = fill("query_first.user", values)
        else:
            retained = self._evidence.documents(self._evidence.retained)
            context, flags = self._context(retained)
            prompt = fill("query_next.user", values | context)
        slots = range(self._run.settings.queries)
        request = question(self._run, "query", prompt, slots=slots, schema=QueryAnswer)
        answers = await ask(self._run, request, lambda text: read_query(text, self._rules))
        queries: list[dict[str, Any]] = []
        first: dict[str, int] = {}
        for slot, answered in zip(slots, answers, strict=True):
            query = _query_trace(slot, answered, self._rules)
            if query["valid"]:
                same = first.setdefault(query_key(query["text"]), slot)
                query["executed"] = same == slot
                query["duplicate_of"] = None if same == slot else same
            queries.append(query)
        return queries, list(flags)

    # --- b: searches ---------------------------------------------------------------------------

    async def _search(
        self, r: int, queries: Sequence[Mapping[str, Any]]
    ) -> tuple[list[dict[str, Any]], list[GivenDocument]]:
        """Each distinct query once, all at the same time; documents in query order, then rank."""
        wanted = [query for query in queries if query["executed"]]
        self._executed += [(r, query["text"]) for query in wanted]
        responses = await asyncio.gather(
            *(
                self._run.search(
                    f"r{r}:q{query['slot']}",
                    query["wire_text"],
                    self._run.settings.per_query,
                )
                for query in wanted
            )
        )
        searches, found = [], list[GivenDocument]()
        for query, response in zip(wanted, responses, strict=True):
            hits = self._ledger.enter(self._run.t, query["text"], response)
            named = [self._evidence.name(self._known(hit)) for hit in hits]
            found += named
            results = [
                hit.trace(document.ref, document.db_id)
                for hit, document in zip(hits, named, strict=True)
            ]
            searches.append(search_trace(query["slot"], response, results))
        return searches, found

    def _known(self, hit: Hit) -> GivenDocument:
        """The document, with its ``db_id`` if the search database holds its page already."""
        stored = self._stored.find(lasting_keys(hit.document, self._rules.dedup))
        if stored is None:
            return hit.document
        return replace(hit.document, db_id=stored.db_id, first_retrieved_t=stored.first_retrieved_t)

    # --- e: hypothetical evidence scoring ------------------------------------------------------

    async def _score(self) -> tuple[Judgement, tuple[str, ...], str | None]:
        """One call shows the whole pool and predicts for what has no score yet.

        Returns what the answer is worth, flags of the prompt, and the call's name.
        """
        evidence = self._evidence
        context, flags = self._context(evidence.documents(evidence.pool))
        prompt = fill(
            "evidence_scoring.user",
            {
                **self._fixed,
                **context,
                "knowledge_state_analysis": analysis_field(self._knowledge, self._rules),
            },
        )
        request = question(self._run, "scoring", prompt, schema=ScoringAnswer)
        (answered,) = await ask(self._run, request, lambda text: read_scoring(text, self._rules))
        read = answered.read or Read[ScoringAnswer](None, "call failed", ("call_failed",))
        judgement = judge(read, evidence.pool, evidence.scores, self._rules)
        return judgement, flags, answered.completion.call_id

    def _context(
        self, documents: Sequence[GivenDocument]
    ) -> tuple[dict[str, str], tuple[str, ...]]:
        text, flags = observed_documents(
            documents, self._evidence.scores, self._parent_score, self._rules
        )
        return {"search_context": text, "parent_score": number(self._parent_score)}, flags

    # --- trace ---------------------------------------------------------------------------------

    def _round_trace(self, unscored: Sequence[str], judged: Judgement | None) -> dict[str, Any]:
        evidence = self._evidence
        shown = zip(evidence.pool, evidence.documents(evidence.pool), strict=True)
        ids = {ref: document.doc_id for ref, document in shown}
        new = judged.scores if judged else {}
        proposed = judged.proposed if judged and judged.knowledge is None else None
        return {
            "pool": [ids[ref] for ref in evidence.pool],
            "unscored": [ids[ref] for ref in unscored],
            "predictions": {ids[ref]: score for ref, score in new.items()},
            "rejected_predictions": list(judged.dropped) if judged else [],
            "retained": [
                {"doc_id": ids[ref], "predicted": evidence.scores[ref]} for ref in evidence.retained
            ],
            "knowledge_proposed": proposed or None,
        }


def _query_trace(slot: int, answered: Answered[Read[QueryAnswer]], rules: Rules) -> dict[str, Any]:
    """One entry of ``queries``, not yet compared with the others of its batch."""
    read = answered.read
    answer = read.answer if read else None
    wire, cut = wire_query(answer.query, rules) if answer else ("", False)
    return {
        "slot": slot,
        "text": answer.query if answer else None,
        "keywords": _listed(answer.keywords) if answer else None,
        "resources": _listed(answer.resources) if answer else None,
        "intent": answer.query_intent if answer else None,
        "rationale": answer.rationale if answer else None,
        "valid": answer is not None,
        "wire_text": wire if answer else None,
        "wire_truncated": cut,
        "executed": False,
        "duplicate_of": None,
        "error": answered.completion.error or (read.error if read else None) or None,
        "call_id": answered.completion.call_id,
    }


def _listed(texts: tuple[str, ...] | None) -> list[str] | None:
    return None if texts is None else list(texts)


def _stored(snapshot: Snapshot, rules: Rules) -> Index[GivenDocument]:
    """The pages of the search database by the keys that last across iterations."""
    index: Index[GivenDocument] = Index()
    pages = {document.db_id or "": document for document in snapshot.documents.values()}
    for _, document in sorted(pages.items()):
        index.keep(lasting_keys(document, rules.dedup), document)
    return index
