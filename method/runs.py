"""Runs: start, resume, replay, and what a run has found so far.

A run is a folder: its journal, the blobs beside it, and two projections that are written when it
stops, ``trace.jsonl`` and ``summary.json``.
"""

from __future__ import annotations

import asyncio
import json
import math
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from benchmark.catalogue import find_task
from benchmark.evaluation import prepare
from benchmark.harness import Harness
from benchmark.ndg import ndg
from benchmark.task import Task
from method.budget import Budget
from method.cassette import CassetteMiss
from method.config import ConfigProblem, RunConfig
from method.connections import Connections, connect
from method.engine import Engine, InvalidSeed, Stopped, Subject
from method.evaluators import HarnessEvaluator
from method.journal import FILE_NAME, Blobs, Event, Journal, JournalError, read_journal
from method.ports import Paused, Ports
from method.preflight import PreflightProblem, preflight
from method.prompting import prompt_versions
from method.protocols import LLM, EvaluatorPort, SearchBackend
from method.registry import make_retriever, make_scaffold
from method.scaffolds.solution_prompt import PromptTask
from method.searchcache import SearchCache
from method.trace import search_usage, usage_by_purpose, write_trace

GRACE_S = 30.0
"""How long calls in flight may take to finish after the first interrupt."""

Progress = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True)
class RunResult:
    """A run that stopped; ``summary`` is the object of ``summary.json``."""

    folder: Path
    status: str
    summary: Mapping[str, Any]

    @property
    def ndg(self) -> float | None:
        """NDG of the best program."""
        value: float | None = self.summary["ndg"]
        return value


@dataclass(frozen=True)
class Clients:
    """What a run talks to; ``None``: made from the configuration."""

    model: LLM | None = None
    search: SearchBackend | None = None
    evaluator: EvaluatorPort | None = None


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
    :class:`~method.ports.Paused` or :class:`~method.engine.Stopped` when it can be resumed.
    """
    if (out / "journal.jsonl").exists():
        raise ConfigProblem(f"{out}: holds a run already; go on with `evoduet resume {out}`")
    return _drive(resolved(config), out, clients, progress)


def resolved(config: RunConfig) -> RunConfig:
    """The configuration with what it leaves to the task filled in."""
    defaults = find_task(config.task).declared.search
    switches = dict(config.switches)
    if defaults.max_chars is not None and config.rules == "official":
        switches.setdefault("candidate.max_chars", defaults.max_chars)
    iterations = defaults.iterations if config.iterations is None else config.iterations
    return config.model_copy(update={"iterations": iterations, "switches": switches})


def resume(
    folder: Path,
    *,
    clients: Clients = Clients(),
    progress: Progress = lambda record: None,
) -> RunResult:
    """Go on with a run: what its journal holds is neither asked nor evaluated again."""
    return _drive(manifest_config(folder), folder, clients, progress)


def replay(folder: Path) -> RunResult:
    """Run a finished journal again without any client, in memory.

    Raises :class:`~method.ports.Divergence` or :class:`~method.ports.Incomplete` when the result
    would not be identical.
    """
    config = manifest_config(folder)
    events = read_journal(folder)
    journal = _Memory(events)
    engine = _engine(config, journal, Blobs(folder), None, None, None, _manifest(events))
    status = asyncio.run(engine.run())
    if journal.added:
        raise JournalError(f"{folder}: the replay computed events that the journal does not hold")
    return RunResult(folder, status, summarise(folder))


def manifest_config(folder: Path) -> RunConfig:
    """The configuration that a run was started with. Raises ``JournalError``."""
    return RunConfig.model_validate(_manifest(read_journal(folder))["config"])


def _manifest(events: list[Event]) -> Mapping[str, Any]:
    for event in events:
        if event.name == "run_started":
            return event.data
    raise JournalError("the journal does not begin with run_started")


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


def _drive(config: RunConfig, folder: Path, clients: Clients, progress: Progress) -> RunResult:
    before = read_journal(folder) if (folder / FILE_NAME).exists() else []
    with ExitStack() as stack:
        connections = connect(config, clients.model, clients.search, before)
        stack.callback(connections.close)
        _preflight(connections, config, resumed=bool(before))
        evaluator = clients.evaluator or _harness_evaluator(config, stack)
        journal = stack.enter_context(Journal(folder))
        if not journal.events:
            fresh = _new_manifest(config, folder, evaluator, connections)
            journal.append("run_started", fresh)
            journal.commit()
        manifest = _manifest(journal.events)
        engine = _engine(
            config, journal, Blobs(folder), connections.model, connections.search, evaluator,
            manifest,
        )  # fmt: skip
        engine.progress = progress
        engine.cache = stack.enter_context(SearchCache(folder))
        try:
            status = asyncio.run(_run_and_hang_up(engine, connections))
        except (Paused, Stopped, KeyboardInterrupt, CassetteMiss) as reason:
            journal.append("interrupted", {"reason": str(reason) or "interrupted"})
            raise
        if not any(event.name == "run_finished" for event in journal.events):
            journal.append("run_finished", {"status": status, "done": engine.done})
    write_trace(folder)
    summary = summarise(folder)
    _write_json(folder / "summary.json", summary)
    return RunResult(folder, status, summary)


def _preflight(connections: Connections, config: RunConfig, *, resumed: bool) -> None:
    """Before anything is paid for; a run that waits for quota or key goes on waiting."""
    try:
        asyncio.run(preflight(connections.clients, config.max_cost))
    except PreflightProblem as problem:
        if resumed and problem.waiting:
            raise Paused(str(problem)) from None
        raise


async def _run_and_hang_up(engine: Engine, connections: Connections) -> str:
    try:
        return await _with_signals(engine)
    finally:
        await connections.aclose()


def _harness_evaluator(config: RunConfig, stack: ExitStack) -> EvaluatorPort:
    setup = prepare(config.task, config.variant, config.options)
    harness = Harness(config.isolation, workers=config.workers, prewarm=True)
    return HarnessEvaluator(setup, stack.enter_context(harness))


def _engine(
    config: RunConfig,
    journal: Any,
    blobs: Blobs,
    llm: LLM | None,
    search: SearchBackend | None,
    evaluator: EvaluatorPort | None,
    manifest: Mapping[str, Any],
) -> Engine:
    task = find_task(config.task)
    budget = Budget(
        max_cost_usd=config.max_cost,
        max_tokens=config.max_tokens,
        max_wall_s=None if config.max_hours is None else config.max_hours * 3600,
        max_searches=config.max_searches,
    )
    ports = Ports(
        journal, blobs, llm, search, evaluator,
        evaluator_version=manifest["evaluator_version"], budget=budget,
        outage=config.on_outage, workers=config.workers,
    )  # fmt: skip
    prompt_task = PromptTask(
        instructions=task.instructions,
        language=task.declared.language,
        edit=config.edit,
        time_limit_s=task.declared.limits.wall_s,
        dedup_history=config.resolved_rules().dedup_history,
    )
    return Engine(
        subject=Subject(
            task=task.id,
            language=task.declared.language,
            x0=blobs.get(manifest["x0"]),
            held_out=manifest["held_out"],
            enforce_blocks=config.enforce_blocks,
        ),
        settings=config.settings(),
        seed=config.seed,
        edit=config.edit,
        max_attempts=config.max_attempts,
        scaffold=make_scaffold(config, prompt_task),
        retriever=make_retriever(config, task),
        ports=ports,
        report_iterations=config.report_iterations,
    )


def _new_manifest(
    config: RunConfig, folder: Path, evaluator: EvaluatorPort, connections: Connections
) -> dict[str, Any]:
    task = find_task(config.task)
    return {
        "run_id": folder.resolve().name,
        "config": config.model_dump(mode="json"),
        "rules": config.resolved_rules().manifest(),
        **connections.manifest(),
        "x0": Blobs(folder).put(task.initial_program.read_text(encoding="utf-8")),
        "held_out": evaluator.held_out,
        "evaluator_version": evaluator.version,
        "task_version": task.declared.version,
        "isolation": evaluator.isolation,
        "prompts": prompt_versions(),
        "versions": _versions(),
    }


def _versions() -> dict[str, str]:
    found = {}
    for name in ("evoduet", "openevolve", "skydiscover", "litellm", "tavily-python"):
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


async def _with_signals(engine: Engine) -> str:
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
        return await engine.run()
    except asyncio.CancelledError:
        raise Stopped("stopped on request, calls in flight were given up") from None


def summarise(folder: Path) -> dict[str, Any]:
    """What a run has found so far, from its journal. Raises ``JournalError``."""
    events = read_journal(folder)
    manifest = _manifest(events)
    config = RunConfig.model_validate(manifest["config"])
    task = find_task(config.task)
    done = [event.data for event in events if event.name == "iteration_done"]
    seed = _seed(events)
    best = _best(done, seed)
    best |= _reporting(events, best, task, manifest)
    calls = [event for event in events if event.name == "model_call"]
    searches = [event for event in events if event.name == "search"]
    costs = [event.data["answer"]["cost_usd"] for event in (*calls, *searches)]
    return {
        "run_id": manifest["run_id"],
        "run": str(folder),
        "out": str(folder),
        "task": task.id,
        "method": config.method,
        "model": manifest["model"],
        "status": _status(events),
        "T": config.iterations,
        "done": len(done),
        "ndg": best.get("ndg"),
        "best": best,
        "x0": {"search_score": seed["search_score"], "objective": seed["objective"]},
        "usage": usage_by_purpose(calls),
        "search_usage": search_usage(searches),
        "cost_usd": math.fsum(cost for cost in costs if cost is not None)
        if any(cost is not None for cost in costs)
        else None,
        "unpriced_calls": sum(cost is None for cost in costs),
    }


def best_program(folder: Path) -> tuple[str, Mapping[str, Any]]:
    """Source of the best program so far, and its summary."""
    summary = summarise(folder)
    events = read_journal(folder)
    t, blobs = summary["best"]["t"], Blobs(folder)
    if t == 0:
        return blobs.get(_manifest(events)["x0"]), summary
    (record,) = (e.data for e in events if e.name == "iteration_done" and e.data["t"] == t)
    slot, attempt = record["selected_slot"], record["attempts"]
    (code,) = (
        candidate["code_sha256"]
        for candidate in record["candidates"]
        if (candidate["slot"], candidate["attempt"]) == (slot, attempt)
    )
    return blobs.get(code), summary


def _seed(events: list[Event]) -> dict[str, Any]:
    for event in events:
        if event.name == "evaluation" and event.data["key"][:3] == [0, 0, 0]:
            result = event.data["result"]
            return {
                "t": 0,
                "id": None,
                "search_score": result["search_score"],
                "objective": result["objective"],
            }
    return {"t": 0, "id": None, "search_score": None, "objective": None}


def _best(done: list[Mapping[str, Any]], seed: dict[str, Any]) -> dict[str, Any]:
    best = seed
    for record in done:
        child = record["child"]
        if child is not None and child["search_score"] > best["search_score"]:
            best = {
                "t": record["t"],
                "id": child["id"],
                "search_score": child["search_score"],
                "objective": child["objective"],
            }
    return best


def _reporting(
    events: list[Event], best: Mapping[str, Any], task: Task, manifest: Mapping[str, Any]
) -> dict[str, Any]:
    """The reporting score of the best, and its NDG where it is known and comparable."""
    reporting = best["objective"]
    if manifest["held_out"]:
        reports = [
            event.data["result"]["objective"]
            for event in events
            if event.name == "report_evaluation" and best["id"] in (event.data["key"][1], None)
        ]
        reporting = reports[-1] if reports else None
    variant = manifest["config"]["variant"] or "official"
    if reporting is None or variant != "official":
        return {"reporting": reporting, "ndg": None, "ndg_raw": None}
    anchors = task.declared.anchors
    gain = ndg(reporting, anchors.initial.value, anchors.sota.value)
    return {"reporting": reporting, "ndg": gain.value, "ndg_raw": gain.raw}


def _status(events: list[Event]) -> Literal["finished", "budget", "interrupted", "running"] | str:
    for event in reversed(events):
        if event.name == "run_finished":
            return str(event.data["status"])
        if event.name == "interrupted":
            return "interrupted"
    return "running"


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    partial = path.with_name(f".{path.name}.{time.monotonic_ns()}")
    try:
        partial.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


__all__ = [
    "InvalidSeed",
    "RunResult",
    "best_program",
    "manifest_config",
    "replay",
    "resume",
    "run",
    "summarise",
]
