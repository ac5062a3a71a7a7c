"""The evaluations of a plan: programs x tasks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from glob import glob
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from benchmark.suite import find_programs
from benchmark.task import Task, TaskError
from method.executors.jobs import Job, Resources
from method.sweep.cells import HARNESS_MB, Cell, add, digest_of, points, slug, tasks_of
from method.sweep.plan import EvaluationConfig, SweepPlan


def evaluation_cells(plan: SweepPlan) -> tuple[list[Cell], list[str]]:
    """All evaluations of a plan, and notes about tasks without a program.

    Raises :class:`~method.sweep.plan.PlanError`.
    """
    cells: dict[str, Cell] = {}
    without: dict[str, None] = {}
    for fields, axes, arm in points(plan):
        for task in tasks_of(plan, fields.get("task"), arm):
            found = list(_programs(plan, task, fields, arm))
            if not found:
                without[f"no program for {task.name} in {fields['program']}"] = None
            for program in found:
                add(plan, cells, _cell(plan, task, program, fields, axes, arm))
    return list(cells.values()), list(without)


def _programs(plan: SweepPlan, task: Task, fields: Mapping[str, Any], arm: int) -> Iterator[Path]:
    place = plan.place_of("program", arm)
    given = fields.get("program")
    if not isinstance(given, str):
        raise plan.problem(place, "expected a file, a folder, a pattern or initial")
    path = Path(given)
    if given == "initial":
        yield task.initial_program
    elif path.is_file():
        yield path
    elif path.is_dir():
        yield from (entry.program for entry in find_programs([task], path)[0])
    else:
        matches = sorted(name for name in glob(given, recursive=True) if Path(name).is_file())
        if not matches:
            raise plan.problem(place, f"{given}: no such file or folder, and nothing matches it")
        yield from map(Path, matches)


def _cell(
    plan: SweepPlan,
    task: Task,
    program: Path,
    fields: Mapping[str, Any],
    axes: Mapping[str, Any],
    arm: int,
) -> Cell:
    reference = str(task.folder) if task.package is None else task.id
    try:
        config = EvaluationConfig.model_validate(
            {**fields, "task": reference, "program": str(program)}
        )
        task.options(config.options)
    except ValidationError as error:
        problem = error.errors()[0]
        key = str(problem["loc"][0])
        raise plan.problem(plan.place_of(key, arm), str(problem["msg"])) from None
    except TaskError as error:
        raise plan.problem(plan.place_of("options", arm), str(error)) from None
    text = program.read_text(encoding="utf-8", errors="surrogateescape")
    spec = config.model_dump(exclude={"program", "cores"}) | {
        "program": text,
        "path": str(program),
        "name": program.stem,
        "suffix": program.suffix,
    }
    content = hashlib.sha256(text.encode("utf-8", errors="surrogateescape")).hexdigest()
    identity = {**config.model_dump(exclude={"program"}), "task": task.id, "sha256": content}
    job = Job(
        f"{task.name}/{slug(program.stem)}-{digest_of(identity)}",
        "evaluation",
        spec,
        Resources(config.cores, task.limits.memory_mb + HARNESS_MB),
    )
    return Cell(job, {**axes, "task": task.name, "program": str(program)}, arm)
