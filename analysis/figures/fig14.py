"""Figure 14: from which iterations looked-up documents come, a panel for each domain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.behaviour.decisions import pool
from analysis.behaviour.dynamics import BINS, bin_label
from analysis.behaviour.iterations import RunFacts
from analysis.behaviour.provenance import Provenance, provenance_files
from analysis.behaviour.provenance import provenance as provenance_of
from analysis.figures import style
from analysis.figures.style import INK, MUTED, Drawn

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS = 3
_WIDEST = 14.0
"""Points of a line that would be all of a panel."""
_LINE = "#3b6ea5"


def draw(runs: Sequence[RunFacts]) -> Drawn | None:
    """Lines from first retrieval to look-up; nothing without a resolved pair."""
    chosen = pool(runs)
    found = {domain: mine for domain, mine in provenance_of(chosen).items() if mine.bins}
    if not found:
        return None
    ncols = min(COLUMNS, len(found))
    nrows = -(-len(found) // ncols)
    figure = style.new_figure(max(3.0, 2.4 * ncols), 2.5 * nrows + 0.3)
    style.spread(figure, 7)
    panels = figure.subplots(nrows, ncols, squeeze=False)
    for axes, (domain, mine) in zip(panels.flat, found.items(), strict=False):
        _lines(axes, mine)
        axes.set_title(f"{domain}\n{sum(mine.bins.values())} pairs, {mine.unresolved} unresolved")
    for axes in panels.flat[len(found) :]:
        axes.set_visible(False)
    _scale(figure)
    return Drawn("fig14", style.pictures(figure), provenance_files(chosen))


def _lines(axes: Axes, mine: Provenance) -> None:
    total = sum(mine.bins.values())
    for (first, then), count in sorted(mine.bins.items(), key=lambda item: (item[1], item[0])):
        axes.plot((0, 1), (first, then), color=_LINE, alpha=0.55, lw=width(count / total),
                  solid_capstyle="butt")  # fmt: skip
    labels = [bin_label(place).replace("-", "–") for place in range(BINS)]
    axes.set(xlim=(-0.02, 1.02), ylim=(BINS - 0.5, -0.5))
    axes.set_xticks((0, 1), ("first retrieval", "look-up"), fontsize=7)
    axes.set_yticks(range(BINS), labels, fontsize=6)
    axes.tick_params(axis="y", right=True, labelright=True)
    axes.spines["right"].set_visible(True)
    axes.spines["bottom"].set_visible(False)
    for side in ("left", "right"):
        axes.spines[side].set_color(INK)


def width(share: float) -> float:
    """Width of a line in points: its square is in proportion to the share of the panel."""
    return _WIDEST * math.sqrt(share)


def _scale(figure: object) -> None:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    assert isinstance(figure, Figure)
    handles = [
        Line2D([], [], color=_LINE, alpha=0.55, lw=width(share / 100), solid_capstyle="butt",
               label=f"{share} % of a panel's pairs")
        for share in (1, 10, 30)
    ]  # fmt: skip
    figure.legend(handles=handles, loc="outside lower center", ncols=3, labelcolor=MUTED)
