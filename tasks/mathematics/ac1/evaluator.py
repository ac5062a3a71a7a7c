"""First autocorrelation inequality: a non-negative step function f on [-1/4, 1/4] (minimise C1).

C1 = max (f*f) / (integral of f)^2. With heights a_0 ... a_{n-1} on n equal cells it is
2 n max_k (a*a)_k / (sum a)^2, exactly, because f*f is linear between its values at whole cells.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

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


class FirstAutocorrelation(PythonConstruction):
    """``run_code()`` returns ``(heights, c1)`` or the list of heights alone."""

    def convert(self, returned: Any) -> Artifact:
        """A Python list of ints and floats as an artifact, beside it the claim where usable."""
        return list_artifact(returned)

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        """C1 of the heights clipped to [0, 1000]; a claim is compared but never scored."""
        given = given_heights(artifact)
        a, n = clipped(given), len(given)
        values = ac.autoconvolution(a)
        peak = ac.autoconvolution_peak(a, values)
        c1 = 2.0 * n * peak / float(a.sum()) ** 2
        near = ac.lags_near(values, peak)
        notes = [
            f"{near:.0f} of {2 * n - 1} values of f*f are within 1e-6 of the maximum",
            *clipping_note(given),
            *claim_note(artifact, c1, "C1"),
        ]
        return Score(
            search=1.0 / (1e-8 + c1),
            objective=c1,
            metrics={"c1": c1, "n": float(n), "lags_near_maximum": near},
            feedback="; ".join(notes),
        )

    def certify(self, artifact: Artifact) -> dict[str, str]:
        """C1 in exact arithmetic, a proven upper bound of the constant."""
        a = clipped(given_heights(artifact))
        values, exponent = exact.autoconvolution(a)
        peak = Fraction(max(values), 1 << exponent)
        return exact.facts("c1", 2 * len(a) * peak / exact.total(a) ** 2)

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        """f with integral 1 above, f*f below; its maximum is C1."""
        value = f"C1 = {self.score(artifact, 'search').objective:.10f}"
        step_pictures.draw_autoconvolution(figure, clipped(given_heights(artifact)), value)


EVALUATOR = FirstAutocorrelation
