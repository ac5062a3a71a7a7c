"""Figure 6: EvoDuet against the plain scaffold, best runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis import comparison
from analysis.binning import LOW, SATURATED, bins
from analysis.comparison import Pair
from analysis.figures import style
from analysis.figures.style import BASE, INK, MUTED, Drawn, Look
from analysis.output import CsvFile
from analysis.published import Published
from analysis.tables import published_csv

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RIGHT = 115.0


def draw(data: Published) -> Drawn:
    """Panels (a) settings, (b) domains, (c) gain by starting level."""
    from matplotlib.gridspec import GridSpec

    pairs = comparison.pairs(data)
    looks = style.model_looks(data)
    figure = style.new_figure(9.5, 7.0)
    grid = GridSpec(2, 2, figure=figure, height_ratios=(0.85, 1), width_ratios=(1, 1.1))
    _settings(figure.add_subplot(grid[0, 0]), pairs, looks)
    _domains(figure, figure.add_subplot(grid[0, 1]), pairs)
    _by_level(figure.add_subplot(grid[1, :]), pairs, looks)
    return Drawn("fig6", style.pictures(figure), tables(data, pairs))


def tables(data: Published, pairs: list[Pair]) -> list[CsvFile]:
    """The data beside the figure."""
    points = [(p.model, p.n, p.task_id, p.domain, p.baseline, p.gain) for p in pairs]
    columns = ("model", "N", "task_id", "domain", "baseline_ndg", "gain")
    return [*published_csv.figure6(data), CsvFile("fig6c_points", columns, points)]


def _settings(axes: Axes, pairs: list[Pair], looks: dict[str, Look]) -> None:
    rows = comparison.by_setting(pairs)
    for place, row in enumerate(rows):
        colour = looks[row.model].colour
        axes.bar(place - 0.2, row.baseline, 0.38, color=BASE, edgecolor=colour, hatch="////")
        axes.bar(place + 0.2, row.evoduet, 0.38, color=colour, edgecolor=INK, lw=0.6)
        style.bar_label(axes, place - 0.2, row.baseline, f"{row.baseline:.1f}", fontsize=6)
        style.bar_label(axes, place + 0.2, row.evoduet, f"{row.evoduet:.1f}", fontsize=6)
        axes.annotate(
            style.signed(row.delta), (place, max(row.baseline, row.evoduet)), (0, 12),
            textcoords="offset points", ha="center", fontweight="bold", fontsize=7.5,
        )  # fmt: skip
    style.setting_ticks(axes, [(row.model, row.n) for row in rows])
    axes.set(ylabel="mean over tasks of the best NDG, %")
    axes.margins(y=0.25)
    style.pair_legend(axes, "OpenEvolve", "EvoDuet", loc="upper right", ncols=2)
    axes.set_title("(a) means of settings, and what EvoDuet adds")


def _domains(figure: Figure, axes: Axes, pairs: list[Pair]) -> None:
    deltas = comparison.by_domain(pairs)
    domains = list(dict.fromkeys(row.domain for row in deltas))
    settings = comparison.settings(pairs)
    table = np.full((len(domains), len(settings)), np.nan)
    for row in deltas:
        table[domains.index(row.domain), settings.index((row.model, row.n))] = row.delta
    reach = float(np.nanmax(np.abs(table)))
    image = axes.imshow(table, cmap="PuOr", vmin=-reach, vmax=reach, aspect="auto")
    for (i, j), value in np.ndenumerate(table):
        if np.isfinite(value):
            dark = abs(value) > 0.62 * reach
            axes.text(j, i, style.signed(float(value)), ha="center", va="center", fontsize=7.5,
                      color=BASE if dark else INK)  # fmt: skip
    style.setting_ticks(axes, settings)
    axes.set_yticks(range(len(domains)), domains)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    bar = figure.colorbar(image, ax=axes, shrink=0.9, pad=0.02)
    bar.outline.set_visible(False)
    axes.set_title("(b) mean gain by domain, NDG points")


def _by_level(axes: Axes, pairs: list[Pair], looks: dict[str, Look]) -> None:
    style.shade_ends(axes, LOW, SATURATED, RIGHT)
    axes.axhline(0, color=MUTED, lw=0.6)
    axes.plot([0, 100], [100, 0], "--", color=MUTED, lw=0.9, label="to NDG 100")
    for model, n in comparison.settings(pairs):
        mine = [pair for pair in pairs if (pair.model, pair.n) == (model, n)]
        look = looks[model]
        axes.scatter(
            [p.baseline for p in mine], [p.gain for p in mine], 20, marker=look.marker,
            facecolor="none" if n == 1 else look.colour, edgecolor=look.colour, lw=1, zorder=3,
            label=f"{model}, N = {n}",
        )  # fmt: skip
    bottom = min(p.gain for p in pairs) - 22
    for row in bins((p.baseline, p.gain) for p in pairs):
        if row.median is not None:
            right = min(row.hi, RIGHT)
            axes.hlines(row.median, row.lo, right, color=INK, lw=2.2, zorder=4)
            axes.annotate(
                f"{style.signed(row.median)}\nn={row.n}", ((row.lo + right) / 2, bottom + 2),
                ha="center", va="bottom", fontsize=7,
            )  # fmt: skip
    r = comparison.summary(pairs)["pearson_r"]
    correlation = "" if r is None else f", r = {r:.2f}".replace("-", "−")
    axes.set(xlim=(0, RIGHT), ylim=(bottom, max(108, max(p.gain for p in pairs) + 8)))
    axes.set_xlabel("NDG of OpenEvolve's best run, %")
    axes.set_ylabel("gain of EvoDuet's best run, NDG points")
    axes.set_title(
        f"(c) gain by starting level, {len(pairs)} comparisons{correlation}; bars and numbers: "
        "medians of bins"
    )
    axes.legend(loc="upper right", ncols=2)
