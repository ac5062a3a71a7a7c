"""Parity vectors of the ten simple scientific tasks, and answers on their way to a verdict."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet
from matplotlib.figure import Figure
from shared_data import evaluator_for, parity_files, read_case, through_the_wire

from benchmark.artifact import Artifact
from benchmark.candidates import PayloadSolver
from benchmark.evaluator import Invalid, Score


@dataclass(frozen=True)
class Vector:
    """A returned value and the verdict it must get, with the tolerances of its file."""

    task: str
    name: str
    answer: Any
    valid: bool
    score: float | None
    metrics: dict[str, float]
    abs_tol: float
    rel_tol: float

    def check(self, score: Score | None) -> None:
        """Compare a score (``None``: invalid) with the expected one."""
        assert (score is not None) == self.valid
        if score is None:
            return
        expected = {"search": self.score, "objective": self.score, **self.metrics}
        found = {"search": score.search, "objective": score.objective, **score.metrics}
        near = {name: found[name] for name in expected}
        assert near == pytest.approx(expected, abs=self.abs_tol, rel=self.rel_tol)


def vectors(task: str, *names: str) -> list[ParameterSet]:
    """Parameters for one test: the vectors of a task, all or those named, or a skipped stand-in."""
    (file,) = parity_files(task, "cases.json")
    path = file.values[0]
    if not isinstance(path, Path):
        return [file]
    content = read_case(path)
    tolerances = {"abs_tol": content["abs_tol"], "rel_tol": content["rel_tol"]}
    found = {
        case["case"]: Vector(
            task=task,
            name=case["case"],
            answer=case["input"],
            valid=case["expected"]["valid"],
            score=case["expected"]["score"],
            metrics=case["expected"].get("metrics", {}),
            **tolerances,
        )
        for case in content["cases"]
    }
    return [pytest.param(found[name], id=name) for name in names or found]


def scored(task: str, returned: Any) -> Score:
    """The score of a returned value that crossed the sandbox's border; raises :class:`Invalid`."""
    evaluator = evaluator_for(task)
    assert isinstance(evaluator, PayloadSolver)
    return evaluator.score(evaluator.convert(through_the_wire(returned)), "search")


def verdict(task: str, returned: Any) -> Score | None:
    """Like :func:`scored`, with ``None`` for an invalid value."""
    try:
        return scored(task, returned)
    except Invalid:
        return None


def program_returning(folder: Path, expression: str) -> Path:
    """A program whose ``solve`` returns the value of a Python expression."""
    path = folder / "program.py"
    head = "import numpy as np\n\nnan, inf = float('nan'), float('inf')\n\n"
    path.write_text(f"{head}def solve(payload):\n    return {expression}\n")
    return path


def drawn(task: str, answer: Any) -> Figure:
    """The picture of a valid answer, rendered once."""
    figure = Figure(layout="constrained")
    evaluator_for(task).draw(Artifact(answer), figure)
    figure.savefig(io.BytesIO(), format="png")
    return figure
