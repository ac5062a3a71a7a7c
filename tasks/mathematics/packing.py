"""Circles in the unit square: feasibility, the task's rule, and what survives without tolerance.

A packing is an (n, 3) array of doubles with the columns x, y, radius. It counts as feasible when
no circle leaves the square and no two overlap by more than :data:`TOLERANCE`. ``strict_sum``
says what is left of the total when the tolerance is taken away: see :mod:`exact_packing`.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmark.artifact import Artifact
from benchmark.candidates import PythonConstruction
from benchmark.evaluator import Invalid, Score, Stage
from tasks.mathematics import pictures
from tasks.mathematics.exact_packing import ExactPacking
from tasks.mathematics.matrix import real_matrix
from tasks.mathematics.returned import split_tuple

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOLERANCE = 1e-12
"""Length by which circles may overlap or leave the square."""

CONTACT = 1e-9
"""Gap below which the feedback and the picture call two circles, or circle and wall, touching."""

ROUNDING = 4e-15
"""Twice the error of a gap computed in doubles is below this: with coordinates in [0, 1] and radii
below 0.51, x - y, squares, sum, root and r + r - d lose at most 1e-15 together."""

WALLS = ("left", "bottom", "right", "top")


@cache
def index_pairs(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and second index of all pairs i < j, in lexicographic order."""
    first, second = np.triu_indices(n, 1)
    return first, second


def pair_distances(circles: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """Distances of the centres and sums of the radii of all pairs of :func:`index_pairs`."""
    first, second = index_pairs(len(circles))
    x, y, radius = np.ascontiguousarray(circles.T)
    dx = x[first] - x[second]
    dy = y[first] - y[second]
    return np.sqrt(dx * dx + dy * dy), radius[first] + radius[second]


def wall_gaps(circles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Gaps to the walls, (4, n) in the order of :data:`WALLS`; rounded below the last digit."""
    x, y, radius = circles.T
    return np.stack([x - radius, y - radius, 1.0 - (x + radius), 1.0 - (y + radius)])


def check_packing(circles: NDArray[np.float64]) -> None:
    """Raise :class:`Invalid`, naming the circles, unless the packing is feasible in doubles."""
    if not np.isfinite(circles).all():
        worst = int(np.flatnonzero(~np.isfinite(circles).all(axis=1))[0])
        raise Invalid(f"circle {worst} is {tuple(circles[worst].tolist())}; need finite numbers")
    x, y, radius = circles.T
    if radius.min() < 0.0:
        worst = int(radius.argmin())
        raise Invalid(f"circle {worst} has the negative radius {radius[worst]:.17g}")
    with np.errstate(over="ignore"):
        outside = (x - radius < -TOLERANCE) | (y - radius < -TOLERANCE)
        outside |= (x + radius > 1.0 + TOLERANCE) | (y + radius > 1.0 + TOLERANCE)
        if outside.any():
            worst = int(outside.argmax())
            wall = int(wall_gaps(circles)[:, worst].argmin())
            beyond = -wall_gaps(circles)[wall, worst]
            raise Invalid(
                f"circle {worst} crosses the {WALLS[wall]} wall by {beyond:.3g}; "
                f"allowed is {TOLERANCE:.0e}"
            )


class CirclePacking(PythonConstruction):
    """Maximise the sum of the radii of ``count`` circles in the unit square."""

    count: ClassVar[int]

    def convert(self, returned: Any) -> Artifact:
        """``(circles, claimed sum)`` or the bare circles; the claim is not looked at."""
        construction, _ = split_tuple(returned, rows=self.count)
        return Artifact(self._circles(construction))

    def _circles(self, value: Any) -> NDArray[np.float64]:
        return real_matrix(value, self.count, 3, "circles (x, y, radius)")
