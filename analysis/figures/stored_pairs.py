"""Figures 17-21: two stored outputs of a task beside each other, drawn by the task itself.

Nothing here knows a task's picture: the catalogue gives the task, and the harness its drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.figures import style
from analysis.figures.style import Drawn
from analysis.output import CsvFile
from analysis.rows import DataProblem
from benchmark.artifact import Artifact
from benchmark.evaluator import Failure, Setup
from benchmark.side_by_side import draw_side_by_side, named

FIGURES = {
    "fig17": ("swap_reduction",),
    "fig18": ("rosetta", "voyager_2"),
    "fig19": ("denoising",),
    "fig20": ("parallel", "domain_mixture", "u_shape", "lr_bsz"),
    "fig21": ("erdos", "hadamard29", "sums_diffs"),
}
"""The paper's figures of stored outputs, and the tasks whose pairs belong to each."""


@dataclass(frozen=True)
class Pair:
    """Artifacts of one task by label, in the order of the panels."""

    setup: Setup
    artifacts: Sequence[tuple[str, Artifact]]

    @property
    def figure(self) -> str:
        """``fig21`` and the like; ``pair`` for tasks that the paper draws no pair of."""
        task = self.setup.task.name
        return next((figure for figure, tasks in FIGURES.items() if task in tasks), "pair")

    @property
    def name(self) -> str:
        """Name of the files."""
        return f"{self.figure}_{self.setup.task.name}"


def draw(pair: Pair) -> Drawn:
    """Both artifacts in one picture. Raises :class:`DataProblem` for one that is not valid."""
    try:
        found = [named(pair.setup, label, artifact) for label, artifact in pair.artifacts]
        figure = style.new_figure(9.6, 4.6)
        shown = draw_side_by_side(pair.setup, found, figure)
    except Failure as problem:
        raise DataProblem(f"--pair {pair.setup.task.name}: {problem}") from None
    data = CsvFile(pair.name, shown.columns, [list(row) for row in shown.rows])
    return Drawn(pair.name, style.pictures(figure), [data])


def check(only: Sequence[str], pairs: Sequence[Pair]) -> None:
    """Raises :class:`DataProblem` for a figure of stored outputs that was asked for without any."""
    for name in only:
        if name in FIGURES and not any(pair.figure == name for pair in pairs):
            tasks = " or ".join(FIGURES[name])
            raise DataProblem(
                f"figure {name} shows stored outputs: give --pair TASK=A,B with TASK {tasks} and "
                "each of A, B `initial`, a program, an artifact file or a run folder"
            )
