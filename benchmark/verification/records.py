"""Verifying one record of `evoduet score --json` or of a suite's result file.

:func:`verify_record` compares the evaluator and the data files with those that gave the score,
finds the artifact (or the program, which is then evaluated again), scores it and compares.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark.catalogue import UnknownTask
from benchmark.evaluation import Evaluation, evaluate
from benchmark.harness import Harness
from benchmark.sandbox.jail import SandboxBroken
from benchmark.task import Task, TaskError
from benchmark.verification.checks import Check, Verification, compared
from benchmark.verification.material import Material, Places, find_material
from benchmark.verification.tasks import check_task, environment_differs, trusted_task

NUMBERS = ("search", "objective", "ndg", "ndg_raw")


class ResultProblem(ValueError):
    """The file holds no results; the message names it and says what it should hold."""


def read_results(path: Path) -> list[dict[str, Any]]:
    """Records of `evoduet score --json` (one a line) or of a suite's file.

    Raises :class:`ResultProblem` or ``OSError``.
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        content: Any = json.loads(text)
    except ValueError:
        try:
            content = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise ResultProblem(f"{path}: not JSON ({error})") from None
    records = content
    if isinstance(content, dict):
        records = content.get("results", [content])
    if not isinstance(records, list) or not records or not all(map(_is_record, records)):
        raise ResultProblem(
            f"{path}: no results there; give what `evoduet score --json` printed, the file of "
            "`evoduet suite`, the folder of a run, or a bundle"
        )
    return records


def _is_record(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and {"task", "status", "stage", "provenance"} <= record.keys()
        and isinstance(record["provenance"], dict)
        and {"variant", "evaluator_digest"} <= record["provenance"].keys()
    )


def verify_record(
    record: Mapping[str, Any],
    places: Places,
    harness: Harness | None = None,
    task: Task | None = None,
) -> Verification:
    """Compare one record with what its task says now. Differences are checks, not exceptions.

    ``task``: the task of records whose task is in no installed package.
    """
    name = str(record.get("program") or record.get("artifact_sha256") or record["task"])
    checks = list(_checks(record, places, harness, task))
    return Verification(name, str(record["task"]), tuple(checks))


def _checks(
    record: Mapping[str, Any], places: Places, harness: Harness | None, named: Task | None
) -> Iterator[Check]:
    told = record["provenance"]
    try:
        task = trusted_task(str(record["task"]), named)
    except (UnknownTask, TaskError) as error:
        yield Check("task", "missing", str(error), recorded=record["task"])
        return
    yield from check_task(task, told)
    if record["status"] == "unavailable":
        message = f"it was not evaluated when this was recorded: {record.get('reason', '')}"
        yield Check("score", "note", message)
        return
    yield from check_score(record, task, places, harness, environment_differs(told))


def check_score(
    record: Mapping[str, Any],
    task: Task,
    places: Places,
    harness: Harness | None,
    rounding: Sequence[str] = (),
) -> Iterator[Check]:
    """Find artifact or program, score, and compare; ``rounding`` as in :func:`compare_scores`."""
    found = find_material(record, task, places)
    yield from found.checks
    if found.program is None and found.artifact is None:
        return
    try:
        again = _again(record, task, found, harness)
    except (TaskError, SandboxBroken) as error:
        yield Check("score", "missing", f"cannot be scored here: {error}")
        return
    yield from compare_scores(record, again, task, rounding)


# --- scores --------------------------------------------------------------------------------------


def _again(
    record: Mapping[str, Any], task: Task, found: Material, harness: Harness | None
) -> Evaluation:
    told = record["provenance"]
    limits = told.get("limits") or {}
    shared: dict[str, Any] = {
        "variant": told["variant"],
        "options": option_texts(told.get("options") or {}),
        "exact": bool(record.get("certificate")),
    }
    if found.artifact is not None:
        # Of two stages the report's artifact is kept: the search score is of another one.
        stage = "report" if record["stage"] == "both" else str(record["stage"])
        return evaluate(task, stage=stage, artifact=found.artifact, **shared)
    return evaluate(
        task,
        found.program,
        str(record["stage"]),
        repeats=max(1, len(record.get("repeats") or ())),
        wall_s=limits.get("wall_s"),
        memory_mb=limits.get("memory_mb"),
        harness=harness,
        **shared,
    )


def option_texts(options: Mapping[str, Any]) -> dict[str, str]:
    """Recorded option values as the texts that ``--set`` takes; those without a value left out."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in options.items()
        if value is not None
    }


def compare_scores(
    record: Mapping[str, Any], again: Evaluation, task: Task, rounding: Sequence[str] = ()
) -> Iterator[Check]:
    """Verdict and numbers. A last digit may differ where ``rounding`` names another environment.

    Then numbers count as the same within the task's ``regress_tolerance`` (relative).
    """
    if again.status == "unavailable":
        yield Check("score", "missing", f"cannot be scored here: {again.reason}")
        return
    program = again.program is not None
    reason = f" ({again.reason})" if again.reason else ""
    yield compared(
        "status",
        record["status"],
        again.status,
        f"the verdict is {again.status}{reason}, recorded is {record['status']}",
    )
    tolerance = task.declared.regress_tolerance if rounding else 0.0
    names = [name for name in NUMBERS if name in record]
    if not program and record["stage"] == "both":  # what the report's artifact does not tell
        names = [n for n in names if n != "search" and getattr(again, n) is not None]
    for name in names:
        yield _number_check(name, record[name], getattr(again, name), tolerance, program)
    yield from _metric_checks(record.get("metrics") or {}, again, tolerance, program)
    if record.get("certificate"):
        yield compared(
            "certificate", record["certificate"], dict(again.certificate), "other exact facts"
        )


def _metric_checks(
    recorded: Mapping[str, Any], again: Evaluation, tolerance: float, program: bool
) -> Iterator[Check]:
    shared = recorded.keys() & again.metrics.keys()
    wrong = [
        _number_check(f"metric {name}", recorded[name], again.metrics[name], tolerance, program)
        for name in sorted(shared)
    ]
    differing = [check for check in wrong if check.outcome != "same"]
    yield from differing or [Check("metrics", "same")]


def _number_check(name: str, recorded: Any, found: Any, tolerance: float, program: bool) -> Check:
    if recorded == found:
        return Check(name, "same")
    both = isinstance(recorded, int | float) and isinstance(found, int | float)
    if both and tolerance and math.isclose(recorded, found, rel_tol=tolerance, abs_tol=1e-12):
        message = f"equal within {tolerance:g}, as another environment may round"
        return Check(name, "same", message, recorded, found)
    message = f"{name} is {found!r}, recorded is {recorded!r}"
    if program:
        message += "; a program that looks at the clock or at chance need not repeat itself"
    return Check(name, "differs", message, recorded, found)
