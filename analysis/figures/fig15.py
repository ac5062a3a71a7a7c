"""Figure 15: ages of looked-up documents, a row for each domain and a column for each model."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from analysis.behaviour.decisions import pool
from analysis.behaviour.iterations import RunFacts
from analysis.behaviour.provenance import age_files, ages
from analysis.figures import style
from analysis.figures.style import INK, Drawn, Look
from analysis.ordering import in_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH = 5
_SHORTEST = 20


def draw(runs: Sequence[RunFacts], looks: Mapping[str, Look]) -> Drawn | None:
    """Histograms with medians; nothing without a resolved look-up."""
    chosen = pool(runs)
    found = ages(chosen)
    if not found:
        return None
    domains = list(dict.fromkeys(domain for domain, _ in found))
    models = in_order(model for _, model in found)
    oldest = max(_SHORTEST, *(mine[-1] for mine in found.values()))
    end = -(-oldest // _WIDTH) * _WIDTH
    figure = style.new_figure(max(3.6, 2.4 * len(models)), 1.5 * len(domains) + 0.4)
    grid = figure.subplots(len(domains), len(models), squeeze=False, sharex=True)
    for row, domain in zip(grid, domains, strict=True):
        for axes, model in zip(row, models, strict=True):
            mine = found.get((domain, model))
            if mine is None:
                axes.set_axis_off()
                continue
            _histogram(axes, mine, end, looks[model].colour)
            axes.set_title(f"{domain}\n{model}, {len(mine)} pairs")
        row[0].set_ylabel("pairs")
    for axes in grid[-1]:
        axes.set_xlabel("age, iterations")
    return Drawn("fig15", style.pictures(figure), age_files(chosen))


def _histogram(axes: Axes, mine: Sequence[int], end: int, colour: str) -> None:
    edges = [0.5 + _WIDTH * i for i in range(end // _WIDTH + 1)]  # 1-5, 6-10, ...
    axes.hist(mine, bins=edges, color=colour, edgecolor=INK, lw=0.4)
    median = statistics.median(mine)
    axes.axvline(median, color=INK, lw=1, ls="--")
    right = median < end / 2
    axes.annotate(f"median {median:g}", (median, 1), (3 if right else -3, -2), va="top",
                  ha="left" if right else "right", fontsize=7, textcoords="offset points",
                  xycoords=axes.get_xaxis_transform())  # fmt: skip
    axes.set(xlim=(0, end))
    axes.margins(y=0.18)
    axes.tick_params(labelsize=7, labelbottom=True)
    axes.locator_params(axis="y", integer=True, nbins=4)
