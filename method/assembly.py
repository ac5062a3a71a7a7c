"""From a configuration to what runs: our outer loop with its parts, or a method of its own.

Everything that may be missing here (a package, a program, a client) is asked for before the folder
of the run is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

from benchmark.catalogue import find_task
from method.attempts import Subject
from method.budget import Budget
from method.config import RunConfig
from method.connections import Connections, connect
from method.engine import Engine
from method.journal import Blobs, Event
from method.ports import Ports
from method.proposing import ProposerRun
from method.protocols import LLM, EvaluatorPort, SearchBackend
from method.registry import make_retriever, make_scaffold, make_source, prompt_task
from method.searchcache import SearchCache


class Assembled(Protocol):
    """The parts of one run before it has a journal."""

    @property
    def clients(self) -> tuple[object, ...]:
        """What can be checked before the first paid call."""

    def connect(
        self, model: LLM | None, search: SearchBackend | None, events: Sequence[Event]
    ) -> None:
        """Make the clients, or take those given; ``events`` of a run that goes on."""

    def disconnect(self) -> None:
        """Give up what is not bound to an event loop."""

    async def aclose(self) -> None:
        """Give up what is."""

    def manifest(self) -> dict[str, Any]:
        """What the manifest says of the clients."""

    def engine(
        self,
        journal: Any,
        blobs: Blobs,
        evaluator: EvaluatorPort | None,
        manifest: Mapping[str, Any],
        last: int,
        stack: ExitStack | None = None,
    ) -> Any:
        """What is run up to iteration ``last``; without ``evaluator`` and ``stack`` a replay."""


def assemble(config: RunConfig, folder: Path, *, replaying: bool = False) -> Assembled:
    """The parts of a resolved configuration; a replay needs no source of proposals.

    Raises :class:`~method.config.ConfigProblem`.
    """
    if config.proposer:
        return _Proposing(config, folder, replaying)
    return _Looping(config, folder)


class _Looping:
    """Scaffold, retriever, model and search of our outer loop."""

    def __init__(self, config: RunConfig, folder: Path) -> None:
        self._config, self._folder = config, folder
        task = find_task(config.task)
        self._scaffold = make_scaffold(config, prompt_task(config, task))
        self._retriever = make_retriever(config, task)
        self._connections: Connections | None = None

    @property
    def clients(self) -> tuple[object, ...]:
        return () if self._connections is None else self._connections.clients

    def connect(
        self, model: LLM | None, search: SearchBackend | None, events: Sequence[Event]
    ) -> None:
        self._connections = connect(self._config, model, search, events)

    def disconnect(self) -> None:
        if self._connections is not None:
            self._connections.close()

    async def aclose(self) -> None:
        if self._connections is not None:
            await self._connections.aclose()

    def manifest(self) -> dict[str, Any]:
        assert self._connections is not None
        return self._connections.manifest()

    def engine(
        self,
        journal: Any,
        blobs: Blobs,
        evaluator: EvaluatorPort | None,
        manifest: Mapping[str, Any],
        last: int,
        stack: ExitStack | None = None,
    ) -> Engine:
        config, connections = self._config, self._connections
        model = None if connections is None else connections.model
        search = None if connections is None else connections.search
        assert config.max_attempts is not None
        engine = Engine(
            subject=_subject(config, manifest, blobs),
            settings=config.settings(),
            seed=config.seed,
            edit=config.edit,
            max_attempts=config.max_attempts,
            scaffold=self._scaffold,
            retriever=self._retriever,
            ports=_ports(config, journal, blobs, manifest, evaluator, model, search),
            report_iterations=config.report_iterations,
        )
        engine.last = last
        if stack is not None:
            engine.cache = stack.enter_context(SearchCache(self._folder))
        return engine


class _Proposing:
    """A method that proposes programs itself."""

    clients: tuple[object, ...] = ()

    def __init__(self, config: RunConfig, folder: Path, replaying: bool) -> None:
        self._config = config
        self._task = find_task(config.task)
        self._source = None if replaying else make_source(config, self._task, folder)

    def connect(
        self, model: LLM | None, search: SearchBackend | None, events: Sequence[Event]
    ) -> None:
        """It has no client of ours."""

    def disconnect(self) -> None:
        """There is nothing to give up."""

    async def aclose(self) -> None:
        """There is nothing to give up."""

    def manifest(self) -> dict[str, Any]:
        unknown = dict.fromkeys(("client", "search", "web", "blocklist"))
        return {"model": self._config.model, **unknown, "prices": {"models": {}, "search": {}}}

    def engine(
        self,
        journal: Any,
        blobs: Blobs,
        evaluator: EvaluatorPort | None,
        manifest: Mapping[str, Any],
        last: int,
        stack: ExitStack | None = None,
    ) -> ProposerRun:
        config = self._config
        subject = _subject(config, manifest, blobs)
        max_chars = config.resolved_rules().longest_candidate(subject.x0)
        return ProposerRun(
            subject=subject,
            last=last,
            seed=config.seed,
            max_chars=max_chars,
            ports=_ports(config, journal, blobs, manifest, evaluator, None, None),
            source=self._source,
            start=self._start(max_chars, last),
            timeout_s=config.proposal_timeout_s,
            report_iterations=config.report_iterations,
        )

    def _start(self, max_chars: int, last: int) -> dict[str, Any]:
        """What the method is told first; the initial program follows as iteration 0."""
        config, declared = self._config, self._task.declared
        prompt = prompt_task(config, self._task)
        return {
            "task": self._task.id,
            "title": declared.title,
            "language": declared.language,
            "instructions": self._task.instructions,
            "objective": {"name": declared.reporting_metric, "direction": declared.direction},
            "limits": {
                "wall_s": prompt.time_limit_s,
                "memory_mb": declared.limits.memory_mb,
                "program_chars": max_chars,
            },
            "budget": {"evaluations": last, "hours": config.max_hours},
            "seed": config.seed,
            "model": config.model,
            "options": config.method_options,
        }


def _subject(config: RunConfig, manifest: Mapping[str, Any], blobs: Blobs) -> Subject:
    task = find_task(config.task)
    return Subject(
        task=task.id,
        language=task.declared.language,
        x0=blobs.get(manifest["x0"]),
        held_out=manifest["held_out"],
        enforce_blocks=config.enforce_blocks,
    )


def _ports(
    config: RunConfig,
    journal: Any,
    blobs: Blobs,
    manifest: Mapping[str, Any],
    evaluator: EvaluatorPort | None,
    model: LLM | None,
    search: SearchBackend | None,
) -> Ports:
    budget = Budget(
        max_cost_usd=config.max_cost,
        max_tokens=config.max_tokens,
        max_wall_s=None if config.max_hours is None else config.max_hours * 3600,
        max_searches=config.max_searches,
    )
    return Ports(
        journal, blobs, model, search, evaluator,
        evaluator_version=manifest["evaluator_version"], budget=budget,
        outage=config.on_outage, workers=config.workers or 1,
    )  # fmt: skip
