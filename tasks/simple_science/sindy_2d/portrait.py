"""Picture of an identified planar system beside the true one."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from tasks.simple_science.sindy_2d import dynamics


def draw(coefficients: dynamics.Floats, figure: Figure) -> None:
    """Flow of the field with the test trajectories, and the first trajectory over time."""
    figure.set_size_inches(11, 5)
    plane, course = figure.subplots(1, 2)
    ticks = np.linspace(-2.0, 2.0, 41)
    points = np.stack(np.meshgrid(ticks, ticks), axis=-1)
    flow = dynamics.field(coefficients, points)
    plane.streamplot(
        ticks, ticks, flow[..., 0], flow[..., 1], color="0.8", linewidth=0.7, arrowsize=0.7
    )
    for colour, start in zip(("tab:blue", "tab:orange"), dynamics.STARTS, strict=True):
        found, true = dynamics.trajectory(coefficients, start), dynamics.true_trajectory(start)
        label = f"from ({start[0]:g}, {start[1]:g})"
        plane.plot(*found.T, color=colour, label=label)
        plane.plot(*true.T, color="black", linestyle=":", linewidth=1)
        plane.plot(*start, "o", color=colour)
    plane.set(xlabel="x", ylabel="y", aspect="equal", xlim=(-2, 2), ylim=(-2, 2))
    plane.set_title(f"field error {dynamics.field_error(coefficients):.2e} (dotted: true system)")
    plane.legend(loc="upper right")

    found = dynamics.trajectory(coefficients, dynamics.STARTS[0])
    true = dynamics.true_trajectory(dynamics.STARTS[0])
    for name, colour, mine, real in zip(
        "xy", ("tab:blue", "tab:cyan"), found.T, true.T, strict=True
    ):
        course.plot(dynamics.TIMES, mine, color=colour, label=name)
        course.plot(dynamics.TIMES, real, color="black", linestyle=":", linewidth=1)
    course.set_title(f"trajectory error {dynamics.trajectory_error(coefficients):.2e}")
    course.set(xlabel="time", ylabel="state from the first start", xlim=(0, 10))
    course.legend(loc="upper right")
