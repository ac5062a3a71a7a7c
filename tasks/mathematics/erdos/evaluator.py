"""Erdős minimum overlap: a step function on [0, 2] whose worst overlap is small (minimise C5).

h maps n equal cells of [0, 2] into [0, 1] and has integral 1. C5 is the maximum over all shifts of
the overlap of h with 1 - h, both zero outside [0, 2]; every such h bounds the constant from above.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.artifact import Artifact
from benchmark.candidates import PythonConstruction, type_name
from benchmark.evaluator import Invalid, Score, Stage
from benchmark.side_by_side import Named, Shown, draw_panels, scores
from tasks.mathematics import autoconvolution as ac
from tasks.mathematics import exact_autoconvolution as exact
from tasks.mathematics import step_pictures
from tasks.mathematics.returned import check_claim, claimed_number
from tasks.mathematics.step_heights import (
    cell_count,
    check_cell_count,
    converted_heights,
    stored_heights,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_CELLS = 65536
CLAIM_TOLERANCE = 1e-8  # of C5, absolute


class MinimumOverlap(PythonConstruction):
    """``run_code()`` returns ``(h_values, c5_bound, n_points)``."""

    def convert(self, returned: Any) -> Artifact:
        """Heights as an array, the claim and the number of cells beside them."""
        if not isinstance(returned, tuple):
            raise Invalid(
                f"run_code() returned {type_name(returned)}; "
                "expected the tuple (h_values, c5_bound, n_points)"
            )
        if len(returned) != 3:
            raise Invalid(
                f"run_code() returned a tuple of {len(returned)}; "
                "expected (h_values, c5_bound, n_points)"
            )
        h_values, c5_bound, n_points = returned
        return Artifact(
            {
                "construction": converted_heights(h_values),
                "claim": claimed_number(c5_bound, "C5"),
                "n_points": cell_count(n_points),
            }
        )

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        """C5 of the heights after scaling them to integral 1; never the claim."""
        given = _given(artifact)
        n = len(given)
        h = _unit_mass(given)
        overlaps = ac.overlap(h)
        peak = ac.overlap_peak(h, overlaps)
        c5 = 2.0 * peak / n
        check_claim(artifact.get("claim"), c5, CLAIM_TOLERANCE, "C5")
        near = ac.lags_near(overlaps, peak)
        return Score(
            search=1.0 / (1e-8 + c5),
            objective=c5,
            metrics={
                "c5": c5,
                "n": float(n),
                "integral": 2.0 * float(given.sum()) / n,
                "shifts_near_maximum": near,
            },
            feedback=f"{near:.0f} of {2 * n - 1} shifts are within 1e-6 of the maximal overlap",
        )

    def certify(self, artifact: Artifact) -> dict[str, str]:
        """Exact C5 of the heights, scaled to integral 1 in exact arithmetic and as given.

        The first is a proven upper bound of the Erdős constant where ``feasible`` says yes.
        """
        given = _given(artifact)
        n = len(given)
        numerators, exponent = exact.scaled_integers(given)
        total = sum(numerators)
        if total == 0:
            raise Invalid("all heights are 0; the integral must be 1")
        # h scaled to integral 1 has heights n H_i / (2 sum H), whatever the common denominator.
        scaled = [n * numerator for numerator in numerators]
        highest = Fraction(max(scaled), 2 * total)
        return {
            **exact.facts("c5", Fraction(2, n) * exact.overlap_peak(scaled, 2 * total)),
            **exact.facts(
                "c5_of_given_heights",
                Fraction(2, n) * exact.overlap_peak(numerators, 1 << exponent),
            ),
            **exact.facts("mass_excess", Fraction(total, 1 << exponent) - Fraction(n, 2)),
            "feasible": "yes" if highest <= 1 else f"no: a height is {float(highest - 1):.3g} over",
        }

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        """h above, its overlap function below."""
        h = _unit_mass(_given(artifact))
        value = f"C5 = {self.score(artifact, 'search').objective:.10f}"
        step_pictures.draw_overlap(figure, h, 2.0 / len(h) * ac.overlap(h), value)

    def draw_together(self, found: Sequence[Named], figure: Figure) -> Shown:
        """The functions beside each other, their overlaps on one scale."""
        panels = draw_panels(self, found, figure)
        lower = [panel.axes[-1] for panel in panels]
        highest = max(axes.get_ylim()[1] for axes in lower)
        for axes in lower:
            axes.set_ylim(top=highest)
        return scores(found)


def _given(artifact: Artifact) -> ac.Heights:
    """The stored heights, each within [0, 1] without any tolerance."""
    heights = stored_heights(artifact.construction, MOST_CELLS)
    check_cell_count(artifact.get("n_points"), heights)
    _check_range(heights, "")
    return heights


def _unit_mass(given: ac.Heights) -> ac.Heights:
    """The heights scaled so that their floating-point sum becomes n/2, where it is not."""
    total, wanted = float(given.sum()), len(given) / 2.0
    if total == wanted:
        return given
    if total == 0.0:
        raise Invalid("all heights are 0; the integral must be 1")
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = given * (wanted / total)
    _check_range(scaled, f" after scaling the integral from {total / wanted:.6g} to 1")
    return scaled


def _check_range(heights: ac.Heights, when: str) -> None:
    lowest, highest = float(heights.min()), float(heights.max())
    if not (lowest >= 0.0 and highest <= 1.0):
        raise Invalid(
            f"heights range from {lowest!r} to {highest!r}{when}; they must lie in [0, 1], "
            "without tolerance"
        )


EVALUATOR = MinimumOverlap
