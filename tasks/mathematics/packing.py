"""Circles in the unit square: the rule of the two packing tasks and their common evaluator.

A packing is an (n, 3) array of doubles with the columns x, y, radius. It is feasible when no
circle leaves the square and no two overlap by more than :data:`TOLERANCE`. ``strict_sum`` tells
what is left of the total when the tolerance is taken away.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmark.artifact import Artifact
from benchmark.candidates import PythonConstruction
from benchmark.evaluator import Invalid, Score, Stage
from tasks.mathematics import pictures
from tasks.mathematics.exact_packing import WALLS, ExactPacking, certificate, round_down
from tasks.mathematics.matrix import real_matrix
from tasks.mathematics.returned import split_tuple

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOLERANCE = 1e-12
"""Length by which circles may overlap or leave the square; public results use all of it."""

CONTACT = 1e-9
"""Circles, or circle and wall, closer than this touch (feedback and picture only)."""

ROUNDING = 4e-15
"""Slack for comparing two (doubled) reductions computed in doubles: with coordinates in [0, 1] and
radii up to 0.5 differences, squares, sum, root and sum of radii lose less than 1.5e-15 in each."""


class Gaps(NamedTuple):
    """Gaps of a packing in doubles, negative where something overlaps.

    ``pairs`` in the order of :func:`index_pairs`; ``walls`` has shape (4, n), order ``WALLS``.
    """

    distances: NDArray[np.float64]
    pairs: NDArray[np.float64]
    walls: NDArray[np.float64]


@cache
def index_pairs(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First and second indices of all pairs i < j, in lexicographic order."""
    first, second = np.triu_indices(n, 1)
    return first, second


def feasible_gaps(circles: NDArray[np.float64]) -> Gaps:
    """The gaps of a feasible packing; raises :class:`Invalid`, naming the circles, for others."""
    x, y, radius = np.ascontiguousarray(circles.T)
    _check_numbers(circles, radius)
    with np.errstate(over="ignore"):  # only of circles that leave the square
        low = np.stack([x - radius, y - radius])
        high = np.stack([x + radius, y + radius])
    walls = np.concatenate([low, 1.0 - high])
    if not (low.min() >= -TOLERANCE and high.max() <= 1.0 + TOLERANCE):
        wall, circle = np.unravel_index(walls.argmin(), walls.shape)
        raise Invalid(
            f"circle {circle} crosses the {WALLS[wall]} wall of the unit square by "
            f"{-walls[wall, circle]:.3g}; allowed is {TOLERANCE:.0e}"
        )
    first, second = index_pairs(len(circles))
    dx = x[first] - x[second]
    dy = y[first] - y[second]
    distances = np.sqrt(dx * dx + dy * dy)
    reach = radius[first] + radius[second]
    gaps = distances - reach
    if not (distances >= reach - TOLERANCE).all():
        worst = int(gaps.argmin())
        raise Invalid(
            f"circles {first[worst]} and {second[worst]} overlap by {-gaps[worst]:.3g}; "
            f"allowed is {TOLERANCE:.0e}"
        )
    return Gaps(distances, gaps, walls)


def _check_numbers(circles: NDArray[np.float64], radius: NDArray[np.float64]) -> None:
    finite = np.isfinite(circles)
    if not finite.all():
        row = int(np.argmin(finite.all(axis=1)))
        raise Invalid(f"circle {row} is {circles[row].tolist()}; all numbers must be finite")
    if radius.min() < 0.0:
        row = int(radius.argmin())
        raise Invalid(f"circle {row} has the negative radius {radius[row]:.17g}")


def strict_sum(circles: NDArray[np.float64], gaps: Gaps) -> float | None:
    """The total after the smallest uniform reduction of the radii that needs no tolerance.

    No radius is reduced below zero. ``None`` when a centre lies outside the square, which no
    reduction mends. Exact, rounded down to a double: doubles only choose the few pairs and walls
    that can demand the largest reduction, integers decide among them.
    """
    centres = circles[:, :2]
    if centres.min() < 0.0 or centres.max() > 1.0:
        return None
    first, second = index_pairs(len(circles))
    radius = circles[:, 2]
    used_up = np.maximum(radius[first], radius[second]) - gaps.distances
    of_pairs = np.maximum(-gaps.pairs, 2.0 * used_up)
    of_walls = -2.0 * gaps.walls
    least = max(of_pairs.max(), of_walls.max(), 0.0) - ROUNDING
    near = np.flatnonzero(of_pairs >= least)
    packing = ExactPacking(circles)
    twice = packing.twice_reduction(
        zip(first[near].tolist(), second[near].tolist(), strict=True),
        ((wall, circle) for wall, circle in np.argwhere(of_walls >= least).tolist()),
    )
    return round_down(packing.total(twice))


class CirclePacking(PythonConstruction):
    """Maximise the sum of the radii of ``count`` disjoint circles in the unit square."""

    count: ClassVar[int]

    def convert(self, returned: Any) -> Artifact:
        """``(circles, claimed sum)`` or the bare circles; the claim is not looked at."""
        construction, _ = split_tuple(returned, rows=self.count)
        return Artifact(self._circles(construction))

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        """Check the packing and add up its radii."""
        circles = self._circles(artifact.construction)
        gaps = feasible_gaps(circles)
        total = math.fsum(circles[:, 2].tolist())
        metrics = {"sum_radii": total}
        strict = strict_sum(circles, gaps)
        if strict is not None:
            metrics["strict_sum"] = strict
        return Score(total, total, metrics, describe_contacts(gaps, self.count))

    def certify(self, artifact: Artifact) -> dict[str, str]:
        """Overlaps, crossed walls and the strictly feasible total in integer arithmetic."""
        return certificate(self._circles(artifact.construction))

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        """The circles in their square, with a line for every contact."""
        circles = self._circles(artifact.construction)
        pictures.draw_packing(circles, CONTACT, figure)

    def _circles(self, value: Any) -> NDArray[np.float64]:
        return real_matrix(value, self.count, 3, "circles (x, y, radius)")


def describe_contacts(gaps: Gaps, count: int) -> str:
    """How tight the packing is, and which circles nothing holds in place."""
    first, second = index_pairs(count)
    pairs = gaps.pairs < CONTACT
    walls = gaps.walls < CONTACT
    held = np.bincount(first[pairs], minlength=count) + walls.sum(axis=0)
    held += np.bincount(second[pairs], minlength=count)
    loose = np.flatnonzero(held < 3)
    text = f"contacts (gap below {CONTACT:.0e}): {pairs.sum()} between circles, {walls.sum()} with "
    if len(loose) == 0:
        return text + "walls; every circle has at least 3"
    names = ", ".join(map(str, loose[:12])) + (", ..." if len(loose) > 12 else "")
    return text + f"walls; {len(loose)} circles with fewer than 3 can move and grow: {names}"
