"""Cells of the paper's tables from own runs: which runs belong to a cell, by their settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any

from analysis.ordering import domain_key, model_key
from analysis.output import Value
from analysis.run_statistics import comparable
from analysis.runs import Run, Study
from analysis.tables.render import Cell, rounded
from benchmark.catalogue import catalogue
from benchmark.task import Task

NONE, ORACLE, JOINT, EVODUET = "none", "oracle", "joint", "evoduet"
"""Retrievers that the paper compares."""

NO_RUNS = "no runs"
SERIES = ("model", "N", "scaffold", "settings")
"""Columns that name a series."""

_COMPARED = frozenset(("gate", "p", "R", "J", "M", "D", "search"))
"""Words of a run's settings that tables compare; a difference in any other makes a series."""


@dataclass(frozen=True)
class Choice:
    """A run and what its manifest says it was set to; ``None`` where it says nothing."""

    run: Run
    scaffold: str
    retriever: str
    search: str | None
    unusual: str
    config: Mapping[str, Any] = field(compare=False)

    def is_set(self, **wanted: Any) -> bool:
        """Whether the run's manifest has all these values."""
        return all(self.config.get(name) == value for name, value in wanted.items())


PLAIN = {"gate": "knowledge", "rounds": 3, "queries": 1, "per_query": 5, "retain": 3}
"""Settings of EvoDuet wherever a table does not vary them."""


def is_plain(choice: Choice, **varied: Any) -> bool:
    """Whether a run is EvoDuet with its usual settings, but for ``varied``."""
    return choice.retriever == EVODUET and choice.is_set(**{**PLAIN, **varied})


@dataclass(frozen=True)
class Series:
    """Runs that differ in nothing but what a table compares, the task and the seed."""

    model: str
    n: int | None
    scaffold: str
    settings: str

    @property
    def label(self) -> tuple[Value, ...]:
        """Aligned with :data:`SERIES`."""
        return (self.model, self.n, self.scaffold, self.settings)

    @property
    def title(self) -> str:
        """For headings."""
        n = "" if self.n is None else f"N = {self.n}"
        return ", ".join(part for part in (self.model, n, self.scaffold, self.settings) if part)

    @property
    def key(self) -> tuple[Any, ...]:
        """Sort key."""
        return (model_key(self.model), self.n or 0, self.scaffold, self.settings)


EMPTY = Series("", None, "", "")
"""Stands for the series of a table that no run serves, so that its layout is there all the same."""


def choices(study: Study) -> list[Choice]:
    """All comparable runs of the study with their settings."""
    return [_choice(run) for run in comparable(study)]


def _choice(run: Run) -> Choice:
    config = run.config
    scaffold, _, retriever = run.configuration.method.rpartition("+")
    words = run.configuration.settings.split()
    unusual = " ".join(word for word in words if word.partition("=")[0] not in _COMPARED)
    search = config.get("search") if any(w.startswith("search=") for w in words) else None
    return Choice(run, scaffold, retriever, search, unusual, config)


def by_series(
    found: Iterable[Choice], *, with_n: bool = True, with_scaffold: bool = True
) -> dict[Series, list[Choice]]:
    """Runs by series, in order; runs that search nothing serve every series of their kind.

    So a baseline without retrieval stands beside the runs on each source of documents, and runs on
    different sources are never averaged.
    """
    kinds: dict[Series, list[Choice]] = {}
    for choice in found:
        config = choice.run.configuration
        kind = Series(
            config.model,
            config.n if with_n else None,
            choice.scaffold if with_scaffold else "",
            choice.unusual,
        )
        kinds.setdefault(kind, []).append(choice)
    result: dict[Series, list[Choice]] = {}
    for kind in sorted(kinds, key=lambda kind: kind.key):
        mine = kinds[kind]
        sources: list[str | None] = [*sorted({c.search for c in mine if c.search is not None})]
        for source in sources or [None]:
            words = " ".join(w for w in (f"search={source}" if source else "", kind.settings) if w)
            series = Series(kind.model, kind.n, kind.scaffold, words)
            result[series] = [c for c in mine if c.search in (source, None)]
    return result


@dataclass(frozen=True)
class OwnCell:
    """Runs of one cell; all statistics are ``None`` without runs. NDG in percent."""

    runs: tuple[Run, ...]

    @property
    def n(self) -> int:
        """Number of runs."""
        return len(self.runs)

    @property
    def iterations(self) -> int | None:
        """Iterations of each run; those of a cell have equally many."""
        return self.runs[0].iterations if self.runs else None

    @property
    def gains(self) -> list[float]:
        """NDG, floored at 0."""
        return [run.ndg for run in self.runs if run.ndg is not None]

    @property
    def natives(self) -> list[float]:
        """Scores in the task's own unit."""
        return [run.objective for run in self.runs if run.objective is not None]

    @property
    def mean(self) -> float | None:
        """Mean NDG."""
        return fmean(self.gains) if self.runs else None

    @property
    def std(self) -> float | None:
        """Sample standard deviation of NDG; needs two runs."""
        return stdev(self.gains) if self.n > 1 else None

    @property
    def best(self) -> float | None:
        """Largest NDG."""
        return max(self.gains, default=None)

    @property
    def native_mean(self) -> float | None:
        """Mean score."""
        return fmean(self.natives) if self.natives else None

    @property
    def native_std(self) -> float | None:
        """Sample standard deviation of the scores."""
        return stdev(self.natives) if len(self.natives) > 1 else None

    @property
    def native_best(self) -> float | None:
        """Best score in the task's direction."""
        if not self.natives:
            return None
        return (max if self.runs[0].task.declared.direction == "max" else min)(self.natives)

    @property
    def note(self) -> str:
        """Why a cell is empty."""
        return "" if self.runs else NO_RUNS


NOTHING = OwnCell(())


def cell(found: Iterable[Choice], task: str, belongs: Callable[[Choice], bool]) -> OwnCell:
    """The runs on a task that belong to a cell."""
    mine = [c.run for c in found if c.run.task.name == task and belongs(c)]
    return OwnCell(tuple(mine))


def at_one_budget(found: Sequence[Choice]) -> tuple[list[Choice], list[str]]:
    """Runs of each task with one number of iterations, and notes on the rest.

    That number is the one that the task declares, as in the paper, where some run has it, else the
    largest that occurs: a mean over different budgets means nothing.
    """
    by_task: dict[str, list[Choice]] = {}
    for choice in found:
        by_task.setdefault(choice.run.task.name, []).append(choice)
    kept, notes = [], []
    for task, mine in sorted(by_task.items()):
        declared = mine[0].run.task.declared.search.iterations
        lengths = {choice.run.iterations for choice in mine}
        chosen = declared if declared in lengths else max(lengths)
        kept += [choice for choice in mine if choice.run.iterations == chosen]
        if chosen != declared:
            notes.append(f"{task}: runs of {chosen} iterations instead of {declared}.")
        left = sum(choice.run.iterations != chosen for choice in mine)
        if left:
            notes.append(
                f"{task}: {counted_runs(left)} of other than {chosen} iterations left out of the "
                "paper's layout (see runs_cells.csv)."
            )
    return kept, notes


def in_paper_order() -> list[Task]:
    """Tasks of the catalogue by domain and name."""
    return sorted(catalogue().values(), key=lambda t: (domain_key(t.declared.domain_title), t.name))


def counted_runs(number: int) -> str:
    """``1 run``, ``2 runs``."""
    return f"{number} run{'' if number == 1 else 's'}"


def missing_note(missing: Sequence[str]) -> tuple[str, ...]:
    """A sentence that names the cells without runs; nothing when there are none."""
    return (f"No runs, cells empty: {'; '.join(missing)}.",) if missing else ()


def spread(mean: float | None, std: float | None, decimals: int, bold: bool = False) -> Cell:
    """Mean and standard deviation as the paper prints them; one run has no deviation."""
    text = rounded(mean, decimals)
    return Cell(text if std is None else f"{text} ± {rounded(std, decimals)}", bold)


def difference(one: float | None, other: float | None) -> float | None:
    """``other`` minus ``one`` where both are known."""
    return None if one is None or other is None else other - one


def higher(one: float | None, other: float | None, decimals: int) -> bool:
    """Whether ``one`` is higher at the digits shown; not when there is nothing to compare with."""
    if one is None or other is None:
        return False
    return one > other and rounded(one, decimals) != rounded(other, decimals)
