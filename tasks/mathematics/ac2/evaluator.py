"""Second autocorrelation inequality: a non-negative step function f on [-1/4, 1/4] (maximise C2).

C2 = ||f*f||_2^2 / (||f*f||_1 ||f*f||_inf), at most 1. f*f is linear between its values
c_k = (a*a)_k at whole cells and zero at both ends, so each cell adds (y^2 + y z + z^2) / 3 of its
end values y, z to the squared norm: in total (2 <c, c> + sum_k c_k c_{k+1}) / 3 cell widths.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.artifact import Artifact
from benchmark.candidates import PythonConstruction
from benchmark.evaluator import Score, Stage
from tasks.mathematics import autoconvolution as ac
from tasks.mathematics import exact_autoconvolution as exact
from tasks.mathematics import step_pictures
from tasks.mathematics.nonnegative import (
    claim_note,
    clipped,
    clipping_note,
    given_heights,
    list_artifact,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class SecondAutocorrelation(PythonConstruction):
    """``run_code()`` returns ``(heights, c2)`` or the list of heights alone."""

    def convert(self, returned: Any) -> Artifact:
        """A Python list of ints and floats as an artifact, beside it the claim where usable."""
        return list_artifact(returned)

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        """C2 of the heights clipped to [0, 1000]; a claim is compared but never scored."""
        given = given_heights(artifact)
        a, n = clipped(given), len(given)
        c = ac.autoconvolution(a)
        peak = ac.autoconvolution_peak(a, c)
        mass = float(a.sum()) ** 2  # sum(c), without the transform's error
        squares = (2.0 * float(np.dot(c, c)) + float(np.dot(c[:-1], c[1:]))) / 3.0
        c2 = squares / (mass * peak)
        near = ac.lags_near(c, peak)
        notes = [
            f"{near:.0f} of {2 * n - 1} values of f*f are within 1e-6 of the maximum",
            *clipping_note(given),
            *claim_note(artifact, c2, "C2"),
        ]
        return Score(
            search=c2,
            objective=c2,
            metrics={
                "c2": c2,
                "n": float(n),
                # of f scaled to integral 1, where ||f*f||_1 = 1
                "norm_2_squared": 2.0 * n * squares / mass**2,
                "norm_inf": 2.0 * n * peak / mass,
                "lags_near_maximum": near,
            },
            feedback="; ".join(notes),
        )

    def certify(self, artifact: Artifact) -> dict[str, str]:
        """C2 in exact arithmetic, a proven lower bound of the constant."""
        c, _ = exact.autoconvolution(clipped(given_heights(artifact)))  # C2 has no scale
        squares = sum(2 * value * value for value in c)
        squares += sum(value * following for value, following in pairwise(c))
        return exact.facts("c2", Fraction(squares, 3 * sum(c) * max(c)))

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        """f with integral 1 above, f*f below."""
        value = f"C2 = {self.score(artifact, 'search').objective:.10f}"
        step_pictures.draw_autoconvolution(figure, clipped(given_heights(artifact)), value)


EVALUATOR = SecondAutocorrelation
