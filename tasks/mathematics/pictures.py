"""Pictures of combinatorial constructions, readable in black and white.

Each function draws onto an empty matplotlib figure and leaves saving to the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "black"
PALE = "0.88"


def draw_packing(circles: NDArray[np.float64], contact: float, figure: Figure) -> None:
    """Circles (n, 3) in the unit square, numbered.

    Lines join the centres of circles closer than ``contact`` and centres to walls touched; circles
    with fewer than three contacts, which nothing holds in place, are hatched.
    """
    from matplotlib.patches import Circle

    axes = figure.add_subplot()
    lines = _contact_lines(circles, contact)
    for index, (x, y, radius) in enumerate(circles.tolist()):
        loose = sum(index in ends for ends, _ in lines) < 3
        style = {"hatch": "////", "facecolor": "white"} if loose else {"facecolor": PALE}
        axes.add_patch(Circle((x, y), radius, edgecolor="0.35", linewidth=0.8, **style))
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        axes.text(x, y, str(index), ha="center", va="center", fontsize=7, bbox=box, zorder=4)
    for _, (start, end) in lines:
        axes.plot([start[0], end[0]], [start[1], end[1]], color=INK, linewidth=1.1, zorder=3)
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal", xticks=[0, 1], yticks=[0, 1])
    axes.plot([0, 1, 1, 0, 0], [0, 0, 1, 1, 0], color=INK, linewidth=1.5)
    for spine in axes.spines.values():
        spine.set_visible(False)
    total = float(circles[:, 2].sum())
    axes.set_title(
        f"{len(circles)} circles, sum of radii {total:.10f}\n"
        f"{len(lines)} contacts (lines); hatched: fewer than 3 contacts",
        fontsize=10,
    )


_Line = tuple[tuple[int, ...], tuple[tuple[float, float], tuple[float, float]]]


def _contact_lines(circles: NDArray[np.float64], contact: float) -> list[_Line]:
    """For each contact the circles that take part and the two ends of its line."""
    lines: list[_Line] = []
    rows = circles.tolist()
    for i, (x, y, radius) in enumerate(rows):
        for j, (u, v, other) in enumerate(rows[:i]):
            if np.hypot(x - u, y - v) < radius + other + contact:
                lines.append(((i, j), ((x, y), (u, v))))
        for wall, gap in (((0.0, y), x), ((x, 0.0), y), ((1.0, y), 1 - x), ((x, 1.0), 1 - y)):
            if gap < radius + contact:
                lines.append(((i,), ((x, y), wall)))
    return lines


def draw_signs(signs: NDArray[np.int64], figure: Figure) -> None:
    """A matrix of +1 (white) and -1 (black) beside its Gram matrix, the products of its rows."""
    left, right = figure.subplots(1, 2)
    n = len(signs)
    left.imshow(signs, cmap="gray", vmin=-1, vmax=1, interpolation="nearest")
    left.set_title("matrix: +1 white, -1 black", fontsize=10)
    gram = signs @ signs.T
    off_diagonal = np.where(np.eye(n, dtype=bool), 0, gram)
    largest = max(1, int(np.abs(off_diagonal).max()))
    image = right.imshow(off_diagonal, cmap="gray", vmin=-largest, vmax=largest)
    right.set_title(f"Gram matrix (diagonal {n} left out)", fontsize=10)
    step = 2 * (1 + largest // 8)
    figure.colorbar(image, ax=right, shrink=0.7, ticks=range(-largest, largest + 1, step))
    for axes in (left, right):
        axes.set(xticks=[0, n - 1], yticks=[0, n - 1])


def draw_integers(elements: Sequence[int], figure: Figure) -> None:
    """A set of integers, and in how many ways each sum and each difference is represented.

    Integers between the ends of the sum set or difference set that are missing from it are ticks.
    """
    top, middle, bottom = figure.subplots(3, 1, gridspec_kw={"height_ratios": [1, 3, 3]})
    values = np.array(elements, dtype=np.int64)
    top.vlines(values, 0, 1, color=INK, linewidth=_line_width(values))
    top.set(yticks=[], xlabel=f"the set A: {len(values)} integers")
    _representations(middle, values[:, None] + values, "sums a + b")
    # the difference 0 = a - a would dwarf all others in a thin set
    _representations(bottom, values[:, None] - values, "differences a - b", left_out=0)


MOST_TICKS = 5000


def _representations(
    axes: Axes, results: NDArray[np.int64], name: str, left_out: int | None = None
) -> None:
    places, counts = np.unique(results, return_counts=True)
    drawn = places != left_out if left_out is not None else slice(None)
    width = _line_width(places)
    axes.vlines(places[drawn], 0, counts[drawn], color="0.45", linewidth=width)
    missing = places[-1] - places[0] + 1 - len(places)
    ticks = "ticks" if missing <= MOST_TICKS else "too many to draw"
    if missing <= MOST_TICKS:
        gaps = np.setdiff1d(np.arange(places[0], places[-1]), places, assume_unique=True)
        axes.plot(gaps, np.zeros(len(gaps)), "|", color=INK, markersize=9)
    note = "" if left_out is None else f", {left_out} not drawn"
    axes.set_ylabel("representations")
    axes.set_xlabel(f"{len(places)} {name}{note}; {missing} integers missing ({ticks})")


def _line_width(places: NDArray[np.int64]) -> float:
    return 1.5 if len(places) < 150 else 0.6
