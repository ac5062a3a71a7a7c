"""Runs: start, go on, extend, replay.

A run is a folder: its journal, the blobs beside it, and projections that are written when it
stops: ``trace.jsonl``, ``documents.jsonl`` and ``summary.json``.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.availability import availability
from benchmark.evaluation import prepare
from benchmark.harness import Harness
from benchmark.verification.store import FOLDER as ARTIFACT_FOLDER
from method.assembly import Assembled, assemble
from method.cassette import CassetteMiss
from method.config import ConfigProblem, RunConfig
from method.documents import write_documents
from method.engine import EvaluatorUnavailable, InvalidSeed, Stopped
from method.evaluators import HarnessEvaluator
from method.journal import FILE_NAME, Blobs, Event, Journal, JournalError, read_journal
from method.manifest import (
    iterations_of,
    manifest_config,
    manifest_of,
    new_manifest,
    resolved,
    status_of,
)
from method.ports import Paused
from method.preflight import PreflightProblem, preflight
from method.protocols import LLM, EvaluatorPort, SearchBackend
from method.summary import best_program, summarise, write_summary
from method.trace import write_trace

__all__ = [
    "Clients",
    "InvalidSeed",
    "RunResult",
    "best_program",
    "manifest_config",
    "replay",
    "resolved",
    "resume",
    "run",
    "summarise",
]

GRACE_S = 30.0
"""How long calls in flight may take to finish after the first interrupt."""

Progress = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True)
class RunResult:
    """A run that stopped; ``summary`` is the object of ``summary.json``.

    Its fields are attributes, too: ``ndg``, ``best``, ``x0``, ``cost_usd``, ...
    """

    folder: Path
    status: str
    summary: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any:
        if name != "summary" and name in self.summary:
            return self.summary[name]
        raise AttributeError(f"a run's result has no {name!r}")


@dataclass(frozen=True)
class Clients:
    """What a run talks to; ``None``: made from the configuration."""

    model: LLM | None = None
    search: SearchBackend | None = None
    evaluator: EvaluatorPort | None = None


_BEFORE_A_RUN = frozenset((".lock", "blobs", ARTIFACT_FOLDER))
"""What a run writes before its journal; a kill may leave it alone."""


def run(
    config: RunConfig,
    out: Path,
    *,
    clients: Clients = Clients(),
    progress: Progress = lambda record: None,
) -> RunResult:
    """Start a run in the new folder ``out``.

    Raises :class:`ConfigProblem` when ``out`` holds a run already,
    :class:`~method.engine.InvalidSeed`, :class:`~method.engine.EvaluatorUnavailable`, and
    :class:`~method.ports.Paused` or :class:`~method.engine.Stopped` when it can be resumed. What
    can be known to be missing (a package, a key, data) is noticed before the folder is made.
    """
    if (out / FILE_NAME).exists():
        if read_journal(out):  # none: killed before its first event
            raise ConfigProblem(f"{out}: holds a run already; go on with `evoduet resume {out}`")
    elif out.is_dir() and any(entry.name not in _BEFORE_A_RUN for entry in out.iterdir()):
        raise ConfigProblem(f"{out}: is not empty; name a folder that is new or empty")
    return _drive(resolved(config), out, clients, progress)


def resume(
    folder: Path,
    *,
    iterations: int | None = None,
    clients: Clients = Clients(),
    progress: Progress = lambda record: None,
) -> RunResult:
    """Go on with a run: what its journal holds is neither asked nor evaluated again.

    ``iterations`` extends it to a larger T, finished or not. What depends on T (the stagnation
    gate's window, EvoX's horizon) stays as the run was started, so that a replay is identical.
    """
    if iterations is not None:
        events = read_journal(folder)
        if iterations <= iterations_of(events):
            raise ConfigProblem(
                f"--iterations {iterations}: T of {folder} is {iterations_of(events)} already; "
                "give more"
            )
        if any(event.name == "sample" and "done" in event.data for event in events):
            raise ConfigProblem(f"{folder}: its method said that it is done; start a new run")
    return _drive(manifest_config(folder), folder, clients, progress, iterations)


def replay(folder: Path) -> RunResult:
    """Run a finished journal again without any client, in memory.

    Raises :class:`~method.ports.Divergence` or :class:`~method.ports.Incomplete` when the result
    would not be identical.
    """
    config = manifest_config(folder, replaying=True)
    events = read_journal(folder)
    journal = _Memory(events)
    engine = assemble(config, folder, replaying=True).engine(
        journal, Blobs(folder), None, manifest_of(events), _last(events)
    )
    status = asyncio.run(engine.run())
    if journal.added:
        raise JournalError(f"{folder}: the replay computed events that the journal does not hold")
    return RunResult(folder, status, summarise(folder))


def _last(events: Sequence[Event]) -> int:
    """The iteration that a replay goes up to: a run that stopped at its budget has no more."""
    if status_of(events) == "budget":
        return sum(event.name == "iteration_done" for event in events)
    return iterations_of(events)


class _Memory:
    """A journal in memory for replays: holds the events read, counts those added."""

    def __init__(self, events: list[Event]) -> None:
        self.events = list(events)
        self.added = 0

    def append(self, name: Any, data: Mapping[str, Any]) -> Event:
        event = Event(len(self.events), "", name, data)
        self.events.append(event)
        self.added += 1
        return event

    def commit(self) -> None:
        """Nothing is written."""


def _drive(
    config: RunConfig,
    folder: Path,
    clients: Clients,
    progress: Progress,
    extended: int | None = None,
) -> RunResult:
    """Start or go on; a disk that cannot be written in mid-run is something to mend, then resume.

    The journal holds what was committed, so nothing is lost.
    """
    try:
        return _driven(config, folder, clients, progress, extended)
    except OSError as error:
        journal = folder / FILE_NAME
        if not journal.is_file() or not journal.stat().st_size:
            raise
        reason = error.strerror or str(error)
        raise Paused(f"{folder}: {reason}; make room there or make it writable") from error


def _driven(
    config: RunConfig, folder: Path, clients: Clients, progress: Progress, extended: int | None
) -> RunResult:
    try:
        status = _session(config, folder, clients, progress, extended)
    except (*_PAUSES, InvalidSeed):
        if (folder / FILE_NAME).is_file():
            _project(folder)
        raise
    return RunResult(folder, status, _project(folder))


_PAUSES = (Paused, Stopped, KeyboardInterrupt, CassetteMiss, EvaluatorUnavailable)
"""What ends a session of a run that can go on."""


def _session(
    config: RunConfig, folder: Path, clients: Clients, progress: Progress, extended: int | None
) -> str:
    """Run until the end or a pause, and journal which of them it was."""
    before = read_journal(folder) if (folder / FILE_NAME).exists() else []
    with ExitStack() as stack:
        parts = assemble(config, folder)
        parts.connect(clients.model, clients.search, before)
        stack.callback(parts.disconnect)
        _preflight(parts, config, resumed=bool(before))
        evaluator = clients.evaluator or _harness_evaluator(config, folder, stack)
        journal = stack.enter_context(Journal(folder))
        if not journal.events:
            fresh = new_manifest(config, folder, evaluator, parts.manifest())
            journal.append("run_started", fresh)
        if extended is not None:
            journal.append("extended", {"iterations": extended})
        journal.commit()
        engine = parts.engine(
            journal, Blobs(folder), evaluator, manifest_of(journal.events),
            iterations_of(journal.events), stack,
        )  # fmt: skip
        engine.progress = progress
        try:
            status = asyncio.run(_run_and_hang_up(engine, parts))
        except _PAUSES as reason:
            external = isinstance(reason, Paused | EvaluatorUnavailable)
            text = str(reason) or "interrupted"
            journal.append("interrupted", {"reason": text, "external": external})
            raise
        except InvalidSeed as problem:
            _end(journal, {"status": "failed", "done": 0, "reason": str(problem)})
            raise
        _end(journal, {"status": status, "done": engine.done})
    return status


def _end(journal: Journal, data: Mapping[str, Any]) -> None:
    """Journal how a run ended, unless nothing happened since it ended so."""
    last = journal.events[-1]
    if (last.name, last.data) != ("run_finished", data):
        journal.append("run_finished", data)


def _project(folder: Path) -> dict[str, Any]:
    """Write what is derived from the journal; returns the summary."""
    write_trace(folder)
    write_documents(folder)
    return write_summary(folder)


def _preflight(parts: Assembled, config: RunConfig, *, resumed: bool) -> None:
    """Before anything is paid for; a run that waits for quota or key goes on waiting."""
    try:
        asyncio.run(preflight(parts.clients, config.max_cost))
    except PreflightProblem as problem:
        if resumed and problem.waiting:
            raise Paused(str(problem)) from None
        raise


def _harness_evaluator(config: RunConfig, folder: Path, stack: ExitStack) -> EvaluatorPort:
    setup = prepare(config.task, config.variant, config.options)
    state = availability(setup.task)
    if not state.available:
        raise EvaluatorUnavailable(f"{setup.task.id}: {state.summary}")
    assert config.workers is not None
    harness = Harness(config.isolation, workers=config.workers, prewarm=True)
    wall_s = None if isinstance(config.eval_wall_s, str) else config.eval_wall_s
    return HarnessEvaluator(setup, stack.enter_context(harness), wall_s, folder / ARTIFACT_FOLDER)


async def _run_and_hang_up(engine: Any, parts: Assembled) -> str:
    try:
        return await _with_signals(engine)
    finally:
        await parts.aclose()


async def _with_signals(engine: Any) -> str:
    """Run; the first SIGINT or SIGTERM lets calls in flight finish, the second ends at once."""
    loop = asyncio.get_running_loop()
    main = asyncio.current_task()
    assert main is not None

    def on_signal() -> None:
        if engine.stop_requested:
            main.cancel()
            return
        engine.stop_requested = True
        loop.call_later(GRACE_S, main.cancel)

    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(ValueError, RuntimeError):  # not in the main thread: the caller's business
            loop.add_signal_handler(number, on_signal)
    try:
        status: str = await engine.run()
        return status
    except asyncio.CancelledError:
        raise Stopped("stopped on request, calls in flight were given up") from None
