"""Own runs: what a study of many run folders holds, one row a run.

Read are the manifest (first event of the journal), `summary.json` and the trace. A run that is not
finished, or that cannot be read, is named in the notes and left out of what it cannot serve.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.ordering import model_key
from analysis.rows import DataProblem
from benchmark.catalogue import UnknownTask, find_task
from benchmark.task import Task

DONE = ("finished", "budget")
"""States in which a run has had its whole budget."""


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

    @property
    def complete(self) -> bool:
        """Whether it ended by itself."""
        return self.status in DONE

    @property
    def held_out(self) -> bool:
        """Whether the reporting metric is known only where it was asked for."""
        return self.x0.get("objective") is None


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
        raise DataProblem(f"{folder}: no runs there (no journal.jsonl or summary.json below it)")
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


_MARKS = frozenset(("journal.jsonl", "summary.json"))


def _why_no_ndg(run: Run) -> str:
    if run.recorded:
        return "its reporting metric does not follow from what was recorded, so it has no NDG"
    if run.variant != "official":
        return f"variant {run.variant} is not comparable and has no NDG"
    return "its reporting metric is held out and was not evaluated, so it has no NDG"


def read_run(folder: Path) -> Run:
    """One run. Raises :class:`DataProblem` saying what is missing and what to do."""
    summary = _summary(folder)
    manifest = read_manifest(folder)
    config = manifest.get("config", {})
    try:
        task = find_task(summary.get("task") or config["task"])
        best = summary["best"]
        return Run(
            folder=folder,
            run_id=str(summary["run_id"]),
            task=task,
            configuration=configuration_of(summary, manifest),
            seed=config.get("seed"),
            variant=config.get("variant") or "official",
            status=str(summary["status"]),
            iterations=int(summary["T"]),
            done=int(summary["done"]),
            search_score=best["search_score"],
            objective=best.get("reporting", best["objective"]),
            ndg=best.get("ndg"),
            ndg_raw=best.get("ndg_raw"),
            cost_usd=summary["cost_usd"],
            unpriced_calls=int(summary["unpriced_calls"]),
            x0=summary["x0"],
            recorded=bool(manifest.get("recorded")),
        )
    except KeyError as missing:
        raise DataProblem(f"{folder / 'summary.json'}: no {missing}") from None
    except (TypeError, AttributeError) as error:
        raise DataProblem(f"{folder / 'summary.json'}: not a summary ({error})") from None
    except UnknownTask as error:
        raise DataProblem(f"{folder}: {error}") from None


def _summary(folder: Path) -> dict[str, Any]:
    path = folder / "summary.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataProblem(
            f"{folder}: no summary.json, the run never stopped by itself; "
            f"go on with `evoduet resume {folder}`"
        ) from None
    except ValueError as error:
        raise DataProblem(f"{path}: not JSON ({error}); it is written when a run stops") from None
    if not isinstance(content, dict):
        raise DataProblem(f"{path}: not a JSON object")
    return content


def read_manifest(folder: Path) -> dict[str, Any]:
    """Configuration and versions of a run: the data of its journal's first event.

    Empty when there is no journal, as for traces from elsewhere. Raises :class:`DataProblem`.
    """
    path = folder / "journal.jsonl"
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", errors="surrogatepass") as file:
        line = file.readline()
    try:
        event = json.loads(line)
        if event["event"] != "run_started":
            raise ValueError("it begins with another event")
        manifest: dict[str, Any] = event["data"]
    except (ValueError, KeyError, TypeError) as error:
        raise DataProblem(f"{path}: does not begin with run_started ({error})") from None
    return manifest


def configuration_of(summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> Configuration:
    """What a run is compared as, from its summary and its manifest."""
    config = manifest.get("config", {})
    method = str(summary.get("method") or config["method"])
    return Configuration(
        model=str(summary.get("model") or manifest["model"]),
        n=config.get("candidates"),
        method=method,
        settings=" ".join(_settings(method.rpartition("+")[2], config)) if config else "",
    )


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
