"""Figures 11 and 12: hosts that searches return and that are retained, a row for each domain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.behaviour.decisions import pool
from analysis.behaviour.hosts import Exposure, exposure, leading
from analysis.behaviour.iterations import RunFacts
from analysis.figures import style
from analysis.figures.style import INK, Drawn
from analysis.output import CsvFile, Value

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TOP = 20
PER_FIGURE = 3
"""Domains of Figure 11; the others are in Figure 12, which grows with them."""
_WIDEST = 34
_RETURNED, _RETAINED = "#4d4d4d", "#a6a6a6"


def draw(runs: Sequence[RunFacts]) -> Drawn | None:
    """The first domains; nothing when nothing was returned."""
    return _figure("fig11", _met(runs)[:PER_FIGURE])


def draw_rest(runs: Sequence[RunFacts]) -> Drawn | None:
    """The other domains."""
    return _figure("fig12", _met(runs)[PER_FIGURE:])


def _met(runs: Sequence[RunFacts]) -> list[tuple[str, Exposure]]:
    """Domains in which some host was met."""
    return [(domain, mine) for domain, mine in exposure(pool(runs)).items() if mine.returned]


def _figure(name: str, domains: Sequence[tuple[str, Exposure]]) -> Drawn | None:
    if not domains:
        return None
    found = dict(domains)
    shown = {
        domain: (leading(mine.returned, TOP), leading(mine.retained, TOP))
        for domain, mine in found.items()
    }
    heights = [max(3, *map(len, both)) for both in shown.values()]
    figure = style.new_figure(7.2, sum(0.135 * height + 0.62 for height in heights))
    style.spread(figure, 6)
    grid = figure.subplots(len(found), 2, squeeze=False, sharex=True, height_ratios=heights)
    rows: list[tuple[Value, ...]] = []
    for line, (domain, both) in zip(grid, shown.items(), strict=True):
        n = found[domain].retrievals
        for axes, hosts, kind, colour in zip(
            line, both, ("returned", "retained"), (_RETURNED, _RETAINED), strict=True
        ):
            _hosts(axes, hosts, n, colour, slots=max(3, *map(len, both)))
            axes.set_title(f"{domain}: hosts {kind}\nn = {n} retrieval iterations")
            rows += [(domain, kind, host, k, k / n) for host, k in hosts]
    for axes in grid[-1]:
        axes.set_xlabel("retrieval iterations, %")
    columns = ("domain", "documents", "host", "iterations", "share")
    return Drawn(name, style.pictures(figure), [CsvFile(f"{name}_hosts", columns, rows)])


def _hosts(
    axes: Axes, hosts: Sequence[tuple[str, int]], n: int, colour: str, *, slots: int
) -> None:
    shares = [100 * k / n for _, k in hosts]
    axes.barh(range(len(hosts)), shares, 0.72, color=colour, edgecolor=INK, lw=0.4)
    for place, value in enumerate(shares):
        axes.annotate(f"{value:.1f}", (value, place), (2, 0), textcoords="offset points",
                      va="center", fontsize=5.5)  # fmt: skip
    axes.set_yticks(range(len(hosts)), [_short(host) for host, _ in hosts], fontsize=6)
    axes.set(xlim=(0, 108), xticks=range(0, 101, 25), ylim=(slots - 0.4, -0.6))
    axes.tick_params(axis="x", labelbottom=True, labelsize=7)


def _short(host: str) -> str:
    return host if len(host) <= _WIDEST else f"{host[: _WIDEST - 1]}…"
