"""Pictures of step functions with their autoconvolution or overlap, readable in black and white.

Each function draws onto an empty matplotlib figure and leaves layout and saving to the caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tasks.mathematics.autoconvolution import Heights, autoconvolution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DENSE_FROM = 10000  # points; a vector drawing of more is slow to open, and its lines run together
FILL = "0.85"  # light grey
LEVEL: dict[str, Any] = {"color": "black", "linewidth": 0.8, "linestyle": (0, (6, 4))}


def draw_autoconvolution(figure: Figure, a: Heights, value: str) -> None:
    """f on [-1/4, 1/4] with integral 1, and f*f on [-1/2, 1/2] with its largest size marked.

    ``value`` is the text of the task's objective, for the title.
    """
    n = len(a)
    f = a * (2.0 * n / float(a.sum()))
    values = autoconvolution(f) * 0.5 / n
    upper, lower = figure.subplots(2, 1)
    _draw_steps(upper, f, -0.25, 0.25, "f(x)")
    upper.set_title(f"{value}, {n} cells", fontsize=10)
    _draw_lags(lower, values, -0.5, 0.5)
    lower.set(xlabel="x", ylabel="(f∗f)(x)")
    peak = float(np.abs(values).max())
    if values.min() < -1e-9 * peak:  # f has both signs, and f*f is bounded on both sides
        lower.axhline(-peak, **LEVEL)
        _mark_level(lower, peak, "max |f∗f|")
    else:
        _mark_level(lower, peak, "max f∗f")


def draw_overlap(figure: Figure, h: Heights, overlaps: Heights, value: str) -> None:
    """h on [0, 2], and its overlap with 1 - h at all shifts, the largest marked.

    ``overlaps`` has shape (2n-1,), in units of length; ``value`` is the text for the title.
    """
    upper, lower = figure.subplots(2, 1)
    _draw_steps(upper, h, 0.0, 2.0, "h(x)")
    upper.set(ylim=(0.0, 1.05))
    upper.set_title(f"{value}, {len(h)} cells", fontsize=10)
    _draw_lags(lower, overlaps, -2.0, 2.0)
    lower.set(xlabel="shift", ylabel="overlap with 1 − h")
    _mark_level(lower, float(overlaps.max()), "largest overlap")


def _draw_steps(axes: Axes, heights: Heights, left: float, right: float, name: str) -> None:
    edges = np.linspace(left, right, len(heights) + 1)
    style = _line(len(heights))
    axes.stairs(heights, edges, fill=True, color=FILL, rasterized=style["rasterized"])
    axes.stairs(heights, edges, baseline=0.0, **style)
    _finish(axes, left, right)
    axes.set(xlabel="x", ylabel=name)


def _draw_lags(axes: Axes, values: Heights, left: float, right: float) -> None:
    # piecewise linear between the grid lags, and zero at both ends
    knots = np.linspace(left, right, len(values) + 2)
    axes.plot(knots, np.concatenate([[0.0], values, [0.0]]), **_line(len(values)))
    _finish(axes, left, right)


def _line(points: int) -> dict[str, Any]:
    dense = points > DENSE_FROM
    return {"color": "black", "linewidth": 0.5 if dense else 0.9, "rasterized": dense}


def _finish(axes: Axes, left: float, right: float) -> None:
    axes.axhline(0.0, color="black", linewidth=0.5)
    margin = 0.01 * (right - left)  # steps at the very ends stay visible
    axes.set_xlim(left - margin, right + margin)


def _mark_level(axes: Axes, level: float, name: str) -> None:
    axes.axhline(level, **LEVEL)
    low, high = axes.get_ylim()
    axes.set_ylim(low, max(high, level + 0.16 * (high - low)))
    axes.annotate(
        f"{name} = {level:.8f}",
        (0.01, level),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3),
        textcoords="offset points",
        fontsize="small",
    )
