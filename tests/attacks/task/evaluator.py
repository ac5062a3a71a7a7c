"""The sum of four numbers in [0, 1]: at most 4, whatever a program does."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmark.artifact import Artifact
from benchmark.candidates import PythonConstruction, type_name
from benchmark.evaluator import Invalid, Score, Stage


class CappedSum(PythonConstruction):
    def convert(self, returned: Any) -> Artifact:
        if isinstance(returned, np.ndarray):
            returned = returned.tolist()
        if not isinstance(returned, list | tuple):
            raise Invalid(f"need a list of numbers, got {type_name(returned)}")
        for item in returned:
            if isinstance(item, bool) or not isinstance(item, int | float):
                raise Invalid(f"need numbers, got {type_name(item)}")
        return Artifact([float(item) for item in returned])

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        vector = artifact.construction
        if not isinstance(vector, list) or len(vector) != 4:
            raise Invalid("need four numbers")
        for item in vector:
            if not isinstance(item, int | float) or not 0.0 <= item <= 1.0:
                raise Invalid(f"{item} lies outside [0, 1]")
        total = math.fsum(vector)  # type: ignore[arg-type]
        return Score(search=total, objective=total)


EVALUATOR = CappedSum
