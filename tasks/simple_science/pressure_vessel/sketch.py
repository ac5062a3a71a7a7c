"""Lengthwise section of a pressure vessel, walls drawn thicker than they are."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle, Wedge

from tasks.simple_science.pressure_vessel.evaluator import Design

MAGNIFIED = 6  # a true wall would be a hairline


def draw(design: Design, figure: Figure) -> None:
    """Section through the axis with the four dimensions."""
    axes = figure.subplots()
    shell, head = MAGNIFIED * design.shell, MAGNIFIED * design.head
    radius, length = design.radius, design.length
    steel = {"facecolor": "tab:blue", "edgecolor": "black", "linewidth": 0.6}
    for side in (radius, -radius - shell):
        axes.add_patch(Rectangle((0, side), length, shell, **steel))
    steel["facecolor"] = "tab:orange"
    axes.add_patch(Wedge((0, 0), radius + head, 90, 270, width=head, **steel))
    axes.add_patch(Wedge((length, 0), radius + head, 270, 90, width=head, **steel))
    axes.axhline(0, color="0.6", linewidth=0.8, linestyle="-.")
    _dimension(axes, (0, -radius / 2), (length, -radius / 2), f"length {length:.4f} in")
    _dimension(axes, (length / 2, 0), (length / 2, radius), f"radius {radius:.4f} in")
    reach = radius + max(shell, head)
    axes.text(length / 2, 1.08 * reach, f"shell {design.shell:g} in", ha="center", color="tab:blue")
    axes.text(-0.75 * reach, 0.95 * reach, f"head {design.head:g} in", ha="center", color="tab:orange")
    axes.set(xlim=(-1.25 * reach, length + 1.25 * reach), ylim=(-1.25 * reach, 1.25 * reach))
    axes.set_aspect("equal")
    axes.set(title=f"cost {design.cost():.4f} (walls {MAGNIFIED} times as thick)", xlabel="in")


def _dimension(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], text: str
) -> None:
    axes.annotate("", start, end, arrowprops={"arrowstyle": "<->", "linewidth": 1})
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    axes.annotate(text, middle, xytext=(4, 4), textcoords="offset points")
