"""The reward of one program, written where Harbor looks for it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark.catalogue import UnknownTask, find_task
from benchmark.data import data_store, wanted_files
from benchmark.evaluation import Evaluation, evaluate
from benchmark.evaluator import Unavailable
from benchmark.sandbox.jail import SandboxBroken
from benchmark.task import Task, TaskError

USAGE, MISSING = 2, 3


def main(task_id: str, arguments: Sequence[str] | None = None) -> int:
    """Score a program and write ``reward.txt``, ``reward.json`` and ``evaluation.json``.

    0: a reward is written, good or bad. 2: the program or the folder cannot be used. 3: this
    machine cannot evaluate the task; no reward is written then.
    """
    parser = argparse.ArgumentParser(description=f"Score a program on {task_id}.")
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path, help="where the reward is written")
    given = parser.parse_args(arguments)
    folder: Path = given.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        task = find_task(task_id)
        _fetch(task)
        if given.program.is_file():
            evaluation = _evaluated(task, given.program)
            _write(folder / "evaluation.json", evaluation.to_json())
            rewards = reward(evaluation)
        else:  # an agent that deletes its program has none
            print(f"{given.program}: there is no program", file=sys.stderr)
            rewards = {"reward": 0.0, "valid": 0.0}
    except OSError as problem:
        print(f"{problem.filename or folder}: {problem.strerror or problem}", file=sys.stderr)
        return USAGE
    except (Unavailable, UnknownTask, TaskError, SandboxBroken) as problem:
        print(problem, file=sys.stderr)
        return MISSING
    _write(folder / "reward.json", rewards)
    (folder / "reward.txt").write_text(f"{rewards['reward']!r}\n")
    print(f"{task.id}: reward {rewards['reward']!r}")
    return 0


def reward(evaluation: Evaluation) -> dict[str, float]:
    """Numbers of one evaluation: ``reward`` (NDG / 100), ``valid``, and what else is defined.

    Raises :class:`~benchmark.evaluator.Unavailable` for one that failed by no fault of the program,
    or that has no NDG because its data are not the official ones.
    """
    if evaluation.status == "unavailable":
        raise Unavailable(evaluation.reason)
    if not evaluation.valid:
        print(f"{evaluation.status}: {evaluation.reason}", file=sys.stderr)
        return {"reward": 0.0, "valid": 0.0}
    if evaluation.ndg is None:
        variant = evaluation.provenance.get("variant")
        raise Unavailable(
            f"{evaluation.task} was scored on {variant} data, which has no comparable scale: "
            f"make the official data available (`evoduet data fetch {evaluation.task}`)"
        )
    told = {
        "ndg": evaluation.ndg,
        "ndg_raw": evaluation.ndg_raw,
        "search_score": evaluation.search,
        "objective": evaluation.objective,
    }
    numbers = {name: float(value) for name, value in told.items() if value is not None}
    return {"reward": evaluation.ndg / 100, "valid": 1.0, **numbers}


def _fetch(task: Task) -> None:
    """Bring the official data here, if the task has any. Raises :class:`Unavailable`."""
    wanted = wanted_files(task, optional=False)
    if wanted:
        data_store().fetch(task, wanted)


def _evaluated(task: Task, program: Path) -> Evaluation:
    stage = "both" if task.declared.held_out else "search"
    return evaluate(task, program, stage)


def _write(path: Path, content: Mapping[str, Any]) -> None:
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
