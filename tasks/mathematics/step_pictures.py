"""Pictures of step functions with their autoconvolution or overlap, readable in black and white."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tasks.mathematics.autoconvolution import Heights, autoconvolution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RASTER_FROM = 5000  # cells; a vector drawing of more would be slow to open
FILL = "0.85"  # light grey
LINE: dict[str, Any] = {"color": "black", "linewidth": 0.9}
LEVEL: dict[str, Any] = {"color": "black", "linewidth": 0.8, "linestyle": (0, (6, 4))}


def draw_autoconvolution(figure: Figure, a: Heights, peak_name: str) -> None:
    """f on [-1/4, 1/4] with integral 1, and f*f on [-1/2, 1/2] with its largest size marked."""
    n = len(a)
    f = a * (2.0 * n / float(a.sum()))
    values = autoconvolution(f) * 0.5 / n
    upper, lower = figure.subplots(2, 1)
    _draw_steps(upper, f, -0.25, 0.25, "f")
    _draw_lags(lower, values, -0.5, 0.5, "f∗f")
    top = int(np.abs(values).argmax())
    _mark_level(lower, abs(float(values[top])), peak_name)
    if values.min() < -1e-9 * abs(float(values[top])):  # signed f: both signs are bounded
        lower.axhline(-abs(float(values[top])), **LEVEL)
    figure.tight_layout()


def draw_overlap(figure: Figure, h: Heights, overlaps: Heights) -> None:
    """h on [0, 2], and its overlap with 1 - h at all shifts, the largest marked as C5.

    ``overlaps`` has shape (2n-1,), in units of length.
    """
    upper, lower = figure.subplots(2, 1)
    _draw_steps(upper, h, 0.0, 2.0, "h")
    upper.set_ylim(0.0, 1.05)
    _draw_lags(lower, overlaps, -2.0, 2.0, "overlap of h and 1 − h")
    _mark_level(lower, float(overlaps.max()), "C5")
    figure.tight_layout()


def _draw_steps(axes: Axes, heights: Heights, left: float, right: float, name: str) -> None:
    edges = np.linspace(left, right, len(heights) + 1)
    raster = len(heights) > RASTER_FROM
    axes.stairs(heights, edges, fill=True, color=FILL, rasterized=raster)
    axes.stairs(heights, edges, baseline=None, rasterized=raster, **LINE)
    axes.axhline(0.0, color="black", linewidth=0.5)
    axes.set_xlim(left, right)
    axes.set_xlabel("x")
    axes.set_ylabel(f"{name}(x)")
    axes.set_title(f"{name}: {len(heights)} cells", loc="left", fontsize="medium")


def _draw_lags(axes: Axes, values: Heights, left: float, right: float, name: str) -> None:
    # piecewise linear between the grid lags, and zero at both ends
    knots = np.linspace(left, right, len(values) + 2)
    line = np.concatenate([[0.0], values, [0.0]])
    axes.plot(knots, line, rasterized=len(values) > RASTER_FROM, **LINE)
    axes.axhline(0.0, color="black", linewidth=0.5)
    axes.set_xlim(left, right)
    axes.set_xlabel("shift")
    axes.set_ylabel(name)


def _mark_level(axes: Axes, level: float, name: str) -> None:
    axes.axhline(level, **LEVEL)
    low, high = axes.get_ylim()
    axes.set_ylim(low, max(high, level + 0.12 * (high - low)))
    axes.annotate(
        f"{name} = {level:.8f}",
        (0.01, level),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3),
        textcoords="offset points",
        fontsize="small",
    )
