"""Own runs: what a study of many run folders holds, one row a run.

Read are the manifest and `summary.json`. A run that is not finished, or that cannot be read, is
named in the notes and left out of what it cannot serve. Only the run's best scores are asked for:
what else a summary does not tell is unknown, or follows from the task.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.manifest import read_manifest
from analysis.ordering import model_key
from analysis.rows import DataProblem
from benchmark.catalogue import UnknownTask, find_task
from benchmark.ndg import ndg
from benchmark.task import Task

DONE = ("finished", "budget", "done", "completed")
"""States in which a run has had its whole budget; the last two are words of others."""
UNDER_WAY = ("running", "interrupted", "paused")
"""States from which a run may go on."""


def status_of(summary: Mapping[str, Any]) -> str:
    """State of a run; one that does not tell is finished when it did all its iterations."""
    status = summary.get("status")
    if status is not None:
        return str(status)
    if not summary:
        return "running"
    done, total = summary.get("done"), summary.get("T")
    return "running" if done is not None and total is not None and done < total else "finished"


def is_over(status: str) -> bool:
    """Whether a run in this state never goes on: slots without a record then stay without."""
    return status.partition(":")[0] not in UNDER_WAY


@dataclass(frozen=True)
class Configuration:
    """What is compared; ``settings`` names the gate and numbers of EvoDuet, and what is unusual."""

    model: str
    n: int | None
    method: str
    settings: str

    @property
    def label(self) -> tuple[str, int | None, str, str]:
        """Aligned with :data:`LABELS`."""
        return (self.model, self.n, self.method, self.settings)

    @property
    def key(self) -> tuple[Any, ...]:
        """Sort key."""
        return (model_key(self.model), self.n or 0, self.method, self.settings)


LABELS = ("model", "N", "method", "settings")


@dataclass(frozen=True)
class Run:
    """One run: configuration, how it ended, and its best program's scores.

    ``objective`` is the reporting metric of the best (chosen by search score), ``None`` while it is
    held out; ``ndg`` is ``None`` then, too, and for data variants that are not comparable.
    """

    folder: Path
    run_id: str
    task: Task
    configuration: Configuration
    seed: int | None
    variant: str
    status: str
    iterations: int
    done: int
    search_score: float | None
    objective: float | None
    ndg: float | None
    ndg_raw: float | None
    cost_usd: float | None
    unpriced_calls: int
    x0: Mapping[str, Any]
    recorded: bool = False
    """Imported from a record of others, which tells neither usage nor candidates."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """Configuration in the manifest."""

    @property
    def complete(self) -> bool:
        """Whether it ended by itself."""
        return self.status in DONE

    @property
    def held_out(self) -> bool:
        """Whether the reporting metric is known only where it was asked for."""
        if "objective" in self.x0:
            return self.x0["objective"] is None
        return self.task.declared.held_out


@dataclass(frozen=True)
class Study:
    """All runs below a folder, sorted, and what a reader must know about those left out."""

    folder: Path
    runs: tuple[Run, ...]
    notes: tuple[str, ...]


def read_study(folder: Path) -> Study:
    """Find and read the runs below ``folder``. Raises :class:`DataProblem` when there are none."""
    if not folder.is_dir():
        raise DataProblem(f"{folder}: no folder of runs")
    places = sorted(run_folders(folder))
    if not places:
        raise DataProblem(
            f"{folder}: no runs there (no journal.jsonl, trace.jsonl or summary.json below it)"
        )
    runs, notes = [], []
    for place in places:
        name = place.relative_to(folder).as_posix()
        try:
            run = read_run(place)
        except DataProblem as problem:
            notes.append(f"left out: {problem}")
            continue
        runs.append(run)
        if not run.complete:
            notes.append(f"{name}: {run.status} after {run.done} of {run.iterations} iterations; "
                         "in runs.csv, left out of the statistics")  # fmt: skip
        elif run.ndg is None:
            notes.append(f"{name}: {_why_no_ndg(run)}; left out of what needs NDG")
    runs.sort(key=lambda run: (run.configuration.key, run.task.id, run.seed or 0, run.run_id))
    return Study(folder, tuple(runs), tuple(notes))


def run_folders(folder: Path) -> Iterator[Path]:
    """Folders that hold a run; what lies in them (thousands of blobs) is not looked through."""
    for place, inner, names in os.walk(folder):
        if not _MARKS.isdisjoint(names):
            inner.clear()
            yield Path(place)


_MARKS = frozenset(("journal.jsonl", "trace.jsonl", "summary.json"))


def _why_no_ndg(run: Run) -> str:
    if run.recorded:
        return "its reporting metric does not follow from what was recorded, so it has no NDG"
    if run.variant != "official":
        return f"variant {run.variant} is not comparable and has no NDG"
    return "its reporting metric is held out and was not evaluated, so it has no NDG"


def read_run(folder: Path) -> Run:
    """One run. Raises :class:`DataProblem` saying what is missing and what to do."""
    summary = _summary(folder)
    manifest = read_manifest(folder, summary)
    config = manifest.get("config", {})
    try:
        task = find_task(task_id_of(summary, config))
        best, status = summary["best"], status_of(summary)
        variant = config.get("variant") or "official"
        objective = _reporting(best, task)
        gain, raw = _gains(summary, task, objective if variant == "official" else None)
        iterations = summary.get("T", config.get("iterations"))
        return Run(
            folder=folder,
            run_id=str(summary.get("run_id") or manifest.get("run_id") or folder.name),
            task=task,
            configuration=configuration_of(summary, manifest),
            seed=config.get("seed"),
            variant=variant,
            status=status,
            iterations=int(summary["done"] if iterations is None else iterations),
            done=int(summary.get("done", iterations) or 0),
            search_score=best["search_score"],
            objective=objective,
            ndg=gain,
            ndg_raw=raw,
            cost_usd=summary.get("cost_usd"),
            unpriced_calls=int(summary.get("unpriced_calls") or 0),
            x0=summary.get("x0") or {},
            recorded=bool(manifest.get("recorded")),
            config=config,
        )
    except KeyError as missing:
        raise DataProblem(f"{folder / 'summary.json'}: no {missing}") from None
    except (TypeError, AttributeError) as error:
        raise DataProblem(f"{folder / 'summary.json'}: not a summary ({error})") from None
    except UnknownTask as error:
        raise DataProblem(f"{folder}: {error}") from None


def task_id_of(summary: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """Task as it was given, `domain/name` or the name. Raises ``KeyError`` when nothing tells."""
    return str(summary.get("task") or summary.get("task_id") or config["task"])


def _reporting(best: Mapping[str, Any], task: Task) -> float | None:
    """Reporting metric of the best; what the search saw of it where that is the same number."""
    found: float | None = best.get("reporting")
    return best.get("objective") if found is None and not task.declared.held_out else found


def _gains(
    summary: Mapping[str, Any], task: Task, objective: float | None
) -> tuple[float | None, float | None]:
    """NDG of the best and its value without the floor; computed where the summary has none."""
    best, anchors = summary["best"], task.declared.anchors
    told = best.get("ndg", summary.get("ndg"))
    if objective is None or "ndg" in best:
        return told, best.get("ndg_raw")
    found = ndg(objective, anchors.initial.value, anchors.sota.value)
    return (found.value if told is None else told), found.raw


def _summary(folder: Path) -> dict[str, Any]:
    path = folder / "summary.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        more = "it tells how a run ended"
        if (folder / "journal.jsonl").is_file():
            more = f"the run never stopped by itself; go on with `evoduet resume {folder}`"
        raise DataProblem(f"{folder}: no summary.json, {more}") from None
    except (ValueError, RecursionError) as error:
        raise DataProblem(f"{path}: not JSON ({error}); it is written when a run stops") from None
    if not isinstance(content, dict):
        raise DataProblem(f"{path}: not a JSON object")
    return content


def configuration_of(summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> Configuration:
    """What a run is compared as, from its summary and its manifest."""
    config = manifest.get("config", {})
    method = method_of(summary, config)
    if not method:
        raise KeyError("method")
    return Configuration(
        model=str(summary.get("model") or manifest.get("model") or config["model"]),
        n=config.get("candidates"),
        method=method,
        settings=" ".join(_settings(method.rpartition("+")[2], config)) if config else "",
    )


def method_of(summary: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """`scaffold+retriever`: the summary's word, or the configuration's that says more."""
    told, configured = (str(source.get("method") or "") for source in (summary, config))
    return configured if configured.endswith(f"+{told}") else told or configured


def _settings(retriever: str, config: Mapping[str, Any]) -> Iterator[str]:
    """What else makes two runs of a method different: never an average over different gates."""
    if retriever == "evoduet":
        random = f" p={config.get('gate_p')}" if config.get("gate") == "random" else ""
        yield f"gate={config.get('gate')}{random}"
        yield from (f"{name}={config.get(key)}" for name, key in _NUMBERS.items())
    if retriever in _SEARCHING:
        yield f"search={config.get('search')}"
    yield from (
        f"{key}={config[key]}" for key, usual in _USUAL.items() if config.get(key, usual) != usual
    )
    if config.get("variant") not in (None, "official"):
        yield f"variant={config['variant']}"
    yield from (f"{k}={v}" for k, v in sorted((config.get("scaffold_options") or {}).items()))


_NUMBERS = {"R": "rounds", "J": "queries", "M": "per_query", "D": "retain"}
_SEARCHING = ("evoduet", "joint", "sequential")
_USUAL = {"rules": "official", "edit": "diff", "enforce_blocks": "off"}
