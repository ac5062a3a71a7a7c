"""A tiny task folder for tests: a vector of at most ten numbers in [0, 1], scored by its sum."""

from __future__ import annotations

from pathlib import Path

DECLARATION = """\
title = "Sum of a vector"
domain_title = "Toys"
direction = "max"
reporting_metric = "sum"
version = 1
language = "python"
cost = "cheap"
limits = { wall_s = 20 }

[anchors]
initial = { value = 1.0, status = "measured", source = "initial.py" }
sota = { value = 3.0, status = "derived", source = "a round number" }

[options.bonus]
type = "float"
default = 0.0
help = "added to every score"

[options.mode]
type = "str"
default = "plain"
choices = ["plain", "doubled"]
help = "how to score"
"""

EVALUATOR = """\
import math

import numpy as np

from benchmark.artifact import Artifact
from benchmark.candidates import PythonConstruction
from benchmark.evaluator import Invalid, Score


class VectorSum(PythonConstruction):
    stages = ("search", "report")

    def convert(self, returned):
        return Artifact(returned)

    def score(self, artifact, stage):
        try:
            vector = np.asarray(artifact.construction, dtype=float)
        except (TypeError, ValueError):
            raise Invalid("not a vector of numbers") from None
        if vector.ndim != 1 or not 1 <= vector.size <= 10:
            raise Invalid(f"need 1 to 10 numbers in a row, got shape {vector.shape}")
        if not ((vector >= 0) & (vector <= 1)).all():
            raise Invalid("a number lies outside [0, 1]")
        total = math.fsum(vector) + self.setup.options["bonus"]
        if self.setup.options["mode"] == "doubled":
            total *= 2
        metrics = {"n": float(vector.size)}
        if stage == "report":
            metrics["reported"] = 1.0
        return Score(search=total, objective=total, metrics=metrics, feedback="summed")


EVALUATOR = VectorSum
"""

INITIAL = """\
def run_code():
    return [0.5, 0.5]
"""


def write_toy_task(parent: Path, *, declaration: str = DECLARATION, name: str = "vector") -> Path:
    """Make the folder ``<parent>/toys/<name>`` and return it."""
    folder = parent / "toys" / name
    folder.mkdir(parents=True)
    (folder / "task.toml").write_text(declaration)
    (folder / "instructions.md").write_text("Return `run_code()`: numbers in [0, 1].\n")
    (folder / "initial.py").write_text(INITIAL)
    (folder / "evaluator.py").write_text(EVALUATOR)
    return folder
