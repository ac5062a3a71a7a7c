"""The attempts of one iteration: draw, read and evaluate candidates (methods.md 1.2, 7 to 9).

All attempts of an iteration share parent, documents and decision; another one is made only when
the last has no valid candidate (A7), and its prompt shows what failed.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from method.parsing.candidates import parse_candidate
from method.ports import Ports
from method.protocols import (
    Completion,
    EvalResult,
    FailedAttempt,
    ParsedCandidate,
    Request,
    Retrieval,
    Retriever,
    RunContext,
    Selection,
    Settings,
)
from method.rendering import given_text
from method.retrievers.joint import Joint
from method.rules import Rules


class EvaluatorUnavailable(RuntimeError):
    """The evaluator lacks data or tools, or broke: the run ends (exit code 3)."""


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


def valid_score(status: str, score: Any) -> float | None:
    """A search score that may be compared: of status ``ok``, a finite number, no boolean."""
    if status != "ok" or isinstance(score, bool) or not isinstance(score, int | float):
        return None
    try:
        value = float(score)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def best_slot(scores: Sequence[float | None]) -> int | None:
    """Index of the best score; among equals the lowest; ``None`` when there is none."""
    valid = [index for index, score in enumerate(scores) if score is not None]
    return max(valid, key=lambda index: (scores[index], -index), default=None)


def select_candidate(candidates: Sequence[Candidate]) -> Candidate | None:
    """The candidate with the best valid search score; among equals the lowest slot."""
    index = best_slot([candidate.score for candidate in candidates])
    return None if index is None else candidates[index]


@dataclass
class Drawn:
    """All samples of an iteration in order, the prompts of its attempts, searches made meanwhile.

    ``rounds`` are the trace's entries of retrieval by the generating calls themselves.
    """

    candidates: list[Candidate] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    rounds: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def attempts(self) -> int:
        """How many attempts were made."""
        return self.candidates[-1].attempt

    @property
    def chosen(self) -> Candidate | None:
        """The selected candidate, always one of the last attempt."""
        return select_candidate([c for c in self.candidates if c.attempt == self.attempts])


@dataclass
class Attempts:
    """Draws the candidates of iterations, at most ``max_attempts`` times each.

    ``check_stop`` is called before each attempt and raises when the run has been asked to stop.
    """

    subject: Subject
    settings: Settings
    edit: Literal["diff", "full"]
    max_attempts: int
    retriever: Retriever
    ports: Ports
    check_stop: Callable[[], None]

    async def draw(self, run: RunContext, selection: Selection, retrieval: Retrieval) -> Drawn:
        """Sample until one candidate is valid or the attempts are used up.

        Raises :class:`EvaluatorUnavailable` and what :class:`~method.ports.Ports` raises.
        """
        drawn = Drawn()
        failed: list[FailedAttempt] = []
        for attempt in range(1, self.max_attempts + 1):
            self.check_stop()
            prompt = selection.build_prompt(given_text(retrieval), failed)
            drawn.prompts.append(prompt)
            batch = await self._sample(run, selection, retrieval, drawn, attempt)
            await self._evaluate(run.t, batch)
            drawn.candidates += batch
            if select_candidate(batch) is not None:
                break
            if len(batch) == 1 and batch[0].completion.error is not None:
                break
            failed += [_failed_attempt(candidate) for candidate in batch]
        return drawn

    async def _sample(
        self,
        run: RunContext,
        selection: Selection,
        retrieval: Retrieval,
        drawn: Drawn,
        attempt: int,
    ) -> list[Candidate]:
        """One parsed answer for each slot."""
        slots, prompt = tuple(range(retrieval.n_candidates)), drawn.prompts[-1]
        if retrieval.generator == "tool_loop":
            assert isinstance(self.retriever, Joint)
            samples = await self.retriever.generate(
                run, selection.system_prompt, prompt, slots, attempt
            )
            drawn.rounds += [entry for sample in samples for entry in sample.rounds]
            answers = [(sample.completion, sample.flags) for sample in samples]
        else:
            messages = (
                {"role": "system", "content": selection.system_prompt},
                {"role": "user", "content": prompt},
            )
            request = Request("generation", messages, self.settings.sampling, slots=slots)
            answers = [(answer, ()) for answer in await run.sample(request)]
        batch = [
            Candidate(attempt, slot, answer, self._parse(answer, selection), flags)
            for slot, (answer, flags) in enumerate(answers)
        ]
        for candidate in batch:
            self._note(run.t, candidate)
        return batch

    def _note(self, t: int, candidate: Candidate) -> None:
        """Journal what was read from a sample; the answer itself is the call's."""
        parsed = candidate.parsed
        code = None if parsed is None else parsed.code
        self.ports.record(
            "sample",
            (t, candidate.attempt, candidate.slot),
            {
                "t": t,
                "attempt": candidate.attempt,
                "slot": candidate.slot,
                "call_id": candidate.completion.call_id,
                "parse": "llm_error" if parsed is None else parsed.status,
                "code_sha256": None if code is None else sha256_of(code),
            },
        )

    def _parse(self, answer: Completion, selection: Selection) -> ParsedCandidate | None:
        if answer.error is not None:
            return None
        rules: Rules = self.settings.rules
        return parse_candidate(
            answer.text,
            selection.parent.code,
            self.subject.language,
            self.edit,
            rules.longest_candidate(self.subject.x0),
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
            raise_if_unavailable(candidate.result)

        parsed = [c for c in batch if c.parsed is not None and c.parsed.status == "ok"]
        await asyncio.gather(*(one(candidate) for candidate in parsed))


def sha256_of(text: str) -> str:
    """Name of a text among the blobs of a run."""
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def raise_if_unavailable(result: EvalResult) -> None:
    """Raise :class:`EvaluatorUnavailable` with the evaluator's reason."""
    if result.status == "unavailable":
        raise EvaluatorUnavailable(result.reason)


def _failed_attempt(candidate: Candidate) -> FailedAttempt:
    code = candidate.parsed.code if candidate.parsed is not None else None
    return FailedAttempt(candidate.failure, code or candidate.completion.text)
