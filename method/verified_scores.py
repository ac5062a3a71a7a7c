"""Verifying the scores of a run: its evaluator and data, and its best program evaluated again."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark.evaluation import prepare
from benchmark.harness import Harness
from benchmark.task import SUFFIXES, Task
from benchmark.verification.checks import Check, compared
from benchmark.verification.material import Places
from benchmark.verification.records import check_score
from benchmark.verification.store import FOLDER as ARTIFACT_FOLDER
from benchmark.verification.tasks import check_data, check_declared_data, check_environment
from method.config import RunConfig
from method.evaluators import HarnessEvaluator
from method.journal import Event, JournalError
from method.runs import best_program, summarise


def check_scores(
    folder: Path,
    events: list[Event],
    manifest: Mapping[str, Any],
    config: RunConfig,
    task: Task,
    harness: Harness,
    report: bool,
) -> Iterator[Check]:
    yield compared(
        "task version",
        manifest["task_version"],
        task.declared.version,
        "the task has another version here: install the evoduet that made this run",
    )
    variant = _variant(manifest, config, task, harness)
    made_by = manifest.get("versions", {}).get("evoduet", "?")
    if variant is None:
        message = (
            f"the evaluator of {task.id} (its files or its options) is not the one that gave these "
            f"scores; the run was made by evoduet {made_by}"
        )
        yield Check("evaluator", "differs", message, recorded=manifest["evaluator_version"])
    else:
        yield Check("evaluator", "same")
    variant = variant or config.variant or task.declared.variants[0]
    if manifest.get("data") is not None:
        yield from check_data(task, manifest["data"])
    else:
        yield from check_declared_data(task, variant)
    environment = [*check_environment(manifest), *_check_environment_of(folder, task)]
    yield from environment
    rounding = [check.message for check in environment]
    try:
        result = _best_result(events, folder)
    except JournalError as error:  # its text is not there, or not what its name says
        yield Check("program", "differs", str(error))
        return
    if result is None:
        yield Check("score", "note", "the run has no valid program yet")
        return
    yield from _check_best(folder, result, variant, config, task, harness, report, rounding)


def _variant(
    manifest: Mapping[str, Any], config: RunConfig, task: Task, harness: Harness
) -> str | None:
    """The data variant with which today's evaluator is the one of the run; ``None``: with none."""
    wanted = manifest["evaluator_version"]
    for variant in [config.variant] if config.variant else task.declared.variants:
        setup = prepare(task, variant, config.options)
        if HarnessEvaluator(setup, harness, _wall_s(config)).version == wanted:
            return variant
    return None


def _wall_s(config: RunConfig) -> float | None:
    """The limit of a search's evaluations, where it is not the task's."""
    return None if isinstance(config.eval_wall_s, str) else config.eval_wall_s


def _best_result(events: list[Event], folder: Path) -> Mapping[str, Any] | None:
    """The journalled verdict on the best program, with the reporting values of the summary."""
    summary = summarise(folder)
    best = summary["best"]
    if best["search_score"] is None:
        return None
    code, _ = best_program(folder)
    sha256 = hashlib.sha256(code.encode("utf-8", errors="surrogatepass")).hexdigest()
    for event in events:
        data = event.data
        if event.name == "evaluation" and data["t"] == best["t"] and data["key"][3] == sha256:
            return {**data["result"], "code": code, "code_sha256": sha256, **_reported(best)}
    return None


def _reported(best: Mapping[str, Any]) -> dict[str, Any]:
    return {name: best.get(name) for name in ("reporting", "ndg", "ndg_raw")}


def _check_best(
    folder: Path,
    result: Mapping[str, Any],
    variant: str,
    config: RunConfig,
    task: Task,
    harness: Harness,
    report: bool,
    rounding: Sequence[str],
) -> Iterator[Check]:
    held_out = result["objective"] is None
    record: dict[str, Any] = {
        "task": task.id,
        "status": "valid",
        "stage": "search",
        "search": result["search_score"],
        "objective": result["objective"],
        "metrics": result["metrics"],
        "program_sha256": result["code_sha256"],
        "artifact_sha256": result.get("artifact_sha256"),
        "provenance": {
            "variant": variant,
            "options": config.options,
            "limits": {"wall_s": None if report and held_out else _wall_s(config)},
        },
    }
    if not held_out:
        record |= {"ndg": result["ndg"], "ndg_raw": result["ndg_raw"]}
    elif report and result["reporting"] is not None:
        del record["search"], record["metrics"]
        record |= {"stage": "report", "objective": result["reporting"], "artifact_sha256": None}
        record |= {"ndg": result["ndg"], "ndg_raw": result["ndg_raw"]}
    elif result["reporting"] is not None:
        message = "the held-out score was not evaluated again: ask for it with --report"
        yield Check("held-out score", "note", message)
    with tempfile.TemporaryDirectory(prefix="evoduet-verify-") as name:
        program = Path(name) / f"best{SUFFIXES[task.declared.language]}"
        program.write_text(result["code"], encoding="utf-8", errors="surrogatepass")
        record["program"] = str(program)
        places = Places(
            programs=[program], artifacts=sorted((folder / ARTIFACT_FOLDER).glob("*.json"))
        )
        yield from check_score(record, task, places, harness, rounding)


def _check_environment_of(folder: Path, task: Task) -> Iterator[Check]:
    """How this environment differs from the one that a bundle was made in."""
    path = folder / "environment.json"
    try:
        told = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    except ValueError:
        told = None
    if isinstance(told, dict) and isinstance(told.get("packages"), dict):
        names = ("evoduet", "numpy", "scipy", *task.declared.requires)
        packages = {name: told["packages"][name] for name in names if name in told["packages"]}
        versions = {"python": told.get("python"), **packages}
        yield from check_environment({"versions": versions, "machine": told.get("machine")})
