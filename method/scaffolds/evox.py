"""EvoX: the way of choosing parents is itself searched for (methods.md 4.4).

The active strategy is code that a model wrote. It lives in a sandboxed process and answers with
ids; the programs themselves, and every score, stay here. A strategy that raises, takes too long,
changes what it holds or does something forbidden is rolled back to the one before it.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchmark.sandbox import launch
from method.parsing.candidates import parse_candidate
from method.protocols import LLM, FailedAttempt, InsertResult, Program, Sampling, Selection
from method.scaffolds.base import select_with_prompt
from method.scaffolds.evox_process import CallLimits, HostBroken, StrategyFailed, StrategyHost
from method.scaffolds.evox_prompts import StrategyWriter, default_guides
from method.scaffolds.evox_strategies import (
    ATTEMPTS,
    StrategyScores,
    Window,
    as_fields,
    first_strategy,
    statistics_of,
)
from method.scaffolds.evox_world import CONTEXT, digest
from method.scaffolds.options import EvoXOptions
from method.scaffolds.packages import metrics_of
from method.scaffolds.solution_prompt import PromptTask

LONGEST_STRATEGY = 100_000


@dataclass(frozen=True)
class EvoXSettings:
    """What EvoX needs of a run's configuration."""

    iterations: int
    sampling: Sampling
    options: EvoXOptions
    isolation: str = "auto"
    limits: CallLimits = field(default_factory=CallLimits)


@dataclass
class Strategy:
    """A strategy that is or was in force, and the ids it held when last asked."""

    number: int
    code: str
    kept: list[str] = field(default_factory=list)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.code.encode("utf-8", errors="surrogatepass")).hexdigest()


class EvoX:
    """:class:`~method.protocols.Scaffold` whose population is kept by a sandboxed strategy."""

    name = "evox"

    def __init__(self, task: PromptTask, settings: EvoXSettings) -> None:
        self._task = task
        self._settings = settings
        self.counts_attempts = settings.options.count_attempts
        self._programs: dict[str, Program] = {}
        self._digests: dict[str, str] = {}
        self._in_force: list[Strategy] = []
        self._since: list[str] = []
        self._events: list[Mapping[str, Any]] = []
        self._labels: dict[str, str] = {}
        self._number = 0
        self._clock = 0
        self._host: StrategyHost | None = None

    # --- the protocol --------------------------------------------------------------------------

    async def start(self, seed: Program, rng_seed: int, llm: LLM) -> None:
        settings = self._settings
        self._launcher = launch.choose(settings.isolation, threads=1)
        self._seeds = random.Random(f"{rng_seed}:host")
        window = Window.of(settings.iterations, settings.options.window)
        self._scores = StrategyScores(rng_seed, window)
        self._writer = StrategyWriter(self._task, settings.sampling, window)
        if settings.options.guides == "generated":
            self._labels = await self._writer.write_guides(llm, seed.code)
        else:
            self._labels = default_guides()
        self._enter(seed)
        first = Strategy(0, first_strategy())
        self._put_in_force(first, [seed.id], check=False)
        self._scores.take(first.code, seed.search_score, 0, self._statistics())

    async def select(self, t: int) -> Selection:
        choice = self._choose()
        names = list(dict.fromkeys(choice["context"]))[:CONTEXT]
        chosen = [self._programs[name] for name in names]
        parent, kind = self._programs[choice["parent"]], choice["label"]
        retained = await self.retained()
        selection = select_with_prompt(self._task, t, parent, chosen, retained, kind)
        if not kind:
            return selection

        def build(documents: str, failed: Sequence[FailedAttempt]) -> str:
            guide = self._labels[kind].strip()
            prompt = selection.build_prompt(documents, failed)
            return f"# Direction of this attempt\n{guide}\n\n{prompt}"

        return replace(selection, build_prompt=build)

    async def insert(self, t: int, child: Program, selection: Selection) -> InsertResult:
        best = self._best()
        before = self._active.kept
        self._enter(child)
        self._since.append(child.id)
        try:
            self._call("add", program=as_fields(child, self._labels))
            self._refresh()
        except StrategyFailed as failure:
            self._roll_back(str(failure))
        kept = set(self._active.kept)
        return InsertResult(
            admitted=child.id in kept,
            evicted=tuple(sorted(set(before) - kept)),
            new_best=child.search_score > best,
        )

    async def retained(self) -> Sequence[Program]:
        return [self._programs[name] for name in self._active.kept]

    async def after_iteration(
        self, t: int, child: Program | None, attempts: int, llm: LLM
    ) -> list[Mapping[str, Any]]:
        steps = attempts if self.counts_attempts else 1
        self._clock += steps
        due = self._scores.record(self._best(), steps)
        if due and self._clock < self._settings.iterations:
            await self._replace_strategy(llm)
        events, self._events = self._events, []
        return events

    async def fingerprint(self) -> str:
        facts = (
            [(name, program.search_score) for name, program in self._programs.items()],
            [(strategy.number, strategy.sha256, strategy.kept) for strategy in self._in_force],
            self._labels,
            self._number,
            self._clock,
            self._seeds.getstate(),
            self._scores.state(),
        )
        return hashlib.sha256(repr(facts).encode(errors="surrogatepass")).hexdigest()

    async def close(self) -> None:
        if self._host is not None:
            self._host.close()
            self._host = None

    # --- the strategy in force -----------------------------------------------------------------

    @property
    def _active(self) -> Strategy:
        return self._in_force[-1]

    def _call(self, name: str, **arguments: Any) -> Any:
        assert self._host is not None
        return self._host.call(name, **arguments)

    def _choose(self) -> Mapping[str, Any]:
        """Parent and context of the next iteration, from the first strategy that gives them."""
        why = ""
        for _ in range(len(self._in_force) + 1):
            try:
                return self._sample()
            except StrategyFailed as failure:
                why = str(failure)
            self._roll_back(why)
        raise HostBroken(f"EvoX's first strategy fails: {why}")

    def _sample(self) -> Mapping[str, Any]:
        """What the strategy in force chooses, checked."""
        choice = self._call("sample", count=CONTEXT)
        try:
            names = [choice["parent"], *choice["context"]]
            known = all(name in self._programs for name in names)
            if not known or choice["label"] not in ("", *self._labels):
                raise StrategyFailed("sample() returned a program that the strategy was not given")
        except (KeyError, TypeError):
            raise StrategyFailed("sample() did not return parent and context") from None
        self._refresh()
        result: Mapping[str, Any] = choice
        return result

    def _refresh(self) -> None:
        """Ask what the strategy holds; it must be programs that it was given, unchanged."""
        self._active.kept = self._checked(self._call("retained"))

    def _checked(self, rows: Any) -> list[str]:
        kept: dict[str, None] = {}
        try:
            for name, value in rows:
                if value != self._digests[name]:
                    raise StrategyFailed("the strategy changed the metrics or source of a program")
                kept[name] = None
        except (KeyError, TypeError, ValueError):
            raise StrategyFailed("the strategy holds programs that it was not given") from None
        if not kept:
            raise StrategyFailed("the strategy holds no program")
        return list(kept)

    def _put_in_force(self, strategy: Strategy, names: Iterable[str], check: bool) -> None:
        """Start a process with the strategy and give it programs. Raises ``StrategyFailed``."""
        host = StrategyHost(self._launcher, strategy.code, self._settings.limits)
        try:
            programs = [as_fields(self._programs[name], self._labels) for name in names]
            host.call(
                "load",
                seed=self._seeds.getrandbits(32),
                labels=self._labels,
                programs=programs,
                check=check,
            )
            strategy.kept = self._checked(host.call("retained"))
        except BaseException:
            host.close()
            raise
        if self._host is not None:
            self._host.close()
        self._host = host
        self._in_force.append(strategy)
        self._since = []

    def _roll_back(self, why: str) -> None:
        """Return to the strategy before; it is given what was found since it was left.

        The first strategy, which is the package's own, is started once more. Raises
        :class:`HostBroken` when that fails.
        """
        if self._host is not None:
            self._host.close()  # it may be computing still
        names = set(self._active.kept) | set(self._since)
        while True:
            failed = self._in_force.pop()
            earlier = self._in_force.pop() if self._in_force else failed
            self._note("rolled_back", failed, reason=why)
            if earlier is not failed:
                self._scores.drop()
            names |= set(earlier.kept)
            again = Strategy(earlier.number, earlier.code)
            try:
                self._put_in_force(again, self._in_order(names), check=False)
                return
            except StrategyFailed as failure:
                if earlier is failed:
                    raise HostBroken(f"EvoX's first strategy fails: {failure}") from None
                why = str(failure)
                self._in_force.append(earlier)

    def _enter(self, program: Program) -> None:
        self._programs[program.id] = program
        self._digests[program.id] = digest(program.code, metrics_of(program))

    def _in_order(self, names: set[str]) -> list[str]:
        """Oldest first."""
        return [name for name in self._programs if name in names]

    # --- new strategies ------------------------------------------------------------------------

    async def _replace_strategy(self, llm: LLM) -> None:
        """Score the strategy in force and ask for another one, which must work to be taken."""
        best, statistics = self._best(), self._statistics()
        score = self._scores.close_window(self._active.number, best, self._clock, statistics)
        if score is not None:
            self._note("scored", self._active, score=score)
        parent, shown = self._scores.choose()
        prompt = await self._writer.write_prompt(llm, self._clock, statistics, parent, shown)
        refusal = ""
        for attempt in range(1, ATTEMPTS + 1):
            answer = await self._writer.ask_for_strategy(llm, prompt, refusal)
            if not answer:
                self._note("unanswered", self._active, attempt=attempt)
                return
            parsed = parse_candidate(answer, prompt.current, "python", "full", LONGEST_STRATEGY)
            if parsed.status != "ok" or parsed.code is None:
                refusal = parsed.error
                self._note("unreadable", self._active, attempt=attempt, reason=refusal)
                continue
            self._number += 1
            strategy = Strategy(self._number, parsed.code)
            try:
                self._put_in_force(strategy, self._in_order(set(self._active.kept)), check=True)
            except StrategyFailed as failure:
                refusal = str(failure)
                self._note("refused", strategy, attempt=attempt, reason=refusal)
                continue
            self._note("taken", strategy, attempt=attempt)
            self._scores.take(strategy.code, best, self._clock, statistics)
            return

    def _note(self, what: str, strategy: Strategy, **more: Any) -> None:
        event = {"kind": "strategy", "what": what, "number": strategy.number}
        self._events.append({**event, "code_sha256": strategy.sha256, **more})

    def _best(self) -> float:
        return max(program.search_score for program in self._programs.values())

    def _statistics(self) -> dict[str, Any]:
        programs = [self._programs[name] for name in self._active.kept]
        return statistics_of(programs)
