"""Figure 3: what good documents alone do for the plain scaffold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.binning import LOW, SATURATED, bins
from analysis.figures import style
from analysis.figures.style import BASE, INK, MUTED, Drawn, Look
from analysis.oracle_study import BAND, changes, nearly_solved, overall_oracle
from analysis.ordering import in_order, is_simple
from analysis.output import CsvFile
from analysis.published import OracleCell, Published
from analysis.tables import published_csv

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RIGHT = 112.0
"""End of the axis of baseline NDG."""


def draw(data: Published) -> Drawn:
    """Panels (a) means, (b) change by starting level, (c) change by task."""
    from matplotlib.gridspec import GridSpec

    looks = style.model_looks(data)
    models = in_order(cell.model for cell in data.oracle)
    figure = style.new_figure(9.5, 6.6)
    grid = GridSpec(2, 6, figure=figure, height_ratios=(1, 1))
    _means(figure.add_subplot(grid[0, :2]), data, looks)
    _by_level(figure.add_subplot(grid[0, 2:]), data, looks)
    width = 6 // len(models)
    for place, model in enumerate(models):
        axes = figure.add_subplot(grid[1, place * width : (place + 1) * width])
        cells = [cell for cell in data.oracle if cell.model == model]
        _by_task(axes, model, cells, looks[model], first=place == 0)
    return Drawn("fig3", style.pictures(figure), tables(data))


def tables(data: Published) -> list[CsvFile]:
    """The data beside the figure."""
    points = [
        (c.model, c.task_id, c.domain, is_simple(c.domain), float(c.baseline.mean), c.delta)
        for c in data.oracle
    ]
    solved = [(row.model, row.n_tasks, row.mean_change) for row in nearly_solved(data.oracle)]
    return [
        published_csv.fig3a(data),
        published_csv.fig3b_bins(data),
        published_csv.fig3c_counts(data),
        CsvFile(
            "fig3b_points",
            ("model", "task_id", "domain", "simple", "baseline_mean", "delta_mean"),
            points,
        ),
        CsvFile("fig3b_nearly_solved", ("model", "n_tasks", "mean_change"), solved),
    ]


def _means(axes: Axes, data: Published, looks: dict[str, Look]) -> None:
    for place, row in enumerate(overall_oracle(data.oracle)):
        colour = looks[row.model].colour
        axes.bar(place - 0.2, row.openevolve_mean, 0.38, color=BASE, edgecolor=colour, hatch="////")
        axes.bar(place + 0.2, row.oracle_mean, 0.38, color=colour, edgecolor=INK, lw=0.6)
        style.bar_label(axes, place - 0.2, row.openevolve_mean, f"{row.openevolve_mean:.1f}")
        style.bar_label(
            axes, place + 0.2, row.oracle_mean,
            f"{row.oracle_mean:.1f}\n({style.signed(row.delta_mean)})",
        )  # fmt: skip
    models = [row.model for row in overall_oracle(data.oracle)]
    axes.set_xticks(range(len(models)), models)
    axes.set(ylabel="mean NDG over tasks, %")
    axes.margins(y=0.15)
    style.pair_legend(
        axes, "OpenEvolve", "with oracle documents", loc="upper center", ncols=2,
        bbox_to_anchor=(0.5, -0.08),
    )  # fmt: skip
    axes.set_title("(a) means over tasks")


def _by_level(axes: Axes, data: Published, looks: dict[str, Look]) -> None:
    style.shade_ends(axes, LOW, SATURATED, RIGHT)
    axes.axhline(0, color=MUTED, lw=0.6)
    axes.plot([0, 100], [100, 0], "--", color=MUTED, lw=0.9, label="to NDG 100")
    for model, look in looks.items():
        for simple in (False, True):
            mine = [c for c in data.oracle if c.model == model and is_simple(c.domain) == simple]
            if mine:
                axes.scatter(
                    [float(c.baseline.mean) for c in mine], [c.delta for c in mine], 20,
                    marker=look.marker, facecolor="none" if simple else look.colour,
                    edgecolor=look.colour, lw=1, zorder=3,
                    label=f"{model}, {'simple' if simple else 'other'} tasks",
                )  # fmt: skip
    for row in bins((float(c.baseline.mean), c.delta) for c in data.oracle):
        if row.median is not None:
            right = min(row.hi, RIGHT)
            axes.hlines(row.median, row.lo, right, color=INK, lw=2.2, zorder=4)
            axes.annotate(
                f"{style.signed(row.median)}\nn={row.n}", ((row.lo + right) / 2, -32),
                ha="center", va="top", fontsize=6.5,
            )  # fmt: skip
    axes.set(xlim=(0, RIGHT), ylim=(-45, 105), xlabel="mean NDG without documents, %",
             ylabel="change of the mean NDG, points")  # fmt: skip
    axes.set_title("(b) change by starting level; bars and numbers: medians of bins")
    axes.legend(loc="upper right")


def _by_task(axes: Axes, model: str, cells: list[OracleCell], look: Look, *, first: bool) -> None:
    ordered = sorted(cells, key=lambda cell: (-cell.delta, cell.task_id))
    axes.axhspan(-1, 1, color=style.SHADE, lw=0)
    for place, cell in enumerate(ordered):
        up, down = cell.delta > BAND, cell.delta < -BAND
        axes.bar(
            place, cell.delta, 0.8, color=look.colour if up else BASE, edgecolor=INK, lw=0.5,
            hatch="xxxx" if down else None,
        )  # fmt: skip
    (row,) = changes(cells)
    axes.axhline(0, color=MUTED, lw=0.6)
    axes.set_xticks(range(len(ordered)), [cell.task for cell in ordered], rotation=90, fontsize=6)
    axes.set_xlim(-0.8, len(ordered) - 0.2)
    axes.set_title(
        f"{'(c) ' if first else ''}{model}: {row.improved} of {row.n_tasks} tasks up (solid), "
        f"{row.degraded} down (crossed)"
    )
    axes.set_ylabel("change of the mean NDG, points" if first else "")
