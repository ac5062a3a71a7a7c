"""One program's verdict as the dictionary that other systems read.

Inside this project an invalid program has no score. Those systems know only numbers, and a number
that is missing they invent (a mean of the other metrics, with flags counted as numbers), so here
``combined_score`` is always there and always finite. A program that fails gets the value that its
task reserves for failures: 0.0, or what the evaluator's class attribute ``peer_failure`` says.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from benchmark.availability import availability
from benchmark.catalogue import find_task
from benchmark.evaluation import Evaluation, evaluate, load_evaluator, prepare
from benchmark.evaluator import Setup, Unavailable
from benchmark.harness import Harness
from benchmark.task import Task

FAILED: Mapping[str, float] = {"combined_score": 0.0, "validity": 0.0}
"""What a failed program gets where its task does not say otherwise."""

TEXT_CHARS = 2000
"""Longest piece of text that is told: it ends up in prompts."""

_OURS = frozenset({"combined_score", "validity", "objective", "error", "feedback"})
_INFRASTRUCTURE = "infrastructure:"

logger = logging.getLogger(__name__)


def peer_evaluate(
    task_id: str,
    program_path: Path | str,
    *,
    variant: str | None = None,
    options: Mapping[str, str] | None = None,
    wall_s: float | None = None,
    memory_mb: int | None = None,
    workers: int = 1,
) -> dict[str, float | str]:
    """Evaluate a program at stage ``search`` and tell the verdict in the peers' terms.

    A valid program: ``combined_score`` (the search score, higher is better), ``validity`` 1.0,
    ``objective`` (the reporting metric in its own direction, absent where it is held out), the
    task's metrics, and the text ``feedback``, which repeats the scores with all their digits: the
    prompts of these systems print four. A failed program: the task's failure values, ``validity``
    0.0, and the text ``error``. All values but the two texts are finite floats.

    ``task_id`` is an id, a name or a task folder. ``variant``, ``options``, ``wall_s`` and
    ``memory_mb`` are those of :func:`benchmark.evaluate`; ``workers`` is how many evaluations the
    system runs at once, each of which then gets its share of the cores.

    Raises :class:`~benchmark.evaluator.Unavailable` when this machine lacks what the task needs,
    and what :func:`benchmark.evaluate` raises for bad arguments. A failure of the harness during
    one evaluation is logged and told like a failure of the program, because these systems score
    an exception as 0.0 whatever the scale of the task.
    """
    setup = prepare(task_id, variant, options)
    task = setup.task
    evaluation = evaluate(
        task, program_path, variant=variant, options=options, wall_s=wall_s, memory_mb=memory_mb,
        harness=_harness(workers),
    )  # fmt: skip
    if evaluation.status == "unavailable":
        if not evaluation.reason.startswith(_INFRASTRUCTURE):
            raise Unavailable(evaluation.reason)
        logger.error("%s: %s was not evaluated: %s", task.id, program_path, evaluation.reason)
    if evaluation.valid and evaluation.search is not None:
        return _passed(task, evaluation, evaluation.search)
    return _failed(setup, evaluation)


def require(task_id: str) -> None:
    """Raise unless this machine can evaluate the task: a run should end before it has begun.

    Raises :class:`~benchmark.evaluator.Unavailable`, :class:`~benchmark.catalogue.UnknownTask`,
    :class:`~benchmark.task.TaskError`, or
    :class:`~benchmark.sandbox.jail.SandboxBroken` when there is no sandbox.
    """
    task = find_task(task_id)
    state = availability(task)
    if not state.available:
        raise Unavailable(f"{task.id} cannot be evaluated here: {'; '.join(state.missing)}")
    _harness(1)


@cache
def _harness(workers: int) -> Harness:
    # Nothing is prewarmed: these systems fork, and a child must not share waiting sandboxes.
    return Harness(workers=workers)


def _passed(task: Task, evaluation: Evaluation, search: float) -> dict[str, float | str]:
    verdict: dict[str, float | str] = {"combined_score": float(search), "validity": 1.0}
    scores = f"combined_score = {float(search)!r}"
    if evaluation.objective is not None:
        verdict["objective"] = float(evaluation.objective)
        goal = {"min": "minimise", "max": "maximise"}[task.declared.direction]
        name = task.declared.reporting_metric
        scores += f"; {name} = {float(evaluation.objective)!r} (objective, {goal})"
    verdict |= {name: float(v) for name, v in evaluation.metrics.items() if name not in _OURS}
    verdict["feedback"] = _text([scores, evaluation.feedback], evaluation.attachments)
    return verdict


def _failed(setup: Setup, evaluation: Evaluation) -> dict[str, float | str]:
    reason = evaluation.reason or "the evaluator gave no search score"
    text = _text([f"{evaluation.status}: {reason}"], evaluation.attachments)
    return {**FAILED, **_failure_values(setup), "error": text}


def _failure_values(setup: Setup) -> dict[str, float]:
    declared = load_evaluator(setup).peer_failure
    values = {name: float(value) for name, value in declared.items()}
    if not all(map(math.isfinite, values.values())):
        raise ValueError(f"{setup.task.id}: peer_failure must be finite, got {values}")
    return values


def _text(lines: list[str], attachments: Mapping[str, str]) -> str:
    """Lines, then each attachment under its name; the beginning of what is too long."""
    pieces = [line for line in lines if line]
    pieces += [f"{name}:\n{text}" for name, text in attachments.items() if text]
    return "\n".join(
        piece if len(piece) <= TEXT_CHARS else piece[:TEXT_CHARS] + "\n... (cut)"
        for piece in pieces
    )
