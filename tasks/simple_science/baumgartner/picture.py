"""Picture of a set of conditions: what the members say, and the yields around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tasks.simple_science.baumgartner.emulator import Emulator
    from tasks.simple_science.baumgartner.evaluator import Conditions


def draw(
    conditions: Conditions,
    emulator: Emulator,
    bounds: Mapping[str, tuple[float, float]],
    figure: Figure,
) -> None:
    """Bars of the five predictions; the mean yield over temperature and residence time."""
    equivalents, temperature, t_res = conditions.numbers
    members = emulator.members(conditions.numbers, conditions.levels)
    mean = np.clip(members, 0, 1).mean()
    left, right = figure.subplots(1, 2, width_ratios=(1, 2))

    left.bar(range(1, 6), members, color="tab:gray")
    left.axhline(mean, color="tab:red")
    left.axhline(1, color="black", linewidth=0.8, linestyle=":")
    left.set(title=f"clipped mean {mean:.4f}", xlabel="network", ylabel="predicted yield")

    temperatures = np.linspace(*bounds["temperature"], 71)
    times = np.linspace(*bounds["t_res"], 88)
    across, up = np.meshgrid(times, temperatures)
    numbers = np.column_stack([np.full(across.size, equivalents), up.ravel(), across.ravel()])
    yields = np.clip(emulator.grid(numbers, conditions.levels), 0, 1).mean(axis=0)
    levels = np.linspace(0, 1, 41)
    filled = right.contourf(times, temperatures, yields.reshape(across.shape), levels)
    figure.colorbar(filled, ax=right, label="emulated yield", ticks=np.linspace(0, 1, 6))
    place = {"markersize": 9, "markeredgewidth": 2, "fillstyle": "none", "clip_on": False}
    right.plot(t_res, temperature, "o", color="red", **place)
    right.set(
        title=f"{conditions.catalyst}, {conditions.base}, {equivalents:g} equivalents",
        xlabel="residence time (s)",
        ylabel="temperature (degree Celsius)",
    )
