"""Several artifacts of one task in one picture.

A task that can show more than its single pictures beside each other has an evaluator with
``draw_together`` (:class:`DrawsTogether`); for any other, ``draw`` is called once a panel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from benchmark.artifact import Artifact
from benchmark.evaluation import load_evaluator
from benchmark.evaluator import Evaluator, Invalid, Score, Setup

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

Value = str | int | float | None


@dataclass(frozen=True)
class Named:
    """A valid artifact, what it is called in the picture, and its score."""

    label: str
    artifact: Artifact
    score: Score


@dataclass(frozen=True)
class Shown:
    """Numbers that a picture shows; rows are aligned with ``columns``."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Value]]


@runtime_checkable
class DrawsTogether(Protocol):
    """An evaluator whose task has a picture of several artifacts."""

    def draw_together(self, found: Sequence[Named], figure: Figure) -> Shown:
        """Draw valid artifacts onto an empty figure and return the numbers shown.

        Raises :class:`~benchmark.evaluator.Invalid` where an artifact lacks what the picture needs.
        """


def named(setup: Setup, label: str, artifact: Artifact) -> Named:
    """Score an artifact at the stage that it was made for.

    Raises :class:`~benchmark.evaluator.Invalid`, with the label in front, when it is valid at none.
    """
    evaluator = load_evaluator(setup)
    problems = []
    for stage in evaluator.stages:
        try:
            return Named(label, artifact, evaluator.score(artifact, stage))
        except Invalid as problem:
            problems.append(f"at stage {stage}: {problem}" if evaluator.stages[1:] else problem)
    raise Invalid(
        f"{label} is no valid artifact of {setup.task.id}: {'; '.join(map(str, problems))}"
    )


def draw_side_by_side(setup: Setup, found: Sequence[Named], figure: Figure) -> Shown:
    """Draw artifacts beside each other, by the task's own picture of several where it has one.

    Raises :class:`~benchmark.evaluator.Unavailable` where the task has no picture.
    """
    evaluator = load_evaluator(setup)
    if isinstance(evaluator, DrawsTogether):
        return evaluator.draw_together(found, figure)
    draw_panels(evaluator, found, figure)
    return scores(found)


def draw_panels(
    evaluator: Evaluator, found: Sequence[Named], figure: Figure, *, below: bool = False
) -> list[SubFigure]:
    """Each artifact as ``draw`` draws it, in a column of its own, or in a row with ``below``.

    Its label and reporting metric stand above it.
    """
    metric = evaluator.setup.task.declared.reporting_metric
    shape = (len(found), 1) if below else (1, len(found))
    panels = figure.subfigures(*shape, squeeze=False).ravel()
    for panel, one in zip(panels, found, strict=True):
        evaluator.draw(one.artifact, panel)
        value = "" if one.score.objective is None else f": {metric} {one.score.objective:.7g}"
        own = panel.get_suptitle()
        panel.suptitle(f"{one.label}{value}" + (f"\n{own}" if own else ""), fontsize="medium")
    return list(panels)


def scores(found: Sequence[Named]) -> Shown:
    """Search score, objective and metrics of each artifact, one a row."""
    rows: list[tuple[Value, ...]] = []
    for one in found:
        numbers = {"search": one.score.search, "objective": one.score.objective}
        rows += [(one.label, name, value) for name, value in numbers.items()]
        rows += [(one.label, name, value) for name, value in one.score.metrics.items()]
    return Shown(("artifact", "quantity", "value"), rows)
