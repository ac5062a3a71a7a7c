"""Figure 4: parallel candidates, and search by the generator against search by EvoDuet.

The curves of panels (b) and (c) are not published; their end points are, in the running text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.figures import style
from analysis.figures.style import BASE, INK, Drawn
from analysis.oracle_study import parallel_means
from analysis.output import CsvFile
from analysis.published import ORACLE, Published
from analysis.rows import DataProblem, Printed
from analysis.tables import published_csv

if TYPE_CHECKING:
    from matplotlib.axes import Axes

JOINT, BILEVEL = "joint-level", "bi-level"
_CLAIMS = {
    "queries": ("C041", "C042"),
    "distinct_urls": ("C043", "C044"),
    "repeated_urls_pct": ("C014", "C015"),
    "held_out_ndg": ("C045", "C046"),
}
_ITERATIONS = {"iterations_with_search": "C040", "last_improving_iteration": "C016"}
"""Ids of the claims, joint-level and bi-level; the last two are known for joint-level alone."""


@dataclass(frozen=True)
class EndPoints:
    """What the text says about one run of either kind on Denoising."""

    quantity: str
    joint: Printed
    bilevel: Printed


def end_points(data: Published) -> dict[str, EndPoints]:
    """End points by quantity. Raises :class:`DataProblem` when a claim is missing."""
    return {
        quantity: EndPoints(quantity, *(_claim(data, name) for name in names))
        for quantity, names in _CLAIMS.items()
    }


def _claim(data: Published, name: str) -> Printed:
    if name not in data.claims:
        raise DataProblem(f"text_claims.csv: no claim {name}")
    return data.claims[name].number("value")


def draw(data: Published) -> Drawn:
    """Panels (a) to (d)."""
    figure = style.new_figure(9.5, 3.0)
    panels = figure.subplots(1, 4, width_ratios=(1.35, 1, 1, 1))
    points = end_points(data)
    looks = style.model_looks(data)
    _parallel(panels[0], data, looks[published_csv.FIGURE_4[0]].colour)
    searching = _claim(data, _ITERATIONS["iterations_with_search"])
    _two_bars(panels[1], points["queries"], "(b) executed queries",
              f"joint-level searches in {searching.text} of 100 iterations")  # fmt: skip
    repeats = points["repeated_urls_pct"]
    _two_bars(panels[2], points["distinct_urls"], "(c) distinct URLs",
              f"repeated: {repeats.joint.text} % and {repeats.bilevel.text} %")  # fmt: skip
    last = _claim(data, _ITERATIONS["last_improving_iteration"])
    _two_bars(panels[3], points["held_out_ndg"], "(d) held-out NDG, %",
              f"joint-level last improves at {last.text}")  # fmt: skip
    return Drawn("fig4", style.pictures(figure), tables(data))


def tables(data: Published) -> list[CsvFile]:
    """The data beside the figure."""
    rows: list[tuple[str, str, str | None]] = [
        (point.quantity, point.joint.text, point.bilevel.text)
        for point in end_points(data).values()
    ]
    rows += [(quantity, _claim(data, name).text, None) for quantity, name in _ITERATIONS.items()]
    return [
        published_csv.fig4a(data),
        CsvFile("fig4_end_points", ("quantity", "joint_level", "bi_level"), rows),
    ]


def _parallel(axes: Axes, data: Published, colour: str) -> None:
    model, task = published_csv.FIGURE_4
    title = next((c.task for c in data.parallel if c.task_id == task), task)
    ticks = {}
    for n, method, value in parallel_means(data.parallel, model, task):
        oracle = method == ORACLE
        place = (0 if n == 1 else 1) + (0.2 if oracle else -0.2)
        axes.bar(
            place, value, 0.38, color=colour if oracle else BASE, lw=0.6 if oracle else 1,
            edgecolor=INK if oracle else colour, hatch=None if oracle else "////",
        )  # fmt: skip
        style.bar_label(axes, place, value, f"{value:.1f}")
        ticks[0 if n == 1 else 1] = f"N = {n}"
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.set(ylabel="mean NDG, %")
    axes.margins(y=0.15)
    style.pair_legend(axes, "OpenEvolve", "with oracle documents", loc="upper left")
    axes.set_title(f"(a) {title}, {model}\nmean of runs")


def _two_bars(axes: Axes, point: EndPoints, title: str, note: str) -> None:
    for place, value in enumerate((point.joint, point.bilevel)):
        axes.bar(place, float(value), 0.6, color=("#bdbdbd", "#4d4d4d")[place], edgecolor=INK,
                 hatch="...." if place == 0 else None, lw=0.6)  # fmt: skip
        style.bar_label(axes, place, float(value), value.text)
    axes.set_xticks((0, 1), (JOINT, BILEVEL))
    axes.set_xlabel(note, fontsize=6.5)
    axes.margins(y=0.15)
    axes.set_title(f"{title}\nDenoising, one run")
