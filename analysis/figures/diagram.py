"""Boxes and arrows: what the schematic figures are made of. Coordinates are inches."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from analysis.figures import style
from analysis.figures.style import BASE, INK, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EVOLVE, SEARCH, STORE, RESULT = "#DCEAF5", "#FBEBCB", "#EDEDED", "#D9EFE6"
"""Fills by meaning: the evolution of programs, the search for evidence, what is kept, outcomes."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A box by its centre and size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> Point:
        """Middle of the left side."""
        return (self.x - self.width / 2, self.y)

    @property
    def right(self) -> Point:
        """Middle of the right side."""
        return (self.x + self.width / 2, self.y)

    @property
    def top(self) -> Point:
        """Middle of the upper side."""
        return (self.x, self.y + self.height / 2)

    @property
    def bottom(self) -> Point:
        """Middle of the lower side."""
        return (self.x, self.y - self.height / 2)


@dataclass(frozen=True)
class Canvas:
    """An empty drawing whose unit is an inch."""

    figure: Figure
    axes: Axes

    @classmethod
    def of(cls, width: float, height: float) -> Canvas:
        """A canvas of this size."""
        figure = style.new_figure(width, height)
        figure.set_layout_engine("none")
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set(xlim=(0, width), ylim=(0, height))
        axes.axis("off")
        return cls(figure, axes)

    def box(
        self, x: float, y: float, text: str, fill: str = BASE, *, width: float = 1.5,
        height: float = 0.55, bold: bool = False,
    ) -> Box:  # fmt: skip
        """A rounded box around (x, y) with its text."""
        from matplotlib.patches import FancyBboxPatch

        corner = (x - width / 2, y - height / 2)
        shape = f"round,pad=0,rounding_size={min(0.08, height / 4)}"
        self.axes.add_patch(
            FancyBboxPatch(corner, width, height, boxstyle=shape, facecolor=fill, edgecolor=INK,
                           lw=0.9)
        )  # fmt: skip
        weight = "bold" if bold else "normal"
        self.axes.text(x, y, text, ha="center", va="center", fontsize=7.5, fontweight=weight,
                       linespacing=1.25)  # fmt: skip
        return Box(x, y, width, height)

    def frame(self, x: float, y: float, width: float, height: float, title: str) -> None:
        """A dashed frame by its lower left corner, with a title at its upper left."""
        from matplotlib.patches import FancyBboxPatch

        shape = "round,pad=0,rounding_size=0.12"
        self.axes.add_patch(
            FancyBboxPatch((x, y), width, height, boxstyle=shape, facecolor="none",
                           edgecolor=MUTED, ls=(0, (4, 3)), lw=0.9)
        )  # fmt: skip
        self.axes.text(x + 0.1, y + height - 0.09, title, ha="left", va="top", fontsize=7.5,
                       fontweight="bold", color=MUTED)  # fmt: skip

    def arrow(
        self, start: Point, end: Point, text: str = "", *, bend: float = 0.0,
        at: Point = (0.0, 0.07),
    ) -> None:  # fmt: skip
        """An arrow, curved by ``bend``; the text stands at its middle moved by ``at``."""
        from matplotlib.patches import FancyArrowPatch

        self.axes.add_patch(
            FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=9, color=INK, lw=1.0,
                            shrinkA=1.5, shrinkB=1.5,
                            connectionstyle=f"arc3,rad={bend}")
        )  # fmt: skip
        if text:
            middle = ((start[0] + end[0]) / 2 + at[0], (start[1] + end[1]) / 2 + at[1])
            self.note(*middle, text)

    def path(self, *points: Point) -> None:
        """An arrow with corners through all points."""
        for start, end in pairwise(points[:-1]):
            self.axes.plot(*zip(start, end, strict=True), color=INK, lw=1.0,
                           solid_capstyle="round")  # fmt: skip
        from matplotlib.patches import FancyArrowPatch

        self.axes.add_patch(
            FancyArrowPatch(points[-2], points[-1], arrowstyle="-|>", mutation_scale=9, color=INK,
                            lw=1.0, shrinkA=0, shrinkB=1.5)
        )  # fmt: skip

    def note(self, x: float, y: float, text: str, **more: Any) -> None:
        """Small text on white, so that lines stop at it."""
        white = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        kept = {
            "ha": "center",
            "va": "bottom",
            "fontsize": 6.8,
            "color": INK,
            "bbox": white,
            **more,
        }
        self.axes.text(x, y, text, linespacing=1.2, **kept)
