"""Methods that propose programs themselves: each proposal is evaluated once and journalled.

There is no scaffold, retriever or model of ours: a :class:`Source` (a process, or a class of
another distribution) gives a program, the harness evaluates it at stage ``search``, the source is
told the verdict. Journal, trace, summary and budget are those of any run, ``gate`` is null.

A source need not be repeatable. A replay takes its proposals from the journal; a run that goes on
starts the source anew, tells it every verdict there was, and asks for the next program.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from method.attempts import Candidate, Drawn, Subject, raise_if_unavailable, valid_score
from method.engine import InvalidSeed, Stopped
from method.ports import Incomplete, Ports
from method.protocols import (
    Completion,
    EvalResult,
    InsertResult,
    ParsedCandidate,
    Program,
    Retrieval,
    Selection,
)
from method.scaffolds.native_population import program_id
from method.secrets import Secrets
from method.sources import MethodProblem, Source
from method.trace import iteration_record

CHANGES_CHARS = 500


@dataclass
class ProposerRun:
    """One run of such a method; the counterpart of :class:`~method.engine.Engine`.

    ``start`` is what the source is told first, ``source`` is ``None`` in a replay, ``last`` is T.
    """

    subject: Subject
    last: int
    seed: int
    max_chars: int
    ports: Ports
    source: Source | None
    start: Mapping[str, Any]
    timeout_s: float
    report_iterations: tuple[int, ...] = ()
    progress: Callable[[Mapping[str, Any]], None] = lambda record: None
    done: int = 0
    _programs: dict[int, Program] = field(default_factory=dict)
    _bests: dict[int, Program] = field(default_factory=dict)
    _opened: bool = False
    _verdicts: list[Mapping[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._stopping = asyncio.Event()

    @property
    def stop_requested(self) -> bool:
        """Whether somebody asked the run to stop; waiting for a proposal then ends at once."""
        return self._stopping.is_set()

    @stop_requested.setter
    def stop_requested(self, value: bool) -> None:
        if value:
            self._stopping.set()

    @property
    def best(self) -> Program:
        """The best program so far; among equals the oldest."""
        return max(self._programs.values(), key=lambda program: program.search_score)

    async def run(self) -> str:
        """Run to the end; returns ``finished`` (T is reached or the method is done) or ``budget``.

        Raises what :meth:`method.engine.Engine.run` does, and :class:`MethodProblem`.
        """
        status = "stopped"
        try:
            await self._seed()
            status = await self._proposals()
            if self.subject.held_out:
                for t in sorted({*self.report_iterations, self.done} & self._bests.keys()):
                    await self.ports.report(t, self._bests[t].id, self._bests[t].code)
            self.ports.journal.commit()
            return status
        finally:
            if self.source is not None and self._opened:
                await self.source.close(status)

    async def _seed(self) -> None:
        result, _ = await self.ports.evaluate(0, 0, 0, self.subject.x0)
        raise_if_unavailable(result)
        if valid_score(result.status, result.search_score) is None:
            raise InvalidSeed(f"the initial program is {result.status}: {result.reason}")
        x0 = self._program(0, self.subject.x0, result, None, "")
        self.ports.record("seed_evaluated", (), {"id": x0.id, "search_score": x0.search_score})
        self._programs[0] = self._bests[0] = x0
        self._tell(0, self.subject.x0, result, "")

    async def _proposals(self) -> str:
        for t in range(1, self.last + 1):
            if self.stop_requested:
                raise Stopped("stopped on request")
            proposal = await self._proposal(t)
            if proposal is None:
                return "budget"
            if "done" in proposal:
                return "finished"
            await self._evaluate(t, proposal)
            self.done = t
        return "finished"

    async def _proposal(self, t: int) -> Mapping[str, Any] | None:
        """The proposal of iteration ``t``, from the journal or the source; ``None``: no budget."""
        known = self.ports.holds("sample", (t,))
        if known is not None:
            return known
        if self.source is None:
            raise Incomplete(f"the journal holds no proposal of iteration {t}")
        self.ports.budget.check()
        if self.ports.budget.reached:
            return None
        self.ports.record("iteration_selected", (t,), {"t": t})
        self.ports.journal.commit()
        message = await self._ask(t, self.source)
        if message is None:
            return None
        data = {"t": t, **self._checked(t, message)}
        self.ports.record("sample", (t,), data)
        self.ports.journal.commit()
        return data

    async def _ask(self, t: int, source: Source) -> Mapping[str, Any] | None:
        """The next message; ``None`` when the hours of the run are used up before it comes."""
        budget = self.ports.budget
        left = None
        if budget.max_wall_s is not None:
            left = max(0.0, budget.max_wall_s - (budget.clock() - budget.started))
        patience = self.timeout_s if left is None else min(self.timeout_s, left)
        answer = asyncio.ensure_future(self._next(t, source))
        stop = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait(
                {answer, stop}, timeout=patience, return_when=asyncio.FIRST_COMPLETED
            )
            if answer.done():
                return answer.result()
        finally:
            for task in (answer, stop):
                task.cancel()
            await asyncio.gather(answer, stop, return_exceptions=True)
        if self.stop_requested:
            raise Stopped("stopped on request")
        budget.check()
        if budget.reached:
            return None
        raise MethodProblem(
            f"{source.name} proposed nothing for {self.timeout_s:g} s; raise proposal_timeout_s if "
            "it needs longer"
        )

    async def _next(self, t: int, source: Source) -> Mapping[str, Any]:
        if not self._opened:
            self._opened = True
            for verdict in self._verdicts:
                source.tell(verdict)
            await source.open({**self.start, "resumed": len(self._verdicts) - 1})
        return await source.ask(t)

    def _checked(self, t: int, message: Mapping[str, Any]) -> dict[str, Any]:
        """What is journalled of a message. Raises :class:`MethodProblem`."""
        assert self.source is not None
        clean = Secrets.of_environment().clean  # a process may print what it inherited
        if "done" in message:
            return {"done": clean(str(message["done"]))[:CHANGES_CHARS]}
        program, parent = message.get("program"), message.get("parent")
        if not isinstance(program, str) or not program.strip():
            raise MethodProblem(f"{self.source.name}: program must be a text that is not empty")
        if parent is None:
            parent = self.best.iteration
        if isinstance(parent, bool) or not isinstance(parent, int) or parent not in self._programs:
            raise MethodProblem(
                f"{self.source.name}: parent {parent!r} is no t of a program with a score"
            )
        changes = clean(str(message.get("changes") or ""))[:CHANGES_CHARS]
        return {"code": self.ports.blobs.put(clean(program)), "parent": parent, "changes": changes}

    async def _evaluate(self, t: int, proposal: Mapping[str, Any]) -> None:
        code, changes = self.ports.blobs.get(proposal["code"]), str(proposal["changes"])
        parent = self._programs[proposal["parent"]]
        parsed = ParsedCandidate("ok", code, changes)
        if len(code) > self.max_chars:
            why = f"{len(code)} characters; at most {self.max_chars} are accepted"
            parsed = ParsedCandidate("too_long", code, changes, why)
        candidate = Candidate(1, 0, Completion(""), parsed)
        if parsed.status == "ok":
            candidate.result, candidate.reruns = await self.ports.evaluate(t, 1, 0, code)
            raise_if_unavailable(candidate.result)
        child, inserted = None, None
        if candidate.score is not None:
            assert candidate.result is not None
            child = self._program(t, code, candidate.result, parent.id, changes)
            self._programs[t] = child
            inserted = InsertResult(admitted=True, new_best=self.best is child)
            self.ports.record(
                "inserted", (t,), {"t": t, "id": child.id, "admitted": True, "evicted": []}
            )
        self._bests[t] = self.best
        self._close(t, parent, candidate, child, inserted)
        self._tell(t, code, candidate.result, parsed.error)

    def _close(
        self,
        t: int,
        parent: Program,
        candidate: Candidate,
        child: Program | None,
        inserted: InsertResult | None,
    ) -> None:
        selection = Selection(parent, (), "", "", "", _no_prompt)
        drawn = Drawn([candidate], [""])
        record = iteration_record(
            t, selection, Retrieval(None), (), drawn, child, inserted, (), self.best
        )
        self.ports.blobs.put("")
        self.ports.record("iteration_done", (t,), record)
        self.ports.journal.commit()
        self.progress(record)

    def _tell(self, t: int, code: str, result: EvalResult | None, error: str) -> None:
        verdict = _verdict(t, code, result, error, self.best)
        self._verdicts.append(verdict)
        if self.source is not None and self._opened:
            self.source.tell(verdict)

    def _program(
        self, t: int, code: str, result: EvalResult, parent_id: str | None, changes: str
    ) -> Program:
        assert result.search_score is not None
        return Program(
            id=program_id(self.seed, t, 0, "child"),
            code=code,
            language=self.subject.language,
            search_score=result.search_score,
            objective=result.objective,
            metrics=dict(result.metrics),
            parent_id=parent_id,
            iteration=t,
            changes=changes,
        )


def _no_prompt(documents: str, failed: object) -> str:
    """We write no prompt."""
    return ""


def _verdict(
    t: int, code: str, result: EvalResult | None, error: str, best: Program
) -> dict[str, Any]:
    """What a source is told: nothing of stage ``report``, and nothing that differs by machine."""
    if result is None:
        result = EvalResult("invalid", None, reason=error)
    score = valid_score(result.status, result.search_score)
    status = "invalid" if result.status == "ok" and score is None else result.status
    return {
        "t": t,
        "program": code,
        "status": status,
        "search_score": score,
        "objective": result.objective,
        "metrics": dict(result.metrics),
        "feedback": result.feedback,
        "attachments": dict(result.attachments),
        "reason": result.reason,
        "best": {"t": best.iteration, "search_score": best.search_score},
    }
