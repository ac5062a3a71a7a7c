"""Lengthwise section of a pressure vessel, walls drawn thicker than they are."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle, Wedge

from tasks.simple_science.pressure_vessel.evaluator import Design

MAGNIFIED = 6  # a true wall would be a hairline
SHELL, HEAD = "tab:blue", "tab:orange"


def draw(design: Design, figure: Figure) -> None:
    """Section through the axis with the four dimensions."""
    figure.set_size_inches(9, 4)
    axes = figure.subplots()
    shell, head = MAGNIFIED * design.shell, MAGNIFIED * design.head
    radius, length = design.radius, design.length
    for side in (radius, -radius - shell):
        axes.add_patch(Rectangle((0, side), length, shell, facecolor=SHELL, edgecolor="black"))
    for end, angle in ((0, 90), (length, 270)):
        heads = Wedge((end, 0), radius + head, angle, angle + 180, width=head)
        heads.set(facecolor=HEAD, edgecolor="black")
        axes.add_patch(heads)
    axes.axhline(0, color="0.6", linewidth=0.8, linestyle="-.")
    _dimension(axes, (0, -radius / 2), (length, -radius / 2), f"length {length:.4f} in")
    _dimension(axes, (length / 2, 0), (length / 2, radius), f"radius {radius:.4f} in")
    reach = radius + max(shell, head)
    axes.text(length / 2, 1.05 * reach, f"shell {design.shell:g} in", ha="center", color=SHELL)
    axes.text(-0.5 * reach, 1.05 * reach, f"head {design.head:g} in", ha="center", color=HEAD)
    axes.set(xlim=(-1.3 * reach, length + 1.3 * reach), ylim=(-1.15 * reach, 1.3 * reach))
    axes.set(title=f"cost {design.cost():.4f} (walls {MAGNIFIED} times as thick)", xlabel="in")
    axes.set_aspect("equal")


def _dimension(axes: Axes, start: tuple[float, float], end: tuple[float, float], text: str) -> None:
    axes.annotate("", start, end, arrowprops={"arrowstyle": "<->", "linewidth": 1})
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    level = start[1] == end[1]
    axes.annotate(
        text,
        middle,
        (0, 4) if level else (5, -3),
        textcoords="offset points",
        ha="center" if level else "left",
    )
