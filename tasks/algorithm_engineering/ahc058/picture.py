"""A production plan over its turns, readable in black and white."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tasks.algorithm_engineering.ahc058.generator import IDS, LEVELS, TURNS
from tasks.algorithm_engineering.ahc058.plan import Integers, case_score

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLES = ("-", "--", "-.", ":")


def draw_production(seed: int, actions: Integers, apples: Integers, figure: Figure) -> None:
    """Apples over the turns, and when which level's machines were raised.

    ``actions`` (TURNS,), ``apples`` (TURNS + 1,) before each turn and after the last.
    """
    left, right = figure.subplots(1, 2)
    turns = np.arange(TURNS + 1)
    left.plot(turns, apples, color="black", linewidth=1.0)
    left.set(xlabel="turn", ylabel="apples", xlim=(0, TURNS))
    left.set_yscale("symlog", linthresh=1)
    left.set_ylim(bottom=0)
    for level in range(LEVELS):
        raised = np.concatenate([[0], np.cumsum(actions // IDS == level)])
        right.step(turns, raised, where="post", color="black", linestyle=STYLES[level],
                   linewidth=1.2, label=f"level {level}")  # fmt: skip
    right.set(xlabel="turn", ylabel="powers bought", xlim=(0, TURNS))
    right.set_ylim(bottom=0)
    right.legend(frameon=False)
    figure.suptitle(
        f"input {seed}: {int(apples[-1])} apples after {TURNS} turns, "
        f"score {case_score(int(apples[-1]))}"
    )
