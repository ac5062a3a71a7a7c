"""Governing equations of a noise-free planar trajectory (minimise two relative errors)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmark.artifact import Artifact, Plain
from benchmark.candidates import PayloadSolver
from benchmark.evaluator import Invalid, Score, Stage
from tasks.simple_science import answers
from tasks.simple_science.sindy_2d import dynamics

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRAINING_DATA = Path(__file__).with_name("data") / "training_data.json"
LARGEST = 1e6  # magnitude of a coefficient


class Sindy(PayloadSolver):
    """``solve`` returns ``{"coefficients": [row of x', row of y']}``, ten numbers a row."""

    score_in_process = True

    def payload(self) -> dict[str, Plain]:
        samples = json.loads(TRAINING_DATA.read_text(encoding="utf-8"))
        powers: list[Plain] = [list(pair) for pair in dynamics.POWERS]
        return {"t": samples["t"], "x": samples["x"], "powers": powers}

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        coefficients = valid_coefficients(artifact)
        field = dynamics.field_error(coefficients)
        trajectory = dynamics.trajectory_error(coefficients)
        combined = 1 / (1 + (field + trajectory) / 2)
        metrics = {"vector_field_nrmse": field, "trajectory_nrmse": trajectory}
        feedback = (
            f"relative error of the vector field {field:.4e}, of the trajectories {trajectory:.4e}"
        )
        return Score(combined, combined, metrics, feedback)

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        from tasks.simple_science.sindy_2d import portrait

        portrait.draw(valid_coefficients(artifact), figure)


def valid_coefficients(artifact: Artifact) -> dynamics.Floats:
    """The coefficients, shape (2, 10); raises :class:`Invalid`."""
    (table,) = answers.fields(answers.answer(artifact), "coefficients")
    coefficients = np.array(answers.rows(table, 2, len(dynamics.POWERS), "coefficients"))
    largest = float(np.abs(coefficients).max())
    if largest > LARGEST:
        raise Invalid(f"coefficients must not exceed {LARGEST:g} in magnitude; got {largest:g}")
    return coefficients


EVALUATOR = Sindy
