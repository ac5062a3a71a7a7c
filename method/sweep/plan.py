"""The plan of a sweep: one TOML file.

::

    name = "gates"              # default: the file's name
    max_cost = 25.0             # USD for all runs together
    usd_per_call = 0.004        # or a table by model; for the plan's cost, not for the account
    usd_per_search = 0.008

    [defaults]                  # any field of a run's configuration
    iterations = 50

    [grid]                      # every combination; any field, a list each
    task = ["cp26", "simple_science"]
    seed = [1, 2, 3]
    candidates = [1, 8]

    [[arms]]                    # in each cell of the grid, each arm; any fields
    method = "none"
    [[arms]]
    method = "evoduet"
    gate = "random"

With ``kind = "evaluations"`` the fields are those of :class:`EvaluationConfig`, and every program
is scored on every task.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from method.config import RunConfig
from method.config_sources import ALIASES
from method.sweep.lines import Place, line_of

Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class PlanError(ValueError):
    """A plan cannot be used; the message names the file, the line, the key and what is allowed."""


class EvaluationConfig(BaseModel):
    """One evaluation of a program; see :func:`benchmark.evaluate`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str
    program: str
    """A file, a folder with ``<task name>.py`` for each task, a pattern, or ``initial``."""
    stage: Literal["search", "report", "both"] = "search"
    variant: str | None = None
    options: dict[str, str] = {}
    repeats: Annotated[int, Field(ge=1)] = 1
    isolation: Literal["auto", "bubblewrap", "process"] = "auto"
    cores: Annotated[int, Field(ge=1)] = 1
    """Of one evaluation: as many threads may a candidate use at a time."""


class _File(BaseModel):
    """What can stand at the top of a plan."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Annotated[str, Field(pattern=f"^{_NAME.pattern}$")] | None = None
    kind: Literal["runs", "evaluations"] = "runs"
    max_cost: Dollars | None = None
    usd_per_call: Dollars | dict[str, Dollars] | None = None
    usd_per_search: Dollars | None = None
    as_released: bool = False
    defaults: dict[str, Any] = {}
    grid: dict[str, list[Any]] = {}
    arms: list[dict[str, Any]] = []


@dataclass(frozen=True)
class SweepPlan:
    """A plan whose keys are known; the values of runs are checked when cells are made of them."""

    file: Path
    text: str
    name: str
    kind: Literal["runs", "evaluations"]
    max_cost: float | None
    usd_per_call: float | Mapping[str, float] | None
    usd_per_search: float | None
    as_released: bool
    defaults: Mapping[str, Any]
    grid: Mapping[str, Sequence[Any]]
    arms: Sequence[Mapping[str, Any]]
    spelling: Mapping[Place, str]
    """How keys are written that the plan calls by another name than ours."""

    def problem(self, place: Place, text: str) -> PlanError:
        """An error at a key of this plan."""
        return _problem(self.file, self.text, place, text)

    def place_of(self, key: str, arm: int) -> Place:
        """Where the value of a field comes from: the arm, the grid or the defaults."""
        place: Place = ("grid", key) if key in self.grid else ("defaults", key)
        if arm < len(self.arms) and key in self.arms[arm]:
            place = ("arms", arm, key)
        return self.written(place)

    def written(self, place: Place) -> Place:
        """A place by our names, as the file writes it."""
        return (*place[:-1], self.spelling.get(place, place[-1]))


def read_plan(file: Path) -> SweepPlan:
    """Read a plan. Raises :class:`PlanError`, and ``OSError`` when there is no such file."""
    text = file.read_text(encoding="utf-8", errors="surrogateescape")
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{file}: not TOML: {error}") from None
    try:
        read = _File.model_validate(content)
    except ValidationError as error:
        raise _problem(file, text, *_explained(error)) from None
    name = read.name or re.sub(r"[^A-Za-z0-9._-]+", "-", file.stem).lstrip(".-") or "sweep"
    aliases = ALIASES if read.kind == "runs" else {}
    spelling: dict[Place, str] = {}
    tables: dict[Place, dict[str, Any]] = {}
    for place, table in _tables(read):
        tables[place] = {}
        for key, value in table.items():
            ours = aliases.get(key, key)
            if ours in tables[place]:
                raise _problem(file, text, (*place, key), f"given twice, it is the same as {ours}")
            tables[place][ours] = value
            spelling[(*place, ours)] = key
    plan = SweepPlan(
        file=file,
        text=text,
        name=name,
        kind=read.kind,
        max_cost=read.max_cost,
        usd_per_call=read.usd_per_call,
        usd_per_search=read.usd_per_search,
        as_released=read.as_released,
        defaults=tables["defaults",],
        grid=tables["grid",],
        arms=[table for place, table in tables.items() if place[0] == "arms"],
        spelling=spelling,
    )
    _check_keys(plan)
    return plan


def _explained(error: ValidationError) -> tuple[Place, str]:
    first = error.errors()[0]["loc"][0]
    # Of a number or a table, the branch that came further; it adds its own name to the place.
    problem = max(
        (each for each in error.errors() if each["loc"][0] == first),
        key=lambda each: len(each["loc"]),
    )
    place = tuple(part for part in problem["loc"] if "float" not in str(part))
    if problem["type"] == "extra_forbidden":
        return place, "unknown key" + _near(str(place[-1]), _File.model_fields)
    if place[:1] == ("grid",) and problem["type"] == "list_type":
        return place, "an axis is a list of values; a single value belongs into [defaults]"
    return place, str(problem["msg"])


def _check_keys(plan: SweepPlan) -> None:
    known = RunConfig.model_fields if plan.kind == "runs" else EvaluationConfig.model_fields
    for place, table in _tables(plan):
        for key in table:
            where = plan.written((*place, key))
            if key not in known:
                raise plan.problem(where, "unknown key" + _near(key, known))
            if key in plan.grid and place != ("grid",):
                raise plan.problem(where, "is an axis of the grid, too; remove one")
    for key, values in plan.grid.items():
        if not values:
            raise plan.problem(plan.written(("grid", key)), "an axis needs at least one value")
    if not any("task" in table for _, table in _tables(plan)):
        raise plan.problem(("grid",), "task: missing; name at least one under [grid]")


def _tables(plan: SweepPlan | _File) -> list[tuple[Place, Mapping[str, Any]]]:
    return [
        (("defaults",), plan.defaults),
        (("grid",), plan.grid),
        *((("arms", number), arm) for number, arm in enumerate(plan.arms)),
    ]


def _near(key: str, known: Any) -> str:
    near = difflib.get_close_matches(key, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _problem(file: Path, text: str, place: Place, message: str) -> PlanError:
    line = line_of(text, place)
    where = f"{file}" if line is None else f"{file}: line {line}"
    names = ".".join(str(part + 1) if isinstance(part, int) else part for part in place)
    return PlanError(": ".join(filter(None, (where, names, message))))
