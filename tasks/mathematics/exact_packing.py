"""Circle packings in integers: which circles truly overlap, and the total without tolerance.

Doubles are integers over a power of two, so everything but a distance is exact here, and a
distance is the integer root of an exact square, rounded down ``ROOT_BITS`` binary digits further
than the coordinates. Overlaps are therefore never understated, strictly feasible totals never
overstated.

Reducing all radii by t (but none below zero) separates two circles with radii r, s and centres d
apart when 2t >= max(r + s - d, 2 (max(r, s) - d)); the second term matters only where the smaller
radius is used up. It frees a circle from a wall x away from its centre when 2t >= 2 (r - x),
provided that the centre lies in the square.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

ROOT_BITS = 64
"""Binary digits of a distance beyond those of the coordinates."""

WALLS = ("left", "bottom", "right", "top")


class ExactPacking:
    """The (n, 3) packing x, y, radius of finite doubles, as integers over ``one``.

    Gaps and reductions are integers over ``unit``, which is finer by ``ROOT_BITS`` digits.
    """

    def __init__(self, circles: NDArray[np.float64]) -> None:
        ratios = [value.as_integer_ratio() for value in circles.ravel().tolist()]
        length = max(denominator.bit_length() for _, denominator in ratios)
        integers = [top << (length - bottom.bit_length()) for top, bottom in ratios]
        self.x, self.y, self.radius = integers[0::3], integers[1::3], integers[2::3]
        self.one = 1 << (length - 1)
        self.unit = self.one << ROOT_BITS

    def distance(self, i: int, j: int) -> int:
        """Distance of two centres in units, rounded down."""
        dx, dy = self.x[i] - self.x[j], self.y[i] - self.y[j]
        return math.isqrt((dx * dx + dy * dy) << (2 * ROOT_BITS))

    def pair_gap(self, i: int, j: int) -> int:
        """Distance of two circles in units, rounded down; negative where they overlap."""
        return self.distance(i, j) - ((self.radius[i] + self.radius[j]) << ROOT_BITS)

    def wall_gap(self, wall: int, i: int) -> int:
        """Distance of a circle from a wall of :data:`WALLS` in units; negative where it crosses."""
        centre = self.y[i] if wall % 2 else self.x[i]
        return ((self.one - centre if wall >= 2 else centre) - self.radius[i]) << ROOT_BITS

    def overlaps(self, i: int, j: int) -> bool:
        """Whether the centres are closer than the sum of the radii, decided without a root."""
        dx, dy = self.x[i] - self.x[j], self.y[i] - self.y[j]
        return (self.radius[i] + self.radius[j]) ** 2 > dx * dx + dy * dy

    def centres_inside(self) -> bool:
        """Whether all centres lie in the square; else no reduction makes the packing feasible."""
        return all(0 <= centre <= self.one for centre in self.x + self.y)

    def twice_reduction(
        self, pairs: Iterable[tuple[int, int]], walls: Iterable[tuple[int, int]]
    ) -> int:
        """Twice the smallest reduction that satisfies these pairs and walls (wall, circle).

        In units, rounded up, at least zero.
        """
        needed = [0]
        for i, j in pairs:
            larger = max(self.radius[i], self.radius[j]) << ROOT_BITS
            needed.append(max(-self.pair_gap(i, j), 2 * (larger - self.distance(i, j))))
        needed += [-2 * self.wall_gap(wall, i) for wall, i in walls]
        return max(needed)

    def total(self, twice_reduction: int = 0) -> Fraction:
        """Sum of the radii after the reduction."""
        twice = (max((r << (ROOT_BITS + 1)) - twice_reduction, 0) for r in self.radius)
        return Fraction(sum(twice), 2 * self.unit)


def round_down(value: Fraction) -> float:
    """The largest double that is not above ``value``."""
    nearest = float(value)
    return nearest if nearest <= value else math.nextafter(nearest, -math.inf)


def certificate(circles: NDArray[np.float64]) -> dict[str, str]:
    """Exact facts about a packing of finite doubles; lengths to 30 decimals.

    Gaps and strict totals are rounded down, reductions up, so that each line is a true statement.
    """
    packing = ExactPacking(circles)
    count = len(circles)
    pairs = list(combinations(range(count), 2))
    walls = list(product(range(len(WALLS)), range(count)))
    i, j = min(pairs, key=lambda pair: packing.pair_gap(*pair))
    wall, k = min(walls, key=lambda place: packing.wall_gap(*place))
    crossed = sum(packing.wall_gap(*place) < 0 for place in walls)
    facts = {
        "sum of radii": _decimal(packing.total(), math.floor),
        "strictly overlapping pairs": str(sum(packing.overlaps(*pair) for pair in pairs)),
        "smallest gap of a pair": (
            f"{_decimal(Fraction(packing.pair_gap(i, j), packing.unit), math.floor)}"
            f" (circles {i} and {j})"
        ),
        "strictly crossed walls": str(crossed),
        "smallest gap to a wall": (
            f"{_decimal(Fraction(packing.wall_gap(wall, k), packing.unit), math.floor)}"
            f" (circle {k}, {WALLS[wall]})"
        ),
    }
    if not packing.centres_inside():
        facts["strict_sum"] = "none: a centre lies outside the square"
        return facts
    twice = packing.twice_reduction(pairs, walls)
    facts["uniform reduction"] = _decimal(Fraction(twice, 2 * packing.unit), math.ceil)
    facts["strict_sum"] = _decimal(packing.total(twice), math.floor)
    return facts


_DECIMALS = 30


def _decimal(value: Fraction, rounded: Callable[[Fraction], int]) -> str:
    digits = rounded(value * 10**_DECIMALS)
    whole, part = divmod(abs(digits), 10**_DECIMALS)
    return f"{'-' if digits < 0 else ''}{whole}.{part:0{_DECIMALS}d}"
