"""A catch: the polygon over the fish of one input, readable in black and white."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tasks.algorithm_engineering.ahc039.generator import FISH, SIDE
from tasks.algorithm_engineering.ahc039.polygon import Points, Polygon

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_catch(seed: int, fish: Points, vertices: Points | None, figure: Figure) -> None:
    """The polygon over the mackerels and over the sardines; fish that it catches are black."""
    polygon = Polygon(vertices) if vertices is not None else None
    caught = polygon.encloses(fish) if polygon else np.zeros(2 * FISH, dtype=bool)
    left, right = figure.subplots(1, 2)
    _draw_kind(left, "mackerels", fish[:FISH], caught[:FISH], polygon)
    _draw_kind(right, "sardines", fish[FISH:], caught[FISH:], polygon)
    if polygon is None:
        figure.suptitle(f"input {seed}: empty output", fontsize=11)
        return
    score = max(0, int(caught[:FISH].sum()) - int(caught[FISH:].sum()) + 1)
    length = int(np.abs(np.roll(polygon.vertices, -1, axis=0) - polygon.vertices).sum())
    figure.suptitle(
        f"input {seed}: score {score}, {len(polygon.vertices)} vertices, length {length}",
        fontsize=11,
    )


def _draw_kind(
    axes: Axes, name: str, fish: Points, caught: np.ndarray, polygon: Polygon | None
) -> None:
    if polygon is not None:
        x, y = np.vstack([polygon.vertices, polygon.vertices[:1]]).T
        axes.fill(x, y, color="0.92", zorder=1)
        axes.plot(x, y, color="black", linewidth=1.0, zorder=4)
    for inside, shade in ((False, "0.6"), (True, "black")):
        places = fish[caught == inside]
        axes.scatter(places[:, 0], places[:, 1], s=1.2, c=shade, linewidths=0, zorder=2 + inside)
    axes.set(xlim=(0, SIDE), ylim=(0, SIDE), aspect="equal", xticks=[0, SIDE], yticks=[0, SIDE])
    axes.set_title(f"{int(caught.sum())} of {FISH} {name} caught", fontsize=10)
