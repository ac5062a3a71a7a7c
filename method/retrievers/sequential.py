"""Sequential: research once, write a proposal, then implement it (methods.md 1.10).

At most twelve model calls and six searches: plan, a summary for each search, proposal, up to two
reflections and as many rewrites. The prompts are ours (``research_*``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from method.asking import ask, free_text, question
from method.exposure import Ledger, query_key, search_trace, wire_query
from method.gates import parent_field
from method.identity import Index, keys_of
from method.parsing.research_answers import Question, Reflection, read_plan, read_reflection
from method.prompting import fill, history_field, nothing
from method.protocols import GivenDocument, Request, Retrieval, RunContext, Selection, Snapshot
from method.rendering import observed_documents
from method.rules import KNOWLEDGE_LIMIT, Rules

MAX_SEARCHES = 6
PLANNED = 3
FOLLOW_UPS = 2
MAX_REFLECT = 2


@dataclass
class _Research:
    """What one iteration has read and noted so far."""

    pages: list[GivenDocument] = field(default_factory=list)
    index: Index[int] = field(default_factory=Index)
    notes: list[str] = field(default_factory=list)
    executed: list[tuple[int, str]] = field(default_factory=list)
    rounds: list[Mapping[str, Any]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def read(self, page: GivenDocument, rules: Rules) -> GivenDocument:
        """The page as it was first read, named ``page_1``, ``page_2``, ..."""
        keys = keys_of(page, rules.dedup)
        place = self.index.find(keys)
        if place is None:
            place = len(self.pages)
            self.index.keep(keys, place)
            self.pages.append(replace(page, ref=f"page_{place + 1}"))
        return self.pages[place]


class Sequential:
    """Plan, search, summarise, propose, reflect; then N candidates implement the proposal.

    ``max_reflect``: reflections of one iteration, 0 to 2.
    """

    name = "sequential"

    def __init__(self, max_reflect: int = 1) -> None:
        if not 0 <= max_reflect <= MAX_REFLECT:
            raise ValueError(f"max_reflect must be 0, 1 or {MAX_REFLECT}, not {max_reflect}")
        self._max_reflect = max_reflect
        self._ledger = Ledger()

    async def retrieve(
        self, selection: Selection, snapshot: Snapshot, run: RunContext
    ) -> Retrieval:
        """The proposal and all pages read. Without a proposal the pages are still given."""
        study = _Study(selection, run, self._ledger)
        await study.search(1, *await study.plan())
        proposal = await study.propose()
        for r in range(2, 2 + self._max_reflect):
            if not proposal:
                break
            review, call_id = await study.reflect(proposal)
            if review.ready:
                break
            await study.search(r, [Question(query, query) for query in review.queries], call_id)
            proposal = await study.rewrite(proposal, review.critique) or proposal
        research = study.research
        return Retrieval(
            decision=None,
            documents=tuple(research.pages),
            n_candidates=run.settings.candidates,
            executed_queries=tuple(research.executed),
            rounds=tuple(research.rounds),
            proposal=proposal or None,
            errors=tuple(research.errors),
        )


class _Study:
    """The calls of one iteration; each knows program, history and what was found before."""

    def __init__(self, selection: Selection, run: RunContext, ledger: Ledger) -> None:
        self._run, self._ledger = run, ledger
        self._rules: Rules = run.settings.rules
        self._system = selection.system_prompt
        self._program = parent_field(selection, self._rules)
        self._history = history_field(selection.history_text, self._rules)
        self.research = _Research()

    async def plan(self) -> tuple[list[Question], str | None]:
        """The open questions, at most three, and the call that asks them."""
        values = {
            "current_program": self._program,
            "evolutionary_history": self._history,
            "questions": str(PLANNED),
        }
        request = self._request(fill("research_plan.user", values))
        (answered,) = await ask(self._run, request, lambda text: read_plan(text, self._rules))
        if not answered.usable or answered.read is None:
            self._fail("plan", answered.completion.error or "malformed")
            return [], None
        return list(answered.read.questions[:PLANNED]), answered.completion.call_id

    async def search(self, r: int, questions: Sequence[Question], call_id: str | None) -> None:
        """Search the distinct queries at once and note what each set of pages says.

        ``call_id`` names the call that asked the questions.
        """
        research = self.research
        distinct = list({query_key(asked.query): asked for asked in reversed(questions)}.values())
        asked_for = list(reversed(distinct))
        if not asked_for:
            return
        wires = [wire_query(asked.query, self._rules) for asked in asked_for]
        responses = await asyncio.gather(
            *(
                self._run.search(f"r{r}:q{slot}", wire, self._run.settings.per_query)
                for slot, (wire, _) in enumerate(wires)
            )
        )
        found, searches = [], []
        for slot, (asked, response) in enumerate(zip(asked_for, responses, strict=True)):
            hits = self._ledger.enter(self._run.t, asked.query, response)
            pages = [research.read(hit.document, self._rules) for hit in hits]
            found.append(list({page.ref: page for page in pages}.values()))
            results = [hit.trace(page.ref, None) for hit, page in zip(hits, pages, strict=True)]
            searches.append(search_trace(slot, response, results))
        summaries = await asyncio.gather(
            *(self._summarise(asked, pages) for asked, pages in zip(asked_for, found, strict=True))
        )
        research.notes += [
            f"Question: {asked.text}\n{summary}"
            for asked, summary in zip(asked_for, summaries, strict=True)
        ]
        research.executed += [(r, asked.query) for asked in asked_for]
        queries = [
            {**_query_trace(slot, asked, wire, cut), "call_id": call_id}
            for slot, (asked, (wire, cut)) in enumerate(zip(asked_for, wires, strict=True))
        ]
        entry = _round_trace(r, queries, searches, research)
        research.rounds.append(entry)
        self._run.note("round", entry)

    async def _summarise(self, asked: Question, pages: Sequence[GivenDocument]) -> str:
        if not pages:
            return "(nothing found)"
        text, _ = observed_documents(pages, {}, 0.0, self._rules)
        values = {"question": asked.text, "pages": text}
        return await self._write("summary", fill("research_summary.user", values))

    async def propose(self) -> str:
        """The proposal; empty when the call failed."""
        values = {
            "current_program": self._program,
            "evolutionary_history": self._history,
            "notes": self._notes(),
        }
        return await self._write("proposal", fill("research_proposal.user", values))

    async def reflect(self, proposal: str) -> tuple[Reflection, str | None]:
        """A review and its call; a failed or malformed one leaves the proposal as it is."""
        left = min(FOLLOW_UPS, MAX_SEARCHES - len(self.research.executed))
        values = {
            "current_program": self._program,
            "notes": self._notes(),
            "proposal": proposal,
            "queries": str(left),
        }
        request = self._request(fill("research_reflection.user", values))
        (answered,) = await ask(self._run, request, lambda text: read_reflection(text, self._rules))
        if not answered.usable or answered.read is None:
            self._fail("reflection", answered.completion.error or "malformed")
            return Reflection(), None
        review = replace(answered.read, queries=answered.read.queries[:left])
        return review, answered.completion.call_id

    async def rewrite(self, proposal: str, critique: str) -> str:
        """The proposal after a review; empty when the call failed."""
        values = {
            "current_program": self._program,
            "notes": self._notes(),
            "proposal": proposal,
            "critique": critique or nothing(self._rules),
        }
        return await self._write("rewrite", fill("research_rewrite.user", values))

    def _request(self, prompt: str) -> Request:
        """The researcher knows the task from the scaffold's system prompt."""
        return question(self._run, "research", prompt, system=self._system)

    def _notes(self) -> str:
        return "\n\n".join(self.research.notes) or nothing(self._rules)

    async def _write(self, step: str, prompt: str) -> str:
        answer = await free_text(self._run, self._request(prompt), KNOWLEDGE_LIMIT)
        if answer.error:
            self._fail(step, answer.error)
        return answer.text

    def _fail(self, step: str, error: str) -> None:
        self.research.errors.append(f"research {step} failed: {error}")


def _query_trace(slot: int, asked: Question, wire: str, cut: bool) -> dict[str, Any]:
    return {
        "slot": slot,
        "text": asked.query,
        "keywords": None,
        "resources": None,
        "intent": asked.text,
        "rationale": None,
        "valid": True,
        "wire_text": wire,
        "wire_truncated": cut,
        "executed": True,
        "duplicate_of": None,
        "error": None,
    }


def _round_trace(
    r: int, queries: list[dict[str, Any]], searches: list[dict[str, Any]], research: _Research
) -> dict[str, Any]:
    ids = [page.doc_id for page in research.pages]
    return {
        "r": r,
        "attempt": None,
        "candidate_slot": None,
        "queries": queries,
        "searches": searches,
        "pool": ids,
        "unscored": [],
        "predictions": {},
        "rejected_predictions": [],
        "retained": [{"doc_id": name, "predicted": None} for name in ids],
        "knowledge_proposed": None,
        "scoring_status": None,
        "knowledge_after": None,
        "flags": [],
        "call_id": None,
    }
