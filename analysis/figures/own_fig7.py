"""Figure 7 from own runs: EvoDuet with several candidates at a time, over a declared list of tasks.

No published number is in it; the paper's tasks are unnamed, so the two cannot be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from analysis.figures import style
from analysis.figures.style import Drawn
from analysis.output import CsvFile
from analysis.rows import DataProblem
from analysis.runs import Study
from analysis.tables.own_cells import (
    Choice,
    OwnCell,
    Series,
    at_one_budget,
    by_series,
    cell,
    choices,
    is_plain,
)


@dataclass(frozen=True)
class OwnCurve:
    """EvoDuet runs of one series over the list, by N; a point needs a run on every task."""

    series: Series
    tasks: tuple[str, ...]
    cells: Mapping[int, Mapping[str, OwnCell]]

    def missing(self, n: int) -> list[str]:
        """Tasks of the list without a run at N."""
        return [task for task in self.tasks if not self.cells[n][task].runs]

    @property
    def shown(self) -> list[int]:
        """N with runs on the whole list."""
        return [n for n in self.cells if self.tasks and not self.missing(n)]

    def mean(self, n: int) -> float:
        """Mean over the list of the cells' mean NDG."""
        return fmean(own.mean or 0.0 for own in self.cells[n].values())

    def best(self, n: int) -> float:
        """Mean over the list of the cells' best NDG."""
        return fmean(own.best or 0.0 for own in self.cells[n].values())


def curves(study: Study, declared: Sequence[str] = ()) -> list[OwnCurve]:
    """Curves of all series with at least two N.

    The list is ``declared`` or, without it, every task that has runs at each N of the series.
    Raises :class:`DataProblem` for a declared task that no run is about.
    """
    found = [choice for choice in choices(study) if is_plain(choice)]
    known = {choice.run.task.name for choice in found}
    for task in declared:
        if task not in known:
            have = ", ".join(sorted(known)) or "none"
            raise DataProblem(f"--tasks {task}: no EvoDuet run on it; there are runs on {have}")
    drawn = []
    for series, mine in by_series(found, with_n=False).items():
        kept, _ = at_one_budget(mine)
        numbers = sorted({n for c in kept if (n := c.run.configuration.n) is not None})
        if len(numbers) > 1:
            tasks = sorted(set(declared)) or _everywhere(kept, numbers)
            drawn.append(OwnCurve(series, tuple(tasks), _own_cells(kept, numbers, tasks)))
    return drawn


def _everywhere(kept: Sequence[Choice], numbers: Sequence[int]) -> list[str]:
    have = {(c.run.task.name, c.run.configuration.n) for c in kept}
    return sorted(task for task in {t for t, _ in have} if all((task, n) in have for n in numbers))


def _own_cells(
    kept: Sequence[Choice], numbers: Sequence[int], tasks: Sequence[str]
) -> dict[int, dict[str, OwnCell]]:
    by_n = {n: [c for c in kept if c.run.configuration.n == n] for n in numbers}
    return {n: {t: cell(mine, t, lambda _: True) for t in tasks} for n, mine in by_n.items()}


def draw(study: Study, declared: Sequence[str] = ()) -> Drawn | None:
    """The same two panels from own runs; ``None`` where no series has a point at two N."""
    everything = curves(study, declared)
    shown = [curve for curve in everything if len(curve.shown) > 1]
    if not shown:
        return None
    figure = style.new_figure(7.6, 3.4 + 0.16 * len(shown))
    looks = style.looks(curve.series.title for curve in shown)
    panels = figure.subplots(1, 2, sharey=True)
    ticks = sorted({n for curve in shown for n in curve.shown})
    place = {n: i for i, n in enumerate(ticks)}
    for axes, value, title in zip(
        panels, (OwnCurve.best, OwnCurve.mean), ("(a) best run", "(b) mean over runs"), strict=True
    ):
        for curve in shown:
            points = [(place[n], value(curve, n)) for n in curve.shown]
            look = looks[curve.series.title]
            label = f"{curve.series.title}, {len(curve.tasks)} tasks"
            axes.plot(*zip(*points, strict=True), marker=look.marker, color=look.colour,
                      label=label)  # fmt: skip
        axes.set_xticks(range(len(ticks)), [str(n) for n in ticks])
        axes.set(xlabel="N, candidates at a time", title=title)
    panels[0].set_ylabel("EvoDuet, mean NDG over tasks, %")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center")
    return Drawn("runs_fig7", style.pictures(figure), tables(everything))


def tables(found: Sequence[OwnCurve]) -> list[CsvFile]:
    """Points and the list behind them; a point without runs on all tasks is empty."""
    names = ("model", "scaffold", "settings")
    points = [
        (*_names(curve), n, *((curve.mean(n), curve.best(n)) if n in curve.shown else (None, None)),
         len(curve.tasks), " ".join(curve.missing(n)))
        for curve in found
        for n in curve.cells
    ]  # fmt: skip
    cells = [
        (*_names(curve), task, n, own.iterations, own.n, own.mean, own.best)
        for curve in found
        for n, by_task in curve.cells.items()
        for task, own in by_task.items()
    ]
    return [
        CsvFile("runs_fig7", (*names, "N", "ndg_of_mean", "ndg_of_best", "n_tasks",
                              "tasks_without_runs"), points),
        CsvFile("runs_fig7_tasks", (*names, "task_id", "N", "iterations", "n_runs", "ndg_mean",
                                    "ndg_best"), cells),
    ]  # fmt: skip


def _names(curve: OwnCurve) -> tuple[str, str, str]:
    return (curve.series.model, curve.series.scaffold, curve.series.settings)
