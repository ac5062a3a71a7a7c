"""Objectives from search scores, where a task's formula can be turned round.

Sources: the tasks' specifications. Not invertible: SWAP counts (the score weighs circuits), and
tasks whose reporting metric is held out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from benchmark.task import Task

_EPSILON = 1e-8


def _same(score: float) -> float:
    return score


def _reciprocal(score: float) -> float:
    """From 1 / (1e-8 + C)."""
    return 1.0 / score - _EPSILON


_FORMULAS: Mapping[str, Callable[[float], float]] = {
    "cp26": _same,
    "cp32": _same,
    "hadamard29": _same,
    "sums_diffs": _same,
    "erdos": _reciprocal,
}


def objective_of(task: Task, search_score: float | None) -> float | None:
    """The objective behind a search score; ``None`` where it cannot be derived."""
    if search_score is None or search_score <= 0 or task.declared.held_out:
        return None
    domain, _, name = task.id.partition("/")
    if domain == "astrodynamics":
        return _delta_v(task, search_score)
    formula = _FORMULAS.get(name)
    return None if formula is None else formula(search_score)


def _delta_v(task: Task, score: float) -> float | None:
    """From 2 T / (T + delta-v), T the task's target in km/s."""
    path = task.folder / "data" / "problem.json"
    target: float = json.loads(path.read_text(encoding="utf-8"))["target_dv"]
    return target * (2.0 / score - 1.0)
