"""Figure 13: what is decided when, a row for each domain and a column for each model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from analysis.behaviour.decisions import pool
from analysis.behaviour.dynamics import BINS, SHOWN, WIDTH, Slots, dynamics, files
from analysis.behaviour.iterations import RunFacts
from analysis.figures import style
from analysis.figures.style import INK, Drawn, Look
from analysis.ordering import in_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMES = ("retrieve", "look-up", "missing gate response")
_LINES = ("-", "--", ":")
_MARKS = ("o", "s", "x")


def draw(runs: Sequence[RunFacts], looks: Mapping[str, Look]) -> Drawn | None:
    """Shares of slots in bins of ten; nothing without a run in which a model decides."""
    chosen = pool(runs)
    found = dynamics(chosen)
    if not found:
        return None
    domains = list(dict.fromkeys(domain for domain, _ in found))
    models = in_order(model for _, model in found)
    figure = style.new_figure(max(4.2, 2.4 * len(models)), 1.55 * len(domains) + 0.75)
    grid = figure.subplots(len(domains), len(models), squeeze=False, sharex=True, sharey=True)
    for row, domain in zip(grid, domains, strict=True):
        for axes, model in zip(row, models, strict=True):
            if (domain, model) not in found:
                axes.set_axis_off()
                continue
            _shares(axes, found[domain, model], looks[model].colour)
            axes.set_title(f"{domain}, {model}" if len(models) < 3 else f"{domain}\n{model}")
    for axes in grid[-1]:
        axes.set_xlabel("iteration")
    for row in grid:
        row[0].set_ylabel("slots, %")
    figure.legend(handles=_handles(), loc="outside lower center", ncols=len(SHOWN))
    return Drawn("fig13", style.pictures(figure), files(chosen))


def _shares(axes: Axes, bins: Mapping[int, Slots], colour: str) -> None:
    x = [place * WIDTH + (WIDTH + 1) / 2 for place in bins]
    for i, (line, mark) in enumerate(zip(_LINES, _MARKS, strict=True)):
        y = [100 * slots.shares[i] for slots in bins.values()]
        axes.plot(x, y, ls=line, marker=mark, ms=3, lw=1.2, color=colour if i < 2 else INK,
                  mfc=colour if i == 0 else "white", clip_on=False)  # fmt: skip
    axes.set(xlim=(0, WIDTH * BINS), ylim=(0, 100), xticks=range(0, 101, 25),
             yticks=range(0, 101, 25))  # fmt: skip
    axes.tick_params(labelsize=7, labelbottom=True)


def _handles() -> list[object]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], ls=line, marker=mark, ms=3, lw=1.2, color=INK, label=name,
               mfc=INK if name == _NAMES[0] else "white")
        for name, line, mark in zip(_NAMES, _LINES, _MARKS, strict=True)
    ]  # fmt: skip
