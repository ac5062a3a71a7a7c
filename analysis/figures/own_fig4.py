"""Figure 4(b) to (d) from own runs: how methods that search go on, on the tasks that they share."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from analysis.behaviour.iterations import RunFacts
from analysis.behaviour.queries import Searching, search_files, searching
from analysis.figures import style
from analysis.figures.naming import full_names
from analysis.figures.style import INK, LINES, Drawn
from analysis.runs import Configuration, Run, Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "runs_fig4"
Cells = Mapping[str, Sequence[tuple[Run, Searching]]]
"""Runs of each configuration, by its short name."""


def draw(study: Study, facts: Sequence[RunFacts]) -> Drawn | None:
    """Executed queries, distinct URLs and final NDG; nothing without complete runs that search."""
    by_folder = {run.folder: run for run in study.runs if run.complete}
    found: dict[Configuration, list[tuple[Run, Searching]]] = {}
    for one in facts:
        run = by_folder.get(one.folder)
        if run is not None and any(i.executed_queries for i in one.iterations):
            found.setdefault(run.configuration, []).append((run, searching(one)))
    tasks = [{run.task.name for run, _ in mine} for mine in found.values()]
    common = set.intersection(*tasks) if tasks else set()
    if not common:
        return None
    configs = sorted(found, key=lambda config: config.key)
    names = full_names(config.label for config in configs)
    cells = {
        names[config.label]: [pair for pair in found[config] if pair[0].task.name in common]
        for config in configs
    }
    figure = style.new_figure(9.5, 2.9 + 0.17 * len(cells))
    panels = figure.subplots(1, 3)
    looks = style.looks(cells)
    colours = [looks[name].colour for name in cells]
    _curves(panels[0], [[s.queries for _, s in mine] for mine in cells.values()], colours)
    _curves(panels[1], [[s.pages for _, s in mine] for mine in cells.values()], colours)
    _ends(panels[2], cells, colours)
    panels[0].set(title="(b) executed queries\nmean of runs", ylabel="queries so far")
    panels[1].set(title="(c) distinct URLs\nmean of runs", ylabel="URLs so far")
    figure.legend(handles=_handles(cells, colours), loc="outside lower center")
    shared = ", ".join(sorted(common)) if len(common) <= 3 else f"{len(common)} tasks"
    figure.suptitle(f"Methods that search, on {shared}", fontsize=8.5, x=0.01, ha="left")
    shown = [s.run for mine in cells.values() for _, s in mine]
    return Drawn(NAME, style.pictures(figure), search_files(shown))


def _curves(axes: Axes, groups: Sequence[Sequence[Sequence[int]]], colours: Sequence[str]) -> None:
    """Means over the runs, up to the last iteration that all of them scheduled."""
    for place, (totals, colour) in enumerate(zip(groups, colours, strict=True)):
        length = min(map(len, totals))
        means = [statistics.fmean(curve[t] for curve in totals) for t in range(length)]
        axes.plot(range(length), means, color=colour, ls=LINES[place % len(LINES)], lw=1.4)
    axes.set(xlabel="iteration", xlim=(0, None), ylim=(0, None))


def _ends(axes: Axes, cells: Cells, colours: Sequence[str]) -> None:
    for place, (mine, colour) in enumerate(zip(cells.values(), colours, strict=True)):
        known = [run.ndg for run, _ in mine if run.ndg is not None]
        last = statistics.fmean(s.last_improving for _, s in mine)
        value = statistics.fmean(known) if known else 0.0
        axes.barh(place, value, 0.62, color=colour, edgecolor=INK, lw=0.6)
        words = f"{value:.1f}" if known else "held out"
        axes.annotate(f"{words}, last gain at {last:.4g}", (value, place), (3, 0), va="center",
                      textcoords="offset points", fontsize=6.5)  # fmt: skip
    axes.set_yticks(())
    axes.set(xlabel="mean NDG of the best, %", ylim=(len(cells) - 0.4, -0.6))
    axes.set_xlim(0, 1.9 * max(10.0, axes.dataLim.x1))
    axes.set_title("(d) final NDG and iteration\nof the last improvement, mean of runs")


def _handles(cells: Cells, colours: Sequence[str]) -> list[object]:
    from matplotlib.lines import Line2D

    handles: list[object] = []
    for place, ((name, mine), colour) in enumerate(zip(cells.items(), colours, strict=True)):
        returned = sum(s.returned[-1] for _, s in mine)
        repeats = 1 - sum(s.pages[-1] for _, s in mine) / returned if returned else None
        queries = statistics.fmean(s.queries[-1] for _, s in mine)
        pages = statistics.fmean(s.pages[-1] for _, s in mine)
        words = f"{len(mine)} runs, {queries:.4g} queries, {pages:.4g} URLs"
        if repeats is not None:
            words += f", {100 * repeats:.1f} % repeated"
        handles.append(
            Line2D([], [], color=colour, ls=LINES[place % len(LINES)], lw=1.4,
                   label=f"{name}: {words}")
        )  # fmt: skip
    return handles
