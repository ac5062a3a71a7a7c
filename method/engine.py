"""The outer loop: any scaffold with any retriever (Algorithm 1, methods.md 1.2).

An iteration is: select, retrieve, draw candidates, evaluate, insert, remember. Every answer comes
through :class:`~method.ports.Ports` and every decision goes through it, so that running the loop
again over a journal gives the same iterations without asking anybody twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from method.parsing.candidates import parse_candidate
from method.ports import Ports
from method.protocols import (
    Completion,
    EvalResult,
    FailedAttempt,
    ParsedCandidate,
    Program,
    Request,
    Retrieval,
    Retriever,
    Scaffold,
    SearchResponse,
    Selection,
    Settings,
)
from method.rendering import given_text
from method.retrievers.joint import Joint
from method.rules import Rules
from method.scaffolds.native_population import program_id
from method.searchcache import SearchCache
from method.searchdb import Outcome, SearchDatabase


class InvalidSeed(RuntimeError):
    """The initial program has no score: there is nothing to start from (exit code 1)."""


class EvaluatorUnavailable(RuntimeError):
    """The evaluator lacks data or tools, or broke: the run ends (exit code 3)."""


class Stopped(RuntimeError):
    """Somebody asked the run to stop; it can be resumed (exit code 75)."""


@dataclass(frozen=True)
class Subject:
    """The task as the engine needs it.

    ``held_out``: the reporting metric is known at stage ``report`` alone; ``enforce_blocks``: what
    is done with edits outside the EVOLVE-BLOCK.
    """

    task: str
    language: str
    x0: str
    held_out: bool
    enforce_blocks: Literal["off", "revert", "reject"] = "off"


@dataclass
class Candidate:
    """One sample of an attempt: what was read from it and what the evaluator said."""

    attempt: int
    slot: int
    completion: Completion
    parsed: ParsedCandidate | None
    flags: tuple[str, ...] = ()
    result: EvalResult | None = None
    reruns: int = 0

    @property
    def score(self) -> float | None:
        """The search score of a valid candidate: parsed, evaluated, finite."""
        if self.result is None:
            return None
        return valid_score(self.result.status, self.result.search_score)

    @property
    def failure(self) -> str:
        """Why there is no score, in words for a prompt."""
        if self.completion.error is not None:
            return f"the model call failed: {self.completion.error}"
        if self.parsed is not None and self.parsed.status != "ok":
            return self.parsed.error
        return self.result.reason if self.result is not None else ""


@dataclass
class Iteration:
    """What retrievers see of iteration ``t`` (:class:`~method.protocols.RunContext`)."""

    t: int
    seed: int
    settings: Settings
    ports: Ports
    scaffold: Scaffold
    _notes: Counter[str] = field(default_factory=Counter)

    async def sample(self, request: Request) -> list[Completion]:
        return await self.ports.sample(self.t, request)

    async def search(
        self, scope: str, query: str, max_results: int, depth: str = "advanced"
    ) -> SearchResponse:
        return await self.ports.search(self.t, scope, query, max_results, depth)

    async def retained(self) -> Sequence[Program]:
        return await self.scaffold.retained()

    def note(self, name: Literal["gate", "round"], data: Mapping[str, Any]) -> None:
        self._notes[name] += 1
        self.ports.record(name, (self.t, self._notes[name]), data)


def valid_score(status: str, score: Any) -> float | None:
    """A search score that may be compared: of status ``ok``, a finite number, no boolean."""
    if status != "ok" or isinstance(score, bool) or not isinstance(score, int | float):
        return None
    return float(score) if math.isfinite(score) else None


def best_slot(scores: Sequence[float | None]) -> int | None:
    """Index of the best score; among equals the lowest; ``None`` when there is none."""
    valid = [index for index, score in enumerate(scores) if score is not None]
    return max(valid, key=lambda index: (scores[index], -index), default=None)


def select_candidate(candidates: Sequence[Candidate]) -> Candidate | None:
    """The candidate with the best valid search score; among equals the lowest slot."""
    index = best_slot([candidate.score for candidate in candidates])
    return None if index is None else candidates[index]


@dataclass
class Engine:
    """One run. :meth:`run` goes through all iterations, journalled ones included."""

    subject: Subject
    settings: Settings
    seed: int
    edit: Literal["diff", "full"]
    max_attempts: int
    scaffold: Scaffold
    retriever: Retriever
    ports: Ports
    report_iterations: tuple[int, ...] = ()
    stop_requested: bool = False
    progress: Callable[[Mapping[str, Any]], None] = lambda record: None
    cache: SearchCache | None = None
    best: Program | None = None
    done: int = 0

    @property
    def rules(self) -> Rules:
        """The switches of the run."""
        rules: Rules = self.settings.rules
        return rules

    async def run(self) -> str:
        """Run to the end; returns ``finished`` or ``budget``.

        Raises :class:`InvalidSeed`, :class:`EvaluatorUnavailable`, :class:`Stopped`, and what
        :class:`~method.ports.Ports` raises.
        """
        try:
            await self._start()
            status = await self._iterations()
            if self.best is not None and self.subject.held_out:
                await self.ports.report(self.done, self.best.id, self.best.code)
            self.ports.journal.commit()
            return status
        finally:
            await self.scaffold.close()

    async def _iterations(self) -> str:
        database = SearchDatabase(self.rules)
        for t in range(1, self.settings.iterations + 1):
            self._check_stop()
            if self.ports.budget.reached and self.ports.holds("iteration_done", (t,)) is None:
                return "budget"
            await self._iterate(t, database)
            self.done = t
        if self.cache is not None:
            self.cache.rebuild(database)
        return "finished"

    async def _start(self) -> None:
        result, _ = await self.ports.evaluate(0, 0, 0, self.subject.x0)
        _raise_if_unavailable(result)
        if valid_score(result.status, result.search_score) is None:
            raise InvalidSeed(f"the initial program is {result.status}: {result.reason}")
        x0 = self._program(0, self.subject.x0, result, None, (), "", "")
        self.ports.record("seed_evaluated", (), {"id": x0.id, "search_score": x0.search_score})
        await self.scaffold.start(x0, self.seed, _Asker(self.ports, 0))
        self.best = x0

    async def _iterate(self, t: int, database: SearchDatabase) -> None:
        run = Iteration(t, self.seed, self.settings, self.ports, self.scaffold)
        selection = await self.scaffold.select(t)
        parent = selection.parent
        self.ports.record(
            "iteration_selected",
            (t,),
            {
                "t": t,
                "parent": parent.id,
                "context": list(selection.context_ids),
                "history": _sha256(selection.history_text),
                "scaffold": await self.scaffold.fingerprint(),
            },
        )
        retrieval = await self.retriever.retrieve(selection, database.snapshot(), run)
        record = database.add(t, retrieval, parent)
        documents = (
            replace(retrieval, documents=tuple(c.document for c in record.documents))
            if record is not None
            else retrieval
        )
        candidates, prompts = await self._attempts(run, selection, documents)
        chosen = select_candidate([c for c in candidates if c.attempt == candidates[-1].attempt])
        child = None if chosen is None else await self._insert(t, selection, chosen)
        database.conclude(t, _outcome(child, candidates))
        if self.cache is not None and record is not None:
            self.cache.put(database, database.records[-1])
        attempts = candidates[-1].attempt
        events = await self.scaffold.after_iteration(t, child, attempts, _Asker(self.ports, t))
        for number, event in enumerate(events):
            self.ports.record("scaffold_event", (t, number), dict(event))
        await self._close(t, selection, documents, candidates, prompts, chosen, child, events)

    async def _attempts(
        self, run: Iteration, selection: Selection, retrieval: Retrieval
    ) -> tuple[list[Candidate], list[str]]:
        """Samples until one is valid or the attempts are used up; all samples, in order."""
        candidates: list[Candidate] = []
        prompts: list[str] = []
        failed: list[FailedAttempt] = []
        for attempt in range(1, self.max_attempts + 1):
            self._check_stop()
            prompt = selection.build_prompt(given_text(retrieval), failed)
            prompts.append(prompt)
            answers = await self._generate(run, selection, retrieval, prompt, attempt)
            batch = [
                Candidate(attempt, slot, answer, self._parse(answer, selection), flags)
                for slot, (answer, flags) in enumerate(answers)
            ]
            await self._evaluate(run.t, batch)
            candidates += batch
            if select_candidate(batch) is not None:
                break
            if len(batch) == 1 and batch[0].completion.error is not None:
                break
            failed += [_failed_attempt(candidate) for candidate in batch]
        return candidates, prompts

    async def _generate(
        self, run: Iteration, selection: Selection, retrieval: Retrieval, prompt: str, attempt: int
    ) -> list[tuple[Completion, tuple[str, ...]]]:
        """One answer for each slot, with flags of how it came about."""
        slots = tuple(range(retrieval.n_candidates))
        if retrieval.generator == "tool_loop":
            assert isinstance(self.retriever, Joint)
            samples = await self.retriever.generate(
                run, selection.system_prompt, prompt, slots, attempt
            )
            return [(sample.completion, sample.flags) for sample in samples]
        messages = (
            {"role": "system", "content": selection.system_prompt},
            {"role": "user", "content": prompt},
        )
        request = Request("generation", messages, self.settings.sampling, slots=slots)
        return [(answer, ()) for answer in await run.sample(request)]

    def _parse(self, answer: Completion, selection: Selection) -> ParsedCandidate | None:
        if answer.error is not None:
            return None
        return parse_candidate(
            answer.text,
            selection.parent.code,
            self.subject.language,
            self.edit,
            self.rules.longest_candidate(self.subject.x0),
            self.subject.enforce_blocks,
        )

    async def _evaluate(self, t: int, batch: Sequence[Candidate]) -> None:
        """All generations of a batch are there before the first evaluation starts."""

        async def one(candidate: Candidate) -> None:
            assert candidate.parsed is not None
            assert candidate.parsed.code is not None
            candidate.result, candidate.reruns = await self.ports.evaluate(
                t, candidate.attempt, candidate.slot, candidate.parsed.code
            )
            _raise_if_unavailable(candidate.result)

        parsed = [c for c in batch if c.parsed is not None and c.parsed.status == "ok"]
        await asyncio.gather(*(one(candidate) for candidate in parsed))

    async def _insert(self, t: int, selection: Selection, chosen: Candidate) -> Program:
        assert chosen.result is not None
        assert chosen.parsed is not None
        assert chosen.parsed.code is not None
        child = self._program(
            t,
            chosen.parsed.code,
            chosen.result,
            selection.parent.id,
            selection.context_ids,
            selection.label,
            chosen.parsed.changes,
        )
        outcome = await self.scaffold.insert(t, child, selection)
        self.ports.record(
            "inserted",
            (t,),
            {
                "t": t,
                "id": child.id,
                "admitted": outcome.admitted,
                "evicted": sorted(outcome.evicted),
            },
        )
        if self.best is None or child.search_score > self.best.search_score:
            self.best = child
        return child

    def _program(
        self,
        t: int,
        code: str,
        result: EvalResult,
        parent_id: str | None,
        context_ids: tuple[str, ...],
        label: str,
        changes: str,
    ) -> Program:
        assert result.search_score is not None
        artifacts = {"feedback": result.feedback} if result.feedback else {}
        return Program(
            id=program_id(self.seed, t, 0, "child"),
            code=code,
            language=self.subject.language,
            search_score=result.search_score,
            objective=result.objective,
            metrics=dict(result.metrics),
            parent_id=parent_id,
            iteration=t,
            label=label,
            artifacts={**artifacts, **result.attachments},
            changes=changes,
            context_ids=context_ids,
        )

    async def _close(
        self,
        t: int,
        selection: Selection,
        retrieval: Retrieval,
        candidates: Sequence[Candidate],
        prompts: Sequence[str],
        chosen: Candidate | None,
        child: Program | None,
        events: Sequence[Mapping[str, Any]],
    ) -> None:
        """Journal the iteration's record, with the report of the best if ``t`` is chosen."""
        from method.trace import iteration_record

        assert self.best is not None
        reported = None
        if self.subject.held_out and t in self.report_iterations:
            reported = await self.ports.report(t, self.best.id, self.best.code)
        record = iteration_record(
            t, selection, retrieval, candidates, prompts, chosen, child, events, self.best, reported
        )
        self.ports.blobs.put(prompts[-1])
        self.ports.record("iteration_done", (t,), record)
        self.ports.journal.commit()
        self.progress(record)

    def _check_stop(self) -> None:
        if self.stop_requested:
            raise Stopped("stopped on request")


class _Asker:
    """The model as a scaffold sees it: calls of iteration ``t``, journalled like all others."""

    def __init__(self, ports: Ports, t: int) -> None:
        self.name = "journalled"
        self._ports = ports
        self._t = t

    async def sample(self, request: Request) -> list[Completion]:
        return await self._ports.sample(self._t, request)


def _failed_attempt(candidate: Candidate) -> FailedAttempt:
    code = candidate.parsed.code if candidate.parsed is not None else None
    return FailedAttempt(candidate.failure, code or candidate.completion.text)


def _outcome(child: Program | None, candidates: Sequence[Candidate]) -> Outcome:
    if child is None:
        return Outcome(feedback=candidates[-1].failure)
    feedback = child.artifacts.get("feedback") or child.artifacts.get("text_feedback") or ""
    return Outcome(child.id, child.search_score, feedback, valid=True)


def _raise_if_unavailable(result: EvalResult) -> None:
    if result.status == "unavailable":
        raise EvaluatorUnavailable(result.reason)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()
