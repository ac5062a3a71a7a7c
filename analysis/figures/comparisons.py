"""Figures of section 5 that published numbers and own runs share: profiles and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.figures import style
from analysis.figures.naming import Label, full_names, method_names
from analysis.figures.style import INK, LINES, MUTED, Drawn, Look
from analysis.statistics.profiles import TAUS
from analysis.statistics.ranks import Ranking, ranking
from analysis.summaries import SETTING, Group, Section, in_order, matrix, profiles, ranks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CROWDED = 2
"""With more curves than this the bands are left to the CSV file."""


def profile_figure(
    name: str, title: str, columns: tuple[str, ...], groups: Sequence[Group]
) -> Drawn:
    """Share of values that reach tau, one panel a setting."""
    section = profiles(name, columns, groups)
    settings = list(dict.fromkeys(group.label[:SETTING] for group in in_order(groups)))
    names = method_names(group.label for group in in_order(groups))
    methods = style.looks(names.values())
    ncols = min(3, len(settings))
    nrows = -(-len(settings) // ncols)
    handles = _handles(methods)
    legend_columns = 2 if max(map(len, methods)) < 40 else 1
    legend_rows = -(-len(handles) // legend_columns)
    figure = style.new_figure(max(5.0, 3.2 * ncols), 2.5 * nrows + 0.3 + 0.16 * legend_rows)
    panels = figure.subplots(nrows, ncols, sharex=True, sharey=True, squeeze=False)
    for axes, setting in zip(panels.flat, settings, strict=False):
        _profiles(axes, setting, section, names, methods)
    for axes in panels.flat[len(settings) :]:
        axes.set_visible(False)
    figure.legend(handles=handles, loc="outside lower center", ncols=legend_columns)
    figure.suptitle(title, fontsize=8.5, x=0.01, ha="left")
    return Drawn(name, style.pictures(figure), [section.table])


def _profiles(
    axes: Axes,
    setting: Sequence[object],
    section: Section,
    names: dict[Label, str],
    methods: dict[str, Look],
) -> None:
    rows = [row for row in section.table.rows if list(row[:SETTING]) == list(setting)]
    curves: dict[str, list[list[float]]] = {}
    for row in rows:
        method = names[tuple(row[:-4])]
        curves.setdefault(method, []).append([float(str(value)) for value in row[-4:]])
    for method, points in curves.items():
        tau, share, lo, hi = np.array(points).T
        look = methods[method]
        axes.plot(tau, share, color=look.colour, ls=_line(methods, method), lw=1.4)
        if len(curves) <= CROWDED:
            axes.fill_between(tau, lo, hi, color=look.colour, alpha=0.15, lw=0)
    model, n = setting
    axes.axvline(100, color=MUTED, lw=0.6)
    axes.set(xlim=(0, TAUS[-1]), ylim=(0, 1), title=f"{model}, N = {n}",
             xlabel="τ, NDG in %", ylabel="share with NDG ≥ τ")  # fmt: skip
    axes.label_outer()


def _line(methods: dict[str, Look], method: str) -> Any:
    return LINES[list(methods).index(method) % len(LINES)]


def _handles(methods: dict[str, Look]) -> list[Any]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=look.colour, ls=_line(methods, method), label=method)
        for method, look in methods.items()
    ]


def ranks_figure(name: str, title: str, columns: tuple[str, ...], groups: Sequence[Group]) -> Drawn:
    """Critical-difference diagram: mean ranks, and bars over methods that do not differ."""
    ordered, _, values = matrix(groups)
    full = full_names(group.label for group in ordered)
    names = [full[group.label] for group in ordered]
    found = ranking(names, values)
    rows = 2.5 + 0.35 * len(cliques(found)) + -(-len(names) // 2)
    figure = style.new_figure(7.6, 0.5 + 0.25 * rows)
    _diagram(figure.subplots(), found)
    figure.suptitle(title, fontsize=8.5, x=0.01, ha="left")
    return Drawn(name, style.pictures(figure), [ranks(name, columns, groups).table])


def _diagram(axes: Axes, found: Ranking) -> None:
    k = len(found.methods)
    by_rank = np.argsort(found.mean_ranks, kind="stable")
    half = -(-k // 2)
    bars = cliques(found)
    bottom = -0.35 * len(bars) - 0.5
    axes.set(xlim=(1 - 0.1 * k, k + 0.1 * k), ylim=(bottom - half, 1.6))
    axes.axis("off")
    axes.hlines(0, 1, k, color=INK, lw=1)
    for tick in range(1, k + 1):
        axes.vlines(tick, 0, 0.18, color=INK, lw=0.8)
        axes.text(tick, 0.3, str(tick), ha="center", fontsize=7)
    for place, index in enumerate(by_rank):
        rank = found.mean_ranks[index]
        left = place < half
        y = bottom - (place if left else k - 1 - place)
        end = 1 - 0.02 * k if left else k + 0.02 * k
        axes.plot([rank, rank, end], [0, y, y], color=MUTED, lw=0.7)
        axes.text(end, y, f" {found.methods[index]} ({rank:.2f}) ", va="center", fontsize=7,
                  ha="right" if left else "left")  # fmt: skip
    for place, (first, last) in enumerate(bars):
        axes.hlines(-0.35 * (place + 1), first - 0.05, last + 0.05, color=INK, lw=2.5)
    if found.critical_difference is not None:
        axes.plot([1, 1 + found.critical_difference], [1.05, 1.05], color=INK, lw=1.5, marker="|")
        axes.text(1, 1.25, f"critical difference {found.critical_difference:.2f}", fontsize=7)


def cliques(found: Ranking) -> list[tuple[float, float]]:
    """Longest stretches of mean ranks within which no two methods differ, best first."""
    if found.critical_difference is None:
        return []
    ordered = np.sort(found.mean_ranks)
    stretches: list[tuple[float, float]] = []
    for first in ordered:
        last = ordered[ordered < first + found.critical_difference].max()
        if last > first and not any(a <= first and last <= b for a, b in stretches):
            stretches.append((float(first), float(last)))
    return stretches
