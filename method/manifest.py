"""The manifest of a run: its journal's first event, and what later events changed of it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import metadata
from itertools import count
from pathlib import Path
from typing import Any

from benchmark import provenance
from benchmark.catalogue import find_task
from benchmark.data import data_store
from benchmark.evaluation import choose_variant
from benchmark.evaluator import Unavailable
from benchmark.task import Task
from method.config import ConfigProblem, RunConfig, checked
from method.journal import Blobs, Event, JournalError, read_journal
from method.naming import RETRIEVERS, SCAFFOLDS
from method.plugins import load_plugin
from method.presets import released_notes, released_wall_s
from method.prompting import prompt_versions
from method.protocols import EvaluatorPort

RUNS = Path("results/runs")
_GIT_PATIENCE_S = 10.0
USUAL_ATTEMPTS = 3
SEQUENTIAL_ATTEMPTS = 6
"""Of one iteration of the sequential retriever, whose generation is its debugging loop (1.10)."""


def resolved(config: RunConfig) -> RunConfig:
    """The configuration with what it leaves to the task, the method and the switches filled in."""
    task = find_task(config.task)
    declared = task.declared
    switches = dict(config.switches)
    if declared.search.max_chars is not None and config.rules == "official":
        switches.setdefault("candidate.max_chars", declared.search.max_chars)
    found: dict[str, Any] = {"switches": switches}
    if config.iterations is None:
        found["iterations"] = declared.search.iterations
    if config.variant is None and len(declared.variants) > 1:
        found["variant"] = choose_variant(task, None)
    if config.max_attempts is None and not config.proposer:
        sequential = config.retriever == "sequential"
        found["max_attempts"] = SEQUENTIAL_ATTEMPTS if sequential else USUAL_ATTEMPTS
    if config.workers is None:
        found["workers"] = _workers(config)
    if config.eval_wall_s == "released":
        found["eval_wall_s"] = released_wall_s(task.name) or "task"
    if config.gate_window == "task":
        found["gate_window"] = max(1, int(0.10 * declared.search.iterations))
    return config.model_copy(update=found)


def _workers(config: RunConfig) -> int:
    """Evaluations at a time; the release evaluates all candidates of searching methods at once."""
    if config.resolved_rules().eval_parallel == "equal" or config.retriever in ("", "none"):
        return 1
    return config.candidates


def new_folder(config: RunConfig) -> Path:
    """Where a run goes that was given no folder; none is there yet."""
    method = config.method.removeprefix(f"{SCAFFOLDS[0]}+")
    name = f"{config.task.rpartition('/')[2]}-{method}-{config.seed}"
    for number in count(1):
        folder = RUNS / (name if number == 1 else f"{name}-{number}")
        if not folder.exists():
            return folder
    raise AssertionError


def new_manifest(
    config: RunConfig, folder: Path, evaluator: EvaluatorPort, clients: Mapping[str, Any]
) -> dict[str, Any]:
    """The data of ``run_started``; ``clients`` is what :class:`~method.connections.Connections`
    says, or the like of a method without our clients."""
    task = find_task(config.task)
    return {
        "run_id": folder.resolve().name,
        "config": config.model_dump(mode="json"),
        "rules": config.resolved_rules().manifest(),
        **clients,
        "x0": Blobs(folder).put(task.initial_program.read_text(encoding="utf-8")),
        "held_out": evaluator.held_out,
        "evaluator_version": evaluator.version,
        "task_version": task.declared.version,
        "evaluator_digest": provenance.evaluator_digest(task),
        "data": _data_digests(task, config.variant),
        "machine": provenance.machine(),
        "isolation": evaluator.isolation,
        "proposes": config.proposer,
        "prompts": prompt_versions(),
        "versions": versions(config),
        "revision": _revision(),
        "notes": list(released_notes(config, task.declared.search.iterations)),
    }


@cache
def _revision() -> str | None:
    """Commit of the checkout that runs, ``-dirty`` when changed; ``None`` for an installed one."""
    root = Path(__file__).resolve().parents[1]
    if not (root / ".git").exists():
        return None
    git = ["git", "--no-optional-locks", "-C", str(root)]
    commit = ["describe", "--always", "--exclude=*", "--abbrev=40", "--dirty"]
    try:
        found = subprocess.run(
            [*git, *commit], capture_output=True, text=True, timeout=_GIT_PATIENCE_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() or None


def _data_digests(task: Task, variant: str | None) -> dict[str, str]:
    try:
        return data_store().digests(task, variant or task.declared.variants[0])
    except Unavailable:
        return {}


def versions(config: RunConfig) -> dict[str, str]:
    """Versions of what takes part in a run, by distribution."""
    found = provenance.versions(find_task(config.task).declared.requires)
    for name in ("evoduet", "openevolve", "skydiscover", "litellm", "tavily-python"):
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    if config.command is None:
        for part in (config.scaffold, config.retriever, config.name.proposer):
            if part and part not in (*SCAFFOLDS, *RETRIEVERS):
                plugin = load_plugin(part)
                if plugin is not None:
                    found[f"method {part}"] = plugin.origin
    return found


def manifest_of(events: Sequence[Event]) -> Mapping[str, Any]:
    """The data of ``run_started``. Raises ``JournalError``."""
    for event in events:
        if event.name == "run_started":
            return event.data
    raise JournalError("the journal does not begin with run_started; its run never started")


def manifest_config(folder: Path, *, replaying: bool = False) -> RunConfig:
    """The configuration that a run was started with.

    ``replaying``: the proposals of a method of its own come from the journal, so it need not be
    installed. Raises ``JournalError``, or :class:`~method.config.ConfigProblem` where this
    installation has not what the run needs.
    """
    manifest = manifest_of(read_journal(folder))
    if manifest.get("recorded"):
        raise ConfigProblem(
            f"{folder}: imported from a record, which is no journal of ours: it can be read "
            "(`evoduet trace`, `audit`, `report`, `tables`), not run again"
        )
    values = dict(manifest["config"])
    if replaying and manifest.get("proposes") and values["command"] is None:
        values["command"] = ("-",)  # its name is then a name and no more
    return checked(values, str(folder))


def iterations_of(events: Sequence[Event]) -> int:
    """T of a run: what it was started with, or was extended to."""
    config = manifest_of(events)["config"]
    total = config.get("iterations")
    if total is None:
        total = find_task(config["task"]).declared.search.iterations
    for event in events:
        if event.name == "extended":
            total = event.data["iterations"]
    return int(total)


def status_of(events: Sequence[Event]) -> str:
    """``finished``, ``budget``, ``failed`` (the initial program has no score), ``interrupted``,
    ``interrupted:external`` (something outside the run must be mended) or ``running``."""
    last = events[-1]
    if last.name == "run_finished":
        return str(last.data["status"])
    if last.name == "interrupted":
        return "interrupted:external" if last.data.get("external") else "interrupted"
    return "running"
