"""Figure 7: EvoDuet with more candidates at a time.

The paper averages eight tasks that it does not name, and prints only the end points. Drawn here is
the mean over a list of our own: all tasks that have a published score for every model and N shown;
the CSV file names them. Both statistics are given, because the paper does not say which it uses.
Own runs (`runs_fig7`, the only source of N = 16) have a figure of their own in `own_fig7`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from analysis.figures import style
from analysis.figures.style import MUTED, Drawn, Look
from analysis.gains import Gain, best_gains, gains_of_means
from analysis.ordering import in_order
from analysis.output import CsvFile
from analysis.published import EVODUET, Published

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_END_POINT = re.compile(r"Fig7 (\S+) average N=(\d+)")


@dataclass(frozen=True)
class Point:
    """Mean NDG over the list, for one model and N; the mean score's NDG and the best run's."""

    model: str
    n: int
    of_mean_score: float
    of_best: float
    n_tasks: int


def common_tasks(data: Published) -> list[str]:
    """Tasks with an EvoDuet cell for every model and N."""
    cells = [cell for cell in data.scores if cell.method == EVODUET]
    settings = {(cell.model, cell.n) for cell in cells}
    have: dict[str, set[tuple[str, int]]] = {}
    for cell in cells:
        have.setdefault(cell.task_id, set()).add((cell.model, cell.n))
    return sorted(task for task, found in have.items() if found == settings)


def points(data: Published) -> list[Point]:
    """Means over :func:`common_tasks`."""
    tasks = set(common_tasks(data))
    means, bests = ([g for g in gains if g.cell.method == EVODUET and g.cell.task_id in tasks]
                    for gains in (gains_of_means(data), best_gains(data)))  # fmt: skip
    models = in_order(g.cell.model for g in bests)
    keys = sorted(
        {(g.cell.model, g.cell.n) for g in bests}, key=lambda k: (models.index(k[0]), k[1])
    )
    return [
        Point(model, n, _mean(means, model, n), _mean(bests, model, n), len(tasks))
        for model, n in keys
    ]


def _mean(gains: Sequence[Gain], model: str, n: int) -> float:
    return fmean(g.value for g in gains if (g.cell.model, g.cell.n) == (model, n))


def end_points(data: Published) -> list[tuple[str, int, float]]:
    """(Model as the text calls it, N, mean NDG) of the paper's eight tasks."""
    found = []
    for row in data.claims.values():
        named = _END_POINT.fullmatch(row.text("quantity"))
        if named is not None:
            found.append((named[1], int(named[2]), float(row.number("value"))))
    return sorted(found)


def draw(data: Published) -> Drawn:
    """Two panels, one a statistic, with the paper's end points in both."""
    figure = style.new_figure(7.6, 3.4)
    looks = style.model_looks(data)
    panels = figure.subplots(1, 2, sharey=True)
    found = points(data)
    n_tasks = found[0].n_tasks if found else 0
    for axes, name, title in zip(
        panels, ("of_best", "of_mean_score"),
        ("(a) best run", "(b) mean score, a lower bound"), strict=True,
    ):  # fmt: skip
        _panel(axes, found, name, end_points(data), looks)
        axes.set_title(f"{title}, {n_tasks} tasks")
    panels[0].set_ylabel("EvoDuet, mean NDG over tasks, %")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    tasks = CsvFile("fig7_tasks", ("task_id",), [(task,) for task in common_tasks(data)])
    return Drawn("fig7", style.pictures(figure), [*tables(data), tasks])


def tables(data: Published) -> list[CsvFile]:
    """The data beside the figure."""
    mine = [(p.model, p.n, p.of_mean_score, p.of_best, p.n_tasks) for p in points(data)]
    columns = ("model", "N", "ndg_of_mean_score", "ndg_of_best", "n_tasks")
    return [
        CsvFile("fig7", columns, mine),
        CsvFile("fig7_published", ("model_in_text", "N", "mean_ndg_of_8_unnamed_tasks"),
                end_points(data)),
    ]  # fmt: skip


def _panel(
    axes: Axes,
    found: list[Point],
    name: str,
    published: list[tuple[str, int, float]],
    looks: dict[str, Look],
) -> None:
    ticks = sorted({p.n for p in found} | {n for _, n, _ in published})
    place = {n: i for i, n in enumerate(ticks)}
    for model in in_order(p.model for p in found):
        mine = [(place[p.n], getattr(p, name)) for p in found if p.model == model]
        look = looks[model]
        axes.plot(*zip(*mine, strict=True), marker=look.marker, color=look.colour, label=model)
    for short in dict.fromkeys(model for model, _, _ in published):
        ends = [(place[n], value) for model, n, value in published if model == short]
        look = next((looks[m] for m in looks if short in m), Look(MUTED, "x"))
        axes.plot(
            *zip(*ends, strict=True), ":", lw=1, color=look.colour, marker=look.marker,
            markerfacecolor="none", label=f"{short}, paper's 8 unnamed tasks",
        )  # fmt: skip
    axes.set_xticks(range(len(ticks)), [str(n) for n in ticks])
    axes.set(xlabel="N, candidates at a time")
