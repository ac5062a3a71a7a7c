"""The outer loop: any scaffold with any retriever (Algorithm 1, methods.md 1.2).

An iteration is: select, retrieve, draw candidates, evaluate, insert, remember. Every answer comes
through :class:`~method.ports.Ports` and every decision goes through it, so that running the loop
again over a journal gives the same iterations without asking anybody twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from method.attempts import (
    Attempts,
    Candidate,
    Drawn,
    EvaluatorUnavailable,
    Subject,
    raise_if_unavailable,
    valid_score,
)
from method.iteration import Asker, Iteration
from method.ports import Ports
from method.protocols import (
    Draws,
    EvalResult,
    InsertResult,
    Program,
    Retrieval,
    Retriever,
    Scaffold,
    Selection,
    Settings,
)
from method.rules import Rules
from method.scaffolds.native_population import program_id
from method.searchcache import SearchCache
from method.searchdb import Outcome, SearchDatabase
from method.trace import iteration_record

__all__ = [
    "Engine",
    "EvaluatorUnavailable",
    "InvalidSeed",
    "Stopped",
    "Subject",
]


class InvalidSeed(RuntimeError):
    """The initial program has no score: there is nothing to start from (exit code 1)."""


class Stopped(RuntimeError):
    """Somebody asked the run to stop; it can be resumed (exit code 75)."""


@dataclass
class Engine:
    """One run. :meth:`run` goes through all iterations, journalled ones included.

    ``last``: the iteration to stop after, where a run is extended beyond the T of its settings
    (which rules and scaffolds go on to read).
    """

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
    last: int | None = None
    best: Program | None = None
    done: int = 0

    def __post_init__(self) -> None:
        self._attempts = Attempts(
            self.subject,
            self.settings,
            self.edit,
            self.max_attempts,
            self.retriever,
            self.ports,
            self._check_stop,
        )
        self._draws = Draws()
        self._bests: dict[int, Program] = {}

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
            await self._report()
            self.ports.journal.commit()
            return status
        finally:
            await self.scaffold.close()

    async def _iterations(self) -> str:
        database, counted = SearchDatabase(self.rules), 0
        last = self.settings.iterations if self.last is None else self.last
        for t in range(1, last + 1):
            if counted >= last:
                break
            self._check_stop()
            self.ports.budget.check()
            if self.ports.budget.reached and self.ports.holds("iteration_done", (t,)) is None:
                return "budget"
            attempts = await self._iterate(t, database)
            counted += attempts if self.scaffold.counts_attempts else 1
            self.done = t
        if self.cache is not None:
            self.cache.rebuild(database)
        return "finished"

    async def _report(self) -> None:
        """The reporting scores of the bests, when nothing is searched for any more."""
        if not self.subject.held_out:
            return
        for t in sorted({*self.report_iterations, self.done} & self._bests.keys()):
            best = self._bests[t]
            await self.ports.report(t, best.id, best.code)

    async def _start(self) -> None:
        result, _ = await self.ports.evaluate(0, 0, 0, self.subject.x0)
        raise_if_unavailable(result)
        if valid_score(result.status, result.search_score) is None:
            raise InvalidSeed(f"the initial program is {result.status}: {result.reason}")
        x0 = self._program(0, self.subject.x0, result, None, (), "", "")
        self.ports.record("seed_evaluated", (), {"id": x0.id, "search_score": x0.search_score})
        await self.scaffold.start(x0, self.seed, Asker(self.ports, 0))
        self.best = self._bests[0] = x0

    async def _iterate(self, t: int, database: SearchDatabase) -> int:
        """One iteration; returns how many attempts it took."""
        run = Iteration(t, self.seed, self.settings, self.ports, self.scaffold, self._draws)
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
        snapshot = database.snapshot()
        retrieval = await self.retriever.retrieve(selection, snapshot, run)
        record = database.add(t, retrieval, parent)
        if record is not None:
            documents = tuple(credited.document for credited in record.documents)
            retrieval = replace(retrieval, documents=documents)
        drawn = await self._attempts.draw(run, selection, retrieval)
        child, inserted = await self._insert(t, selection, drawn.chosen)
        database.conclude(t, _outcome(child, drawn.candidates))
        if self.cache is not None and record is not None:
            self.cache.put(database, database.records[-1])
        events = await self.scaffold.after_iteration(t, child, drawn.attempts, Asker(self.ports, t))
        for number, event in enumerate(events):
            self.ports.record("scaffold_event", (t, number), dict(event))
        self._remember(t, drawn)
        self._close(t, selection, retrieval, snapshot.flags, drawn, child, inserted, events)
        return drawn.attempts

    def _remember(self, t: int, drawn: Drawn) -> None:
        """What later iterations and the report need of this one."""
        assert self.best is not None
        self._bests[t] = self.best
        answered = [c for c in drawn.candidates if c.completion.error is None]
        planned = sum(c.attempt == drawn.attempts for c in drawn.candidates)
        self._draws = Draws(
            self._draws.children + len(answered),
            self._draws.invalid + sum(c.score is None for c in answered),
            {**self._draws.planned, t: planned},
        )

    async def _insert(
        self, t: int, selection: Selection, chosen: Candidate | None
    ) -> tuple[Program | None, InsertResult | None]:
        if chosen is None:
            return None, None
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
        return child, outcome

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

    def _close(
        self,
        t: int,
        selection: Selection,
        retrieval: Retrieval,
        flags: Sequence[str],
        drawn: Drawn,
        child: Program | None,
        inserted: InsertResult | None,
        events: Sequence[Mapping[str, Any]],
    ) -> None:
        """Journal the iteration's record."""
        assert self.best is not None
        record = iteration_record(
            t, selection, retrieval, flags, drawn, child, inserted, events, self.best
        )
        self.ports.blobs.put(drawn.prompts[-1])
        self.ports.record("iteration_done", (t,), record)
        self.ports.journal.commit()
        self.progress(record)

    def _check_stop(self) -> None:
        if self.stop_requested:
            raise Stopped("stopped on request")


def _outcome(child: Program | None, candidates: Sequence[Candidate]) -> Outcome:
    if child is None:
        return Outcome(feedback=candidates[-1].failure)
    feedback = child.artifacts.get("feedback") or child.artifacts.get("text_feedback") or ""
    return Outcome(child.id, child.search_score, feedback, valid=True)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()
