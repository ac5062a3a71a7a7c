"""The jobs of a plan: every cell of its grid with each arm, named so that the name stays.

The folder of a run says task, method, model, N and seed, and ends with eight digits of the sha256
of everything else that decides it. So a plan can grow by axes, values and arms without renaming
what was done, and a changed setting is another run, never a mixture.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.catalogue import UnknownTask, find_task, select
from benchmark.task import Task, TaskError
from method.config import ConfigProblem, RunConfig, make_config
from method.executors.jobs import Job, Resources
from method.manifest import resolved
from method.models import searches
from method.planning import Plan
from method.planning import plan as bounds
from method.sweep.plan import PlanError, SweepPlan

HARNESS_MB = 512
"""What one job needs beside its candidates."""
NOT_IDENTITY = frozenset(("max_cost", "workers", "presets"))
"""Fields that may change without making it another run; what presets set stands beside them."""
CONDITIONS = ("workers", "isolation", "eval_wall_s", "edit", "iterations")
"""What must be equal for all arms of a task."""
FREE_MODELS = ("offline/", "scripted:")


@dataclass(frozen=True)
class Cell:
    """One job and where it stands in the grid; of runs also what they may do and cost at worst."""

    job: Job
    axes: Mapping[str, Any]
    arm: int
    config: RunConfig | None = None
    """What its task leaves open is filled in, so that every machine runs the same."""
    bound: Plan | None = None
    cost_usd: float | None = 0.0
    """``None``: calls whose price the plan does not tell."""

    @property
    def free(self) -> bool:
        """Whether it cannot cost anything."""
        return self.cost_usd == 0.0

    @property
    def label(self) -> str:
        """The values that make its arm: what neither task nor seed nor program is."""
        named = {k: v for k, v in self.axes.items() if k not in ("task", "seed", "program")}
        return ", ".join(f"{key}={value_text(value)}" for key, value in named.items()) or "(all)"


def value_text(value: Any) -> str:
    """A value of an axis in few characters."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def points(plan: SweepPlan) -> Iterator[tuple[dict[str, Any], dict[str, Any], int]]:
    """All fields, those that are axes, and the number of the arm, of each cell; tasks as given."""
    for values in itertools.product(*plan.grid.values()):
        cell = dict(zip(plan.grid, values, strict=True))
        for number, arm in enumerate(plan.arms or [{}]):
            yield {**plan.defaults, **cell, **arm}, {**cell, **arm}, number


def tasks_of(plan: SweepPlan, value: Any, arm: int) -> list[Task]:
    """The tasks of one ``task``: an id, a name, a folder, a domain, ``cheap``, ``all`` ...

    Raises :class:`PlanError`.
    """
    place = plan.place_of("task", arm)
    if not isinstance(value, str):
        raise plan.problem(place, f"expected a task's id or name, got {value_text(value)}")
    try:
        return [find_task(value)] if (Path(value) / "task.toml").is_file() else select(value)
    except (UnknownTask, TaskError) as error:
        raise plan.problem(place, str(error)) from None


def run_cells(plan: SweepPlan, out: Path) -> list[Cell]:
    """All runs of a plan. Raises :class:`PlanError`."""
    cells: dict[str, Cell] = {}
    for fields, axes, arm in points(plan):
        if "task" not in fields:
            raise plan.problem(("arms", arm), "task: missing")
        for task in tasks_of(plan, fields["task"], arm):
            cell = _run_cell(plan, out, task, fields, {"task": task.name, **axes}, arm)
            add(plan, cells, cell)
    return list(cells.values())


def add(plan: SweepPlan, cells: dict[str, Cell], cell: Cell) -> None:
    """Add a cell by its name. Raises :class:`PlanError` for two ways to say the same."""
    other = cells.setdefault(cell.job.id, cell)
    if other is cell:
        return
    place = plan.place_of("task", cell.arm)
    tasks = [each.job.spec.get("task") or each.job.spec["config"]["task"] for each in (cell, other)]
    if tasks[0] != tasks[1]:
        raise plan.problem(place, f"{tasks[1]} and {tasks[0]}: two tasks of one name; rename one")
    if cell.axes != other.axes and cell.job.kind == "run":
        text = f"{other.label} and {cell.label} are the same run ({cell.job.id})"
        raise plan.problem(("arms", cell.arm) if plan.arms else ("grid",), text)


def _run_cell(
    plan: SweepPlan,
    out: Path,
    task: Task,
    fields: Mapping[str, Any],
    axes: dict[str, Any],
    arm: int,
) -> Cell:
    reference = str(task.folder) if task.package is None else task.id
    try:
        config = resolved(make_config(None, **{**fields, "task": reference}))
    except ConfigProblem as error:
        raise _located(plan, str(error), arm) from None
    if config.cassette is not None and config.cassette_mode != "replay":
        raise plan.problem(
            plan.place_of("cassette", arm),
            "runs of a sweep cannot record into one file; their journals hold everything",
        )
    axes["task"] = task.name
    name = run_name(config, task)
    bound = bounds(config)
    workers = config.workers or 1
    return Cell(
        Job(
            name,
            "run",
            {"config": _given(config), "folder": str((out / name).resolve())},
            Resources(workers, task.limits.memory_mb * workers + HARNESS_MB),
        ),
        axes,
        arm,
        config,
        bound,
        _at_worst(bound.cost_usd(*_prices(plan, config)), config.max_cost),
    )


def _at_worst(planned_usd: float | None, own_cap: float | None) -> float | None:
    """What a run may cost: by its calls, or by its own cap."""
    known = [usd for usd in (planned_usd, own_cap) if usd is not None]
    return min(known, default=None)


def _located(plan: SweepPlan, text: str, arm: int) -> PlanError:
    """A message of the configuration, which begins with its key, at the place of that key."""
    key = re.split(r"[.:]", text, maxsplit=1)[0]
    if key in RunConfig.model_fields:
        return plan.problem(plan.place_of(key, arm), text.removeprefix(key).lstrip(".: "))
    return plan.problem(("arms", arm) if plan.arms else ("grid",), text)


def _given(config: RunConfig) -> dict[str, Any]:
    dumped: dict[str, Any] = config.model_dump(mode="json", exclude_defaults=True)
    return {"task": config.task, "model": config.model, **dumped}


def run_name(config: RunConfig, task: Task) -> str:
    """The folder of a run below the sweep's, for a configuration that its task has filled in."""
    decides = {
        key: value
        for key, value in _given(config).items()
        if key not in NOT_IDENTITY and value is not None
    }
    decides |= {"task": task.id, "method": str(config.name)}
    digest = digest_of(decides)
    method = str(config.name).removeprefix("openevolve-native+")
    model = slug(config.model.rpartition("/")[2])
    return f"{task.name}/{method}-{model}-N{config.candidates}-s{config.seed}-{digest}"


def digest_of(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip(".-")[:40] or "x"


def _prices(plan: SweepPlan, config: RunConfig) -> tuple[float | None, float | None]:
    """USD of a call and of a search, as far as the plan or the nature of the client tells."""
    if config.proposer:
        return 0.0, 0.0  # it asks models by itself; what it pays is not in our account
    if config.model.startswith(FREE_MODELS) or config.cassette_mode == "replay":
        per_call: float | None = 0.0
    elif isinstance(plan.usd_per_call, Mapping):
        per_call = plan.usd_per_call.get(config.model)
    else:
        per_call = plan.usd_per_call
    paid_search = searches(config) and config.search == "tavily"
    replayed = config.cassette_mode == "replay"
    return per_call, plan.usd_per_search if paid_search and not replayed else 0.0


def check_equal_conditions(plan: SweepPlan, cells: list[Cell]) -> None:
    """All arms of a task are evaluated alike, edit alike and have the same T.

    What is not equal would be measured as a difference of methods. Raises :class:`PlanError` naming
    the arms.
    """
    first: dict[str, Cell] = {}
    for cell in cells:
        assert cell.config is not None
        other = first.setdefault(cell.config.task, cell)
        assert other.config is not None
        for name in CONDITIONS:
            mine, theirs = (getattr(each, name) for each in (cell.config, other.config))
            if name == "edit" and (cell.config.proposer or other.config.proposer):
                continue  # it writes its programs by itself
            if mine != theirs:
                raise plan.problem(
                    plan.place_of(name, cell.arm),
                    f"unequal conditions on {cell.config.task}: {theirs} for the arm "
                    f"{other.label}, {mine} for {cell.label}; make them equal, or say "
                    "as_released = true",
                )
