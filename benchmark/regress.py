"""Comparing today's scores of the initial programs with those of a committed baseline."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.evaluation import Evaluation
from benchmark.task import Task, TaskError


@dataclass(frozen=True)
class Comparison:
    """One task's number in the baseline and now; ``outcome`` is what a reader acts on."""

    task: str
    outcome: str
    """``same``, ``drift``, ``new`` (not in the baseline) or ``skipped`` (unavailable here)."""
    before: str = ""
    now: str = ""
    reason: str = ""


def read_baseline(path: Path) -> dict[str, dict[str, Any]]:
    """The baseline's records by task id. Raises :class:`TaskError` naming the file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {str(record["task"]): record for record in content["results"]}
    except FileNotFoundError:
        raise TaskError(f"{path}: no baseline; make one with `evoduet regress --update`") from None
    except (json.JSONDecodeError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise TaskError(f"{path}: not a baseline ({error})") from None


def baseline_record(evaluation: Evaluation) -> dict[str, Any]:
    """What the baseline keeps of an evaluation: verdict and numbers, nothing of the machine."""
    return {
        "task": evaluation.task,
        "task_version": evaluation.provenance["task_version"],
        "variant": evaluation.provenance["variant"],
        "status": evaluation.status,
        "search": evaluation.search,
        "objective": evaluation.objective,
    }


def compare(
    tasks: Sequence[Task], results: Sequence[Evaluation], baseline: dict[str, dict[str, Any]]
) -> list[Comparison]:
    """Compare verdicts, search scores and objectives within each task's relative tolerance."""
    return [
        _compare(task, result, baseline.get(task.id))
        for task, result in zip(tasks, results, strict=True)
    ]


def _compare(task: Task, result: Evaluation, before: dict[str, Any] | None) -> Comparison:
    if result.status == "unavailable":
        return Comparison(task.id, "skipped", reason=result.reason)
    if before is None:
        return Comparison(task.id, "new", now=_shown(baseline_record(result)))
    now = baseline_record(result)
    if before.get("variant") != now["variant"]:
        reason = f"baseline is of {before.get('variant')} data, this is {now['variant']}"
        return Comparison(task.id, "skipped", reason=reason)
    tolerance = task.declared.regress_tolerance
    changed = [
        name
        for name in ("task_version", "status", "search", "objective")
        if not _close(before.get(name), now[name], tolerance)
    ]
    if not changed:
        return Comparison(task.id, "same", now=_shown(now))
    reason = f"{', '.join(changed)} changed; tolerance {tolerance:g} relative"
    return Comparison(
        task.id, "drift", _shown(before, changed), _shown(now, changed), result.reason or reason
    )


def _close(before: Any, now: Any, tolerance: float) -> bool:
    if isinstance(before, float | int) and isinstance(now, float | int):
        return math.isclose(before, now, rel_tol=tolerance, abs_tol=1e-12)
    return bool(before == now)


def _shown(record: dict[str, Any], names: Sequence[str] = ("status", "search")) -> str:
    return ", ".join(f"{name} {record.get(name)}" for name in names)
