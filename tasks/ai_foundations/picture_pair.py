"""Several laws on the same rows: predicted against actual, errors on a log scale, and a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmark.side_by_side import Shown, Value
from tasks.ai_foundations.goodness import goodness
from tasks.ai_foundations.tables import Array, Split, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

Predictions = Mapping[str, Array]
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
ROWS: Mapping[Split, str] = {"train": "training rows", "test": "held-out rows"}
_MARKERS = "osD^vP*X<>"


@dataclass(frozen=True)
class Law:
    """A law's name and its predictions for every row of the table, by group."""

    label: str
    predictions: Predictions


def draw(
    figure: Figure, table: Table, laws: Sequence[Law], targets: Sequence[str], where: str
) -> Shown:
    """Predicted against actual, a panel a law, and 1 - R2 of each on a log scale."""
    figure.set_size_inches(3.6 * len(laws) + 2.6, 3.9)
    draw_fit(figure, table, laws, where)
    return shown(table, laws, targets)


def shown(table: Table, laws: Sequence[Law], targets: Sequence[str]) -> Shown:
    """Actual and predicted values, one a row."""
    columns = ("artifact", "group", "row", "target", "actual", "predicted")
    return Shown(columns, _rows(table, laws, targets))


def draw_fit(figure: Figure | SubFigure, table: Table, laws: Sequence[Law], where: str) -> None:
    """One panel a law and one of errors, on a figure or a part of one."""
    axes = figure.subplots(1, len(laws) + 1, width_ratios=[*[1.35] * len(laws), 0.9])
    low, high = _frame(table)
    for place, law in zip(axes, laws, strict=False):
        _scatter(place, table, law, (low, high))
    axes[0].set_ylabel("predicted")
    _errors(axes[-1], table, laws)
    handles, names = axes[0].get_legend_handles_labels()
    if len(names) > 1:
        figure.legend(handles, names, loc="outside lower center", ncols=min(6, len(names)),
                      fontsize="small", frameon=False)  # fmt: skip
    figure.suptitle(where, fontsize="medium")


def _frame(table: Table) -> tuple[float, float]:
    actual = np.concatenate([rows.targets.ravel() for rows in table.values()])
    margin = 0.08 * (float(np.ptp(actual)) or 1.0)
    return float(actual.min()) - margin, float(actual.max()) + margin


def _scatter(axes: Axes, table: Table, law: Law, frame: tuple[float, float]) -> None:
    """Predictions beyond the frame are drawn at its edge."""
    for number, (group, rows) in enumerate(table.items()):
        axes.plot(
            rows.targets.ravel(), np.clip(law.predictions[group].ravel(), *frame),
            linestyle="none", marker=_MARKERS[number % len(_MARKERS)], markersize=4.5, alpha=0.75,
            color=_COLOURS[number % len(_COLOURS)], label=group, clip_on=False,
        )  # fmt: skip
    axes.axline((frame[0], frame[0]), slope=1.0, color="0.5", linewidth=1, zorder=0)
    axes.set(xlim=frame, ylim=frame, xlabel="actual", box_aspect=1.0)
    axes.set_title(f"{law.label}: R2 {_r2(table, law):.6g}", fontsize="medium", loc="left")


def _r2(table: Table, law: Law) -> float:
    truth = np.concatenate([rows.targets for rows in table.values()])
    return goodness(np.concatenate([law.predictions[g] for g in table]), truth).r2


def _errors(axes: Axes, table: Table, laws: Sequence[Law]) -> None:
    values = [max(1.0 - _r2(table, law), 1e-16) for law in laws]
    for place, (value, hatch) in enumerate(zip(values, _hatches(len(laws)), strict=True)):
        axes.bar(place, value, 0.6, color="0.85", edgecolor="black", hatch=hatch)
        axes.annotate(f"{value:.3g}", (place, value), (0, 2), textcoords="offset points",
                      ha="center", va="bottom", fontsize="small")  # fmt: skip
    axes.set_yscale("log")
    axes.set_ylim(min(values) / 4, max(values) * 4)
    axes.set_xlim(-0.6, len(laws) - 0.4)
    axes.set_xticks(range(len(laws)), [law.label for law in laws], rotation=20, ha="right")
    axes.set_title("1 − R2, log scale", fontsize="medium", loc="left")


def _hatches(number: int) -> list[str]:
    return [("", "////", "....", "xxxx")[i % 4] for i in range(number)]


def _rows(table: Table, laws: Sequence[Law], targets: Sequence[str]) -> list[tuple[Value, ...]]:
    return [
        (law.label, group, row, target, float(rows.targets[row, column]),
         float(law.predictions[group][row, column]))
        for law in laws
        for group, rows in table.items()
        for row in range(len(rows))
        for column, target in enumerate(targets)
    ]  # fmt: skip


SAME_SIZE = 1.1
"""Models up to this factor apart in size share a column: streams add few parameters."""


def draw_grid(figure: Figure | SubFigure, train: Table, test: Table, laws: Sequence[Law]) -> int:
    """Losses by model size (columns) and number of streams (rows), a panel and scale a group.

    Held-out rows are framed by a dashed line; a star marks those where the last law is closer than
    the first. Returns how many there are.
    """
    panels = figure.subplots(1, len(train), squeeze=False).ravel()
    stars = 0
    for axes, group in zip(panels, train, strict=True):
        points = np.concatenate([train[group].features, test[group].features])
        losses = np.concatenate([train[group].targets, test[group].targets])[:, 0]
        grid = _Grid.of(points)
        _draw_losses(axes, grid, grid.places(points), losses)
        stars += _mark_better(axes, grid, test[group].features, _closer(test, laws, group))
        axes.set_title(f"{group}: loss; dashed: held out", fontsize="medium", loc="left")
    panels[0].set_ylabel("streams P")
    return stars


@dataclass(frozen=True)
class _Grid:
    """Smallest size of each column, and the numbers of streams, both ascending."""

    sizes: Array
    streams: Array

    @classmethod
    def of(cls, points: Array) -> _Grid:
        sizes = np.unique(points[:, 0])
        starts = [sizes[0]]
        for size in sizes:
            if size > SAME_SIZE * starts[-1]:
                starts.append(size)
        return cls(np.array(starts), np.unique(points[:, 1]))

    def places(self, points: Array) -> list[tuple[int, int]]:
        """Row and column of each point."""
        rows = np.searchsorted(self.streams, points[:, 1])
        columns = np.searchsorted(self.sizes, points[:, 0], side="right") - 1
        return list(zip(rows.tolist(), columns.tolist(), strict=True))


def _draw_losses(axes: Axes, grid: _Grid, places: Sequence[tuple[int, int]], losses: Array) -> None:
    shown = np.full((len(grid.streams), len(grid.sizes)), np.nan)
    for (row, column), loss in zip(places, losses, strict=True):
        shown[row, column] = loss
        axes.text(column, row - 0.12, f"{loss:.3f}", ha="center", va="center", fontsize="small")
    span = float(np.ptp(losses)) or 1.0
    low = float(losses.min())
    axes.imshow(shown, cmap="cividis_r", vmin=low - 0.1 * span, vmax=low + 2.2 * span,
                aspect="auto")  # fmt: skip
    axes.set_xticks(range(len(grid.sizes)), [f"{size / 1e9:.2g}" for size in grid.sizes])
    axes.set_yticks(range(len(grid.streams)), [f"{stream:g}" for stream in grid.streams])
    axes.set_xlabel("parameters N, 10⁹")


def _closer(test: Table, laws: Sequence[Law], group: str) -> list[bool]:
    errors = [np.abs(law.predictions[group] - test[group].targets)[:, 0] for law in laws]
    return [bool(last < first) for first, last in zip(errors[0], errors[-1], strict=True)]


def _mark_better(axes: Axes, grid: _Grid, points: Array, closer: Sequence[bool]) -> int:
    from matplotlib.patches import Rectangle

    places = grid.places(points)
    for row in sorted({row for row, _ in places}):
        frame = Rectangle((-0.46, row - 0.46), len(grid.sizes) - 0.08, 0.92, fill=False,
                          linestyle="--", linewidth=1.6, edgecolor="black")  # fmt: skip
        axes.add_patch(frame)
    for (row, column), better in zip(places, closer, strict=True):
        if better:
            axes.plot(column, row + 0.26, "*", color="black", markersize=7)
    return sum(closer)
