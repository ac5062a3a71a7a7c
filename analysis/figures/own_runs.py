"""Figures of own runs: anytime curves, and search scores where the reporting metric is held out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.figures import style
from analysis.figures.naming import full_names
from analysis.figures.style import LINES, Drawn, Look
from analysis.output import CsvFile, Value
from analysis.progress import COUNTS, Progress
from analysis.run_curves import EVALUATIONS, Curves, cells
from analysis.runs import LABELS, Configuration
from analysis.statistics.anytime import costs_up_to
from analysis.statistics.scores import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = {
    "iterations": "iterations",
    "evaluations": "evaluations",
    "usd": "USD",
    "seconds": "wall clock, s",
}


def common_tasks(curves: Curves) -> list[str]:
    """Tasks with NDG curves of every configuration that has any."""
    found: dict[Configuration, set[str]] = {}
    for config, task, measure in cells(curves):
        if measure == "ndg":
            found.setdefault(config, set()).add(task)
    return sorted(set.intersection(*found.values())) if found else []


def anytime_figure(curves: Curves) -> Drawn | None:
    """Mean NDG over common tasks against iterations, evaluations, USD and time."""
    tasks = common_tasks(curves)
    if not tasks:
        return None
    by_cell = {
        key[:2]: mine for key, mine in cells(curves).items() if key[2] == "ndg" and key[1] in tasks
    }
    configs = sorted({config for config, _ in by_cell}, key=lambda config: config.key)
    names = full_names(config.label for config in configs)
    looks = style.looks(names.values())
    figure = style.new_figure(8.4, 5.2 + 0.16 * len(configs))
    rows: list[tuple[Value, ...]] = []
    for axes, (axis, label) in zip(figure.subplots(2, 2, sharey=True).flat, SHOWN.items(),
                                   strict=True):  # fmt: skip
        for place, config in enumerate(configs):
            mine = {task: by_cell[config, task] for task in tasks}
            found = mean_over_tasks(mine, axis)
            if found is None:
                continue
            grid, values = found
            name = names[config.label]
            _line(axes, grid, values, looks[name], place, name)
            rows += [(*config.label, axis, float(c), float(v), len(tasks))
                     for c, v in zip(grid, values, strict=True)]  # fmt: skip
        axes.set(xlabel=label, ylabel="mean NDG, %", xlim=(0, None))
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center")
    title = f"NDG of the best so far, mean over {len(tasks)} tasks and their runs"
    figure.suptitle(title, fontsize=8.5, x=0.01, ha="left")
    data = CsvFile("runs_anytime_data", (*LABELS, "axis", "cost", "mean_ndg", "n_tasks"), rows)
    return Drawn("runs_anytime", style.pictures(figure), [data])


def mean_over_tasks(
    by_task: Mapping[str, Sequence[Progress]], axis: str
) -> tuple[Array, Array] | None:
    """Mean over tasks of the mean over runs, up to the cost that all runs have spent.

    ``None`` where a run does not know its cost on this axis.
    """
    everyone = [progress for mine in by_task.values() for progress in mine]
    if not all(axis in progress.curves for progress in everyone):
        return None
    end = min(progress.curves[axis].spent for progress in everyone)
    grid = costs_up_to(end, whole=axis in COUNTS)
    means = [np.mean([p.curves[axis].at(grid) for p in mine], axis=0) for mine in by_task.values()]
    result: Array = np.mean(means, axis=0)
    return grid, result


def search_score_figure(curves: Curves) -> Drawn | None:
    """Search scores of held-out tasks without report points, one panel a task."""
    by_task: dict[str, dict[Configuration, list[Progress]]] = {}
    for (config, task, measure), mine in cells(curves).items():
        if measure != "ndg":
            by_task.setdefault(task, {})[config] = mine
    if not by_task:
        return None
    names = full_names(config.label for mine in by_task.values() for config in mine)
    looks = style.looks(names.values())
    ncols = min(3, len(by_task))
    nrows = -(-len(by_task) // ncols)
    figure = style.new_figure(max(5.0, 3.0 * ncols), 2.5 * nrows + 0.1 + 0.16 * len(names))
    panels = figure.subplots(nrows, ncols, squeeze=False)
    rows: list[tuple[Value, ...]] = []
    handles: dict[str, Any] = {}
    for axes, (task, configs) in zip(panels.flat, sorted(by_task.items()), strict=False):
        for config, mine in sorted(configs.items(), key=lambda item: item[0].key):
            found = mean_over_tasks({task: mine}, EVALUATIONS)
            if found is None:
                continue
            name = names[config.label]
            line = _line(axes, *found, looks[name], list(looks).index(name), name)
            handles.setdefault(name, line)
            rows += [(*config.label, task, float(c), float(v))
                     for c, v in zip(*found, strict=True)]  # fmt: skip
        axes.set(title=task, xlabel="evaluations", ylabel="search score (not NDG)")
    for axes in panels.flat[len(by_task) :]:
        axes.set_visible(False)
    figure.legend(list(handles.values()), list(handles), loc="outside lower center")
    data = CsvFile(
        "runs_search_score_data", (*LABELS, "task_id", "evaluations", "search_score"), rows
    )
    return Drawn("runs_search_score", style.pictures(figure), [data])


def _line(axes: Axes, grid: Array, values: Array, look: Look, place: int, label: str) -> Any:
    (line,) = axes.step(
        grid, values, where="post", color=look.colour, ls=LINES[place % len(LINES)], lw=1.4,
        label=label,
    )  # fmt: skip
    return line
