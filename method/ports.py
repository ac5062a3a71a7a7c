"""The journalled doors of a run: model, search and evaluator behind one memory.

Every call has a key that depends on nothing but where it stands in the algorithm. A call whose
answer the journal holds is answered from it; any other is made and journalled before it returns.
So resuming is running again from the start, and a replay is a resume without clients. What the
algorithm computes itself (selections, decisions, insertions) is journalled by :meth:`Ports.record`,
which on the second time compares: a difference means that the run cannot be continued honestly.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from method.budget import Budget
from method.journal import Blobs, Event, EventName, Journal
from method.protocols import (
    LLM,
    Completion,
    EvalResult,
    EvaluatorPort,
    Request,
    SearchBackend,
    SearchResponse,
    Usage,
)
from method.stored import (
    finite_verdict,
    model_event,
    read_completion,
    read_response,
    read_verdict,
    search_event,
    verdict_event,
)

OUTAGE_AFTER = 5
"""So many transport failures in a row mean that a provider is down."""

_PAUSING = ("quota", "key")
_FROM_ANSWERS = ("gate", "round", "sample", "inserted", "scaffold_event")
"""Computed events that follow from what models and searches answered in their iteration."""


class Divergence(RuntimeError):
    """A resumed run computes something else than its journal says."""


class Paused(RuntimeError):
    """Something outside the run must be mended first; the run can be resumed (exit code 75)."""


class Incomplete(RuntimeError):
    """A replay reached a call that its journal does not hold."""


class Ports:
    """One run's calls. ``llm``, ``search`` and ``evaluator`` are ``None`` in a replay."""

    def __init__(
        self,
        journal: Journal,
        blobs: Blobs,
        llm: LLM | None,
        search: SearchBackend | None,
        evaluator: EvaluatorPort | None,
        *,
        evaluator_version: str,
        budget: Budget,
        outage: str = "pause",
        workers: int = 1,
    ) -> None:
        self.journal = journal
        self.blobs = blobs
        self.budget = budget
        self._llm = llm
        self._search = search
        self._evaluator = evaluator
        self._version = evaluator_version
        self._outage = outage
        self._workers = asyncio.Semaphore(workers)
        self._failures = 0
        self._counts: Counter[tuple[Any, ...]] = Counter()
        self._closed = {e.data["t"] for e in journal.events if e.name == "iteration_done"}
        if any(event.name == "iteration_selected" for event in journal.events):
            self._closed.add(0)  # the start of the scaffold is over
        self._known: dict[tuple[Any, ...], Event] = {}
        self._started: set[tuple[Any, ...]] = set()
        for event in journal.events:
            self._remember(event)
            self._charge(event)

    # --- computed by the algorithm -------------------------------------------------------------

    def record(self, name: EventName, key: tuple[Any, ...], data: Mapping[str, Any]) -> None:
        """Journal what was computed at ``key``, or compare it with what was journalled before.

        In an iteration that was left open, failed calls are made again, so what follows from their
        answers may be new; it is journalled once more. Raises :class:`Divergence` on any other
        difference.
        """
        known = self._known.get((name, *key))
        if known is None:
            self._append(name, {**data, "key": list(key)})
            return
        before = {field: value for field, value in known.data.items() if field != "key"}
        now = json.loads(json.dumps(data))
        if before == now:
            return
        if name in _FROM_ANSWERS and key[0] not in self._closed:
            self._append(name, {**data, "key": list(key)})
        else:
            differing = sorted(f for f in before.keys() | now if before.get(f) != now.get(f))
            raise Divergence(
                f"replay divergence at {name} {key}: {', '.join(differing)} differ; the code or "
                "the configuration is not what the run was started with"
            )

    def holds(self, name: EventName, key: tuple[Any, ...]) -> Mapping[str, Any] | None:
        """What the journal holds at ``key``."""
        event = self._known.get((name, *key))
        return None if event is None else event.data

    # --- model ---------------------------------------------------------------------------------

    async def sample(self, t: int, request: Request) -> list[Completion]:
        """One completion for each slot; raises :class:`Paused` when the provider is down."""
        keys = [self._numbered("model_call", t, request.purpose, slot) for slot in request.slots]
        known = [self._answer(key) for key in keys]
        missing = [slot for slot, event in zip(request.slots, known, strict=True) if event is None]
        fresh: dict[int, Completion] = {}
        if missing:
            wanted = replace(request, slots=tuple(missing))
            prompt = self.blobs.put(json.dumps(list(request.messages), ensure_ascii=False))
            fresh = await self._call_model(
                t, wanted, prompt, dict(zip(request.slots, keys, strict=True))
            )
        answers = [
            read_completion(event.data, self.blobs) if event is not None else fresh[slot]
            for slot, event in zip(request.slots, known, strict=True)
        ]
        self._check_outage(answers)
        return answers

    async def _call_model(
        self, t: int, request: Request, prompt: str, keys: Mapping[int, tuple[Any, ...]]
    ) -> dict[int, Completion]:
        if self._llm is None:
            raise Incomplete(f"the journal holds no answer to {keys[request.slots[0]]}")
        self.budget.check()
        llm = self._llm
        for slot in request.slots:
            self._append("call_started", {"key": list(keys[slot]), "t": t, "what": "model"})
        self.journal.commit()

        async def one(slot: int) -> Completion:
            (answer,) = await llm.sample(replace(request, slots=(slot,)))
            answer = replace(answer, call_id=":".join(map(str, keys[slot])))
            # Written when it arrives: a crash never pays for a token twice.
            self._append(
                "model_call", model_event(t, request, slot, keys[slot], prompt, answer, self.blobs)
            )
            self.journal.commit()
            self.budget.spend(answer.cost_usd, _tokens(answer.usage))
            return answer

        answers = await asyncio.gather(*(one(slot) for slot in request.slots))
        return dict(zip(request.slots, answers, strict=True))

    # --- search --------------------------------------------------------------------------------

    async def search(
        self, t: int, scope: str, query: str, max_results: int, depth: str
    ) -> SearchResponse:
        """One search; raises :class:`Paused` when the backend is down or out of quota."""
        key = self._numbered("search", t, scope, query)
        event = self._answer(key)
        if event is not None:
            response = read_response(event.data, self.blobs)
        else:
            if self._search is None:
                raise Incomplete(f"the journal holds no answer to {key}")
            self.budget.check()
            self._append("call_started", {"key": list(key), "t": t, "what": "search"})
            self.journal.commit()
            response = await self._search.search(query, max_results, depth)
            self._append(
                "search", search_event(t, key, query, max_results, depth, response, self.blobs)
            )
            self.journal.commit()
            self.budget.spend(response.cost_usd, 0, searches=1)
        self._check_outage([response])
        return response

    # --- evaluation ----------------------------------------------------------------------------

    async def evaluate(self, t: int, attempt: int, slot: int, code: str) -> tuple[EvalResult, int]:
        """The verdict on one candidate and how often a crash made it run again.

        Evaluated only if no verdict of this evaluator version on this code is in the journal; that
        the harness broke is no verdict.
        """
        sha256 = hashlib.sha256(code.encode("utf-8", errors="surrogatepass")).hexdigest()
        key = ("evaluation", t, attempt, slot, sha256, self._version)
        event = self._known.get(key)
        if event is not None and not _broke(event):
            return read_verdict(event.data), int(event.data["reruns"])
        if self._evaluator is None:
            raise Incomplete(f"the journal holds no verdict on {key[1:4]}")
        reruns = int(("evaluation_started", *key[1:]) in self._started)
        self.blobs.put(code)
        async with self._workers:  # who waits for a worker has not started
            self._append("evaluation_started", {"key": list(key[1:]), "t": t})
            self.journal.commit()
            result = finite_verdict(await self._evaluator.evaluate(code))
        self._append("evaluation", {**verdict_event(t, key[1:], result), "reruns": reruns})
        self.journal.commit()
        return result, reruns

    async def report(self, t: int, program_id: str, code: str) -> EvalResult:
        """The reporting score of the best after iteration ``t``; never shown to the method."""
        key = (t, program_id, self._version)
        event = self._known.get(("report_evaluation", *key))
        if event is not None and not _broke(event):
            return read_verdict(event.data)
        result = self._reported(program_id)
        if result is None:
            if self._evaluator is None:
                raise Incomplete(f"the journal holds no report of iteration {t}")
            result = finite_verdict(await self._evaluator.report(code))
        self._append("report_evaluation", verdict_event(t, key, result))
        self.journal.commit()
        return result

    def _reported(self, program_id: str) -> EvalResult | None:
        """What was reported of a program for another iteration: each is evaluated once."""
        for name, *key in self._known:
            if name == "report_evaluation" and key[1:] == [program_id, self._version]:
                event = self._known[(name, *key)]
                if not _broke(event):
                    return read_verdict(event.data)
        return None

    # --- memory --------------------------------------------------------------------------------

    def _append(self, name: EventName, data: Mapping[str, Any]) -> None:
        self._remember(self.journal.append(name, data))

    def _remember(self, event: Event) -> None:
        key = event.data.get("key")
        if key is None:
            return
        if event.name in ("call_started", "evaluation_started"):
            self._started.add((event.name, *key))
        else:
            self._known[(event.name, *key)] = event

    def _charge(self, event: Event) -> None:
        """What a run spent before it was resumed counts too."""
        if event.name in ("model_call", "search"):
            answer = event.data["answer"]
            tokens = _tokens(Usage(**answer["usage"])) if event.name == "model_call" else 0
            self.budget.spend(answer["cost_usd"], tokens, searches=int(event.name == "search"))

    def _numbered(self, name: str, *place: Any) -> tuple[Any, ...]:
        """The place of a call with the number of its like before it."""
        self._counts[(name, *place)] += 1
        return (*place, self._counts[(name, *place)] - 1)

    def _answer(self, key: tuple[Any, ...]) -> Event | None:
        """A journalled answer, unless it is a failure of an iteration that is still open."""
        event = self._known.get(("model_call", *key)) or self._known.get(("search", *key))
        if event is None:
            return None
        failed = event.data["answer"].get("error_kind") in ("transport", *_PAUSING)
        return None if failed and event.data["t"] not in self._closed else event

    def _check_outage(self, answers: list[Any]) -> None:
        for answer in answers:
            if answer.error_kind in _PAUSING and self._outage == "pause":
                raise Paused(f"{answer.error_kind}: {answer.error}")
            self._failures = self._failures + 1 if answer.error_kind == "transport" else 0
            if self._failures >= OUTAGE_AFTER and self._outage == "pause":
                raise Paused(f"{OUTAGE_AFTER} calls in a row failed, the last: {answer.error}")


def _broke(event: Event) -> bool:
    """Whether an evaluation failed by no fault of its program: it is made again at resume."""
    return bool(event.data["result"]["status"] == "unavailable")


def _tokens(usage: Usage) -> int:
    return (usage.prompt or 0) + (usage.completion or 0)
