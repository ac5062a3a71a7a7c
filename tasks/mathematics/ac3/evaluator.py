"""Third autocorrelation inequality: a step function f of any sign on [-1/4, 1/4] (minimise C3).

C3 = max |f*f| / (integral of f)^2. With heights a_0 ... a_{n-1} on n equal cells it is
2 n max_k |(a*a)_k| / (sum a)^2. The absolute value stands inside the maximum.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.artifact import Artifact
from benchmark.candidates import PythonConstruction
from benchmark.evaluator import Invalid, Score, Stage
from tasks.mathematics import autoconvolution as ac
from tasks.mathematics import exact_autoconvolution as exact
from tasks.mathematics import step_pictures
from tasks.mathematics.returned import check_claim, claimed_number, split_tuple
from tasks.mathematics.step_heights import (
    cell_count,
    check_cell_count,
    converted_heights,
    stored_heights,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_CELLS = 65536
LARGEST_HEIGHT = 1e10
LEAST_SQUARED_INTEGRAL = 1e-9
CLAIM_TOLERANCE = 1e-6  # of C3, absolute
SEARCH_REFERENCE = 1.4556427953745406  # C3 at which the search score is 1


class ThirdAutocorrelation(PythonConstruction):
    """``run_code()`` returns ``(heights, c3, loss, n_points)``; the heights alone will do."""

    def convert(self, returned: Any) -> Artifact:
        """Heights as an array; beside them the claim and the number of cells where given."""
        construction, rest = split_tuple(returned)
        claim, _loss, n_points = (*rest, None, None, None)[:3]
        return Artifact(
            {
                "construction": converted_heights(construction),
                "claim": claimed_number(claim, "C3"),
                "n_points": None if n_points is None else cell_count(n_points),
            }
        )

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        """C3 of the heights; never the claim."""
        a = _heights(artifact)
        n = len(a)
        values = ac.autoconvolution(a)
        peak = ac.autoconvolution_peak(a, values)
        total = _sum(a)
        c3 = 2.0 * n * peak / total**2
        check_claim(artifact.get("claim"), c3, CLAIM_TOLERANCE, "C3")
        near = ac.lags_near(np.abs(values), peak)
        return Score(
            search=SEARCH_REFERENCE / c3,
            objective=c3,
            metrics={
                "c3": c3,
                "n": float(n),
                "integral": total * 0.5 / n,
                "lags_near_maximum": near,
            },
            feedback=f"{near:.0f} of {2 * n - 1} values of |f*f| are within 1e-6 of the maximum",
        )

    def certify(self, artifact: Artifact) -> dict[str, str]:
        """C3 in exact arithmetic, a proven upper bound of the constant."""
        a = _heights(artifact)
        values, exponent = exact.autoconvolution(a)
        peak = Fraction(max(map(abs, values)), 1 << exponent)
        return exact.facts("c3", 2 * len(a) * peak / exact.total(a) ** 2)

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        """f with integral 1 above, f*f below; the largest size of it is C3."""
        value = f"C3 = {self.score(artifact, 'search').objective:.10f}"
        step_pictures.draw_autoconvolution(figure, _heights(artifact), value)


def _heights(artifact: Artifact) -> ac.Heights:
    """The stored heights; their size is bounded and their integral not close to zero."""
    a = stored_heights(artifact.construction, MOST_CELLS)
    check_cell_count(artifact.get("n_points"), a)
    largest = float(np.abs(a).max())
    if largest > LARGEST_HEIGHT:
        raise Invalid(f"a height has size {largest:.3g}; at most {LARGEST_HEIGHT:.0e} is allowed")
    integral = _sum(a) * 0.5 / len(a)
    if integral**2 < LEAST_SQUARED_INTEGRAL:
        raise Invalid(
            f"the integral of f is {integral:.3g}; its square must be at least "
            f"{LEAST_SQUARED_INTEGRAL:.0e}"
        )
    return a


def _sum(a: ac.Heights) -> float:
    # correctly rounded: heights of both signs may cancel
    return math.fsum(a.tolist())


EVALUATOR = ThirdAutocorrelation
