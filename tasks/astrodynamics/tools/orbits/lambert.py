"""Lambert's problem for one arc, by Izzo's method.

D. Izzo, "Revisiting Lambert's problem", Celestial Mechanics and Dynamical Astronomy 121 (2015) 1,
with Battin's hypergeometric series near the parabola. The free variable x is below 1 on ellipses
and above 1 on hyperbolas; ``lam`` is the paper's lambda, T the non-dimensional time of
flight (``target`` is the wanted one).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .vectors import Triple, Vector, VectorLike, triple

MAX_ITERATIONS = 35
X_TOLERANCE = 1e-8
_COLLINEAR = 1e-14  # sine of the transfer angle below which the plane is rounding noise
_BATTIN = (math.sqrt(0.6), math.sqrt(1.4))


class Geometry(NamedTuple):
    """An arc without its timing: unit vectors, lengths and the sign conventions of the paper."""

    radius0: float
    radius1: float
    chord: float
    semiperimeter: float
    lam: float
    radial0: Triple
    radial1: Triple
    tangent0: Triple
    tangent1: Triple


def lambert(
    r0: VectorLike,
    r1: VectorLike,
    tof: float,
    mu: float,
    *,
    prograde: bool = True,
    lowpath: bool = True,
    M: int = 0,
    numiter: int = MAX_ITERATIONS,
    rtol: float = X_TOLERANCE,
) -> tuple[Vector, Vector]:
    """Velocities at both ends of the arc from ``r0`` to ``r1`` in the time ``tof``.

    Positions of shape (3,), ``tof`` > 0 and ``mu`` in consistent units. ``prograde``: positive z
    component of the angular momentum. ``M`` full revolutions, then ``lowpath`` chooses among the
    two solutions (it has no effect for ``M`` = 0).

    Raises ``ValueError`` for collinear positions, ``tof`` <= 0, or more revolutions than ``tof``
    allows; ``RuntimeError`` when the iteration does not converge.
    """
    arc, target = _arc(r0, r1, tof, mu, prograde)
    if M < 0 or max_revolutions(target, arc.lam, numiter, rtol) < M:
        raise ValueError(f"no solution with {M} revolutions for this time of flight")
    v0, v1 = _velocities(arc, _solve(target, arc.lam, M, lowpath, numiter, rtol), mu)
    return np.array(v0), np.array(v1)


def solutions(
    r0: VectorLike,
    r1: VectorLike,
    tof: float,
    mu: float,
    *,
    prograde: bool = True,
    numiter: int = MAX_ITERATIONS,
    rtol: float = X_TOLERANCE,
    max_revs: int = 20,
) -> Iterator[tuple[int, bool | None, Vector, Vector]]:
    """All solutions as (M, lowpath, v0, v1), by growing M, low path first; ``None`` for M = 0.

    Raises as :func:`lambert`; a branch on which the iteration does not converge is left out.
    """
    arc, target = _arc(r0, r1, tof, mu, prograde)
    for M in range(min(max_revolutions(target, arc.lam, numiter, rtol), max_revs) + 1):
        for lowpath in (True, False) if M else (None,):
            try:
                x = _solve(target, arc.lam, M, lowpath is not False, numiter, rtol)
            except RuntimeError:
                continue
            v0, v1 = _velocities(arc, x, mu)
            yield M, lowpath, np.array(v0), np.array(v1)


def _arc(
    r0: VectorLike, r1: VectorLike, tof: float, mu: float, prograde: bool
) -> tuple[Geometry, float]:
    if not tof > 0.0:
        raise ValueError(f"the time of flight must be positive, not {tof}")
    if not mu > 0.0:
        raise ValueError(f"mu must be positive, not {mu}")
    arc = geometry(triple(r0), triple(r1), prograde)
    return arc, math.sqrt(2.0 * mu / arc.semiperimeter) / arc.semiperimeter * tof


def geometry(r0: Triple, r1: Triple, prograde: bool) -> Geometry:
    """The arc's geometry. Raises ``ValueError`` when the positions span no plane."""
    x0, y0, z0 = r0
    x1, y1, z1 = r1
    n0 = math.sqrt(x0 * x0 + y0 * y0 + z0 * z0)
    n1 = math.sqrt(x1 * x1 + y1 * y1 + z1 * z1)
    hx, hy, hz = y0 * z1 - z0 * y1, z0 * x1 - x0 * z1, x0 * y1 - y0 * x1
    h = math.sqrt(hx * hx + hy * hy + hz * hz)
    if not h > _COLLINEAR * n0 * n1:
        raise ValueError("the positions are collinear (or not finite): no plane for the transfer")
    dx, dy, dz = x1 - x0, y1 - y0, z1 - z0
    chord = math.sqrt(dx * dx + dy * dy + dz * dz)
    s = 0.5 * (n0 + n1 + chord)
    lam = math.sqrt(1.0 - min(1.0, chord / s))
    if (hz < 0.0) == prograde:  # the short way turns against the wanted sense: go the long way
        lam = -lam
    # The pole about which the transfer turns: positive z if prograde, negative or zero if not.
    pole = (1.0 if hz >= 0.0 else -1.0) * (1.0 if prograde else -1.0) / h
    hx, hy, hz = hx * pole, hy * pole, hz * pole
    a0, b0, c0 = x0 / n0, y0 / n0, z0 / n0
    a1, b1, c1 = x1 / n1, y1 / n1, z1 / n1
    return Geometry(
        n0,
        n1,
        chord,
        s,
        lam,
        (a0, b0, c0),
        (a1, b1, c1),
        (hy * c0 - hz * b0, hz * a0 - hx * c0, hx * b0 - hy * a0),
        (hy * c1 - hz * b1, hz * a1 - hx * c1, hx * b1 - hy * a1),
    )


def _velocities(arc: Geometry, x: float, mu: float) -> tuple[Triple, Triple]:
    lam = arc.lam
    y = math.sqrt(1.0 - lam * lam * (1.0 - x * x))
    gamma = math.sqrt(0.5 * mu * arc.semiperimeter)
    rho = (arc.radius0 - arc.radius1) / arc.chord
    across = gamma * math.sqrt(max(0.0, 1.0 - rho * rho)) * (y + lam * x)
    inward, outward = lam * y - x, rho * (lam * y + x)
    ends = (
        (arc.radial0, arc.tangent0, gamma * (inward - outward), across, arc.radius0),
        (arc.radial1, arc.tangent1, -gamma * (inward + outward), across, arc.radius1),
    )
    v0, v1 = (
        (
            (vr * i[0] + vt * t[0]) / n,
            (vr * i[1] + vt * t[1]) / n,
            (vr * i[2] + vt * t[2]) / n,
        )
        for i, t, vr, vt, n in ends
    )
    return v0, v1


def _solve(target: float, lam: float, M: int, lowpath: bool, numiter: int, rtol: float) -> float:
    """x with the time of flight T, by Householder's third-order iteration."""
    x = first_guess(target, lam, M, lowpath)
    for _ in range(numiter):
        y = math.sqrt(max(0.0, 1.0 - lam * lam * (1.0 - x * x)))
        time = time_of_flight(x, y, lam, M)
        d1, d2, d3 = derivatives(x, y, time, lam)
        miss = time - target
        square = d1 * d1
        divisor = d1 * (square - miss * d2) + d3 * miss * miss / 6.0
        if divisor == 0.0:
            break
        step = miss * (square - 0.5 * miss * d2) / divisor
        x -= step
        if abs(step) < rtol:
            return x
        if not math.isfinite(x):
            break
    raise RuntimeError(f"Lambert's problem did not converge in {numiter} iterations")


def first_guess(target: float, lam: float, M: int, lowpath: bool) -> float:
    """Izzo's starting values of x (his equations 30 and 31)."""
    if M == 0:
        t00 = math.acos(lam) + lam * math.sqrt(1.0 - lam * lam)
        t1 = 2.0 * (1.0 - lam**3) / 3.0
        if t00 <= target:
            return float((t00 / target) ** (2.0 / 3.0)) - 1.0
        if t1 > target:
            return 2.5 * t1 / target * (t1 - target) / (1.0 - lam**5) + 1.0
        return math.exp(math.log(2.0) * math.log(target / t00) / math.log(t1 / t00)) - 1.0
    left = float(((M + 1) * math.pi / (8.0 * target)) ** (2.0 / 3.0))
    right = float((8.0 * target / (M * math.pi)) ** (2.0 / 3.0))
    both = ((left - 1.0) / (left + 1.0), (right - 1.0) / (right + 1.0))
    return max(both) if lowpath else min(both)


def time_of_flight(x: float, y: float, lam: float, M: int) -> float:
    """T of x with M revolutions (his equation 18; 20 near the parabola)."""
    if M == 0 and _BATTIN[0] < x < _BATTIN[1]:
        eta = y - lam * x
        series = _hypergeometric(0.5 * (1.0 - lam - x * eta))
        return 0.5 * (eta * eta * eta * 4.0 / 3.0 * series + 4.0 * lam * eta)
    square = 1.0 - x * x
    if -1.0 <= x < 1.0:
        psi = math.acos(max(-1.0, min(1.0, x * y + lam * square)))
    elif x > 1.0:
        psi = math.asinh((y - x * lam) * math.sqrt(-square))
    else:
        psi = 0.0
    if square == 0.0:
        return math.inf
    return ((psi + M * math.pi) / math.sqrt(abs(square)) - x + lam * y) / square


def _hypergeometric(s: float) -> float:
    """Gauss's 2F1(3, 1; 5/2; s) for |s| < 1."""
    total = term = 1.0
    n = 0
    while True:
        term *= s * (3.0 + n) / (2.5 + n)
        if total + term == total:
            return total
        total += term
        n += 1


def derivatives(x: float, y: float, time: float, lam: float) -> tuple[float, float, float]:
    """First three derivatives of T in x (his equation 22)."""
    square = 1.0 - x * x
    lam_2 = lam * lam
    if square == 0.0:
        return 0.4 * (lam_2 * lam_2 * lam - 1.0), 0.0, 0.0  # the limit at the parabola
    lam_3 = lam_2 * lam
    y_2 = y * y
    d1 = (3.0 * time * x - 2.0 + 2.0 * lam_3 * x / y) / square
    d2 = (3.0 * time + 5.0 * x * d1 + 2.0 * (1.0 - lam_2) * lam_3 / (y_2 * y)) / square
    d3 = (
        7.0 * x * d2 + 8.0 * d1 - 6.0 * (1.0 - lam_2) * lam_2 * lam_3 * x / (y_2 * y_2 * y)
    ) / square
    return d1, d2, d3


def max_revolutions(
    target: float, lam: float, numiter: int = MAX_ITERATIONS, rtol: float = X_TOLERANCE
) -> int:
    """Largest number of full revolutions with which T is possible."""
    most = int(target / math.pi)
    single = math.acos(lam) + lam * math.sqrt(1.0 - lam * lam)
    if (
        most > 0
        and target < single + most * math.pi
        and target < _least_time(lam, most, numiter, rtol)
    ):
        most -= 1
    return most


def _least_time(lam: float, M: int, numiter: int, rtol: float) -> float:
    """The shortest T with M >= 1 revolutions, by Halley's iteration on dT/dx."""
    x = 0.1
    for _ in range(numiter):
        y = math.sqrt(max(0.0, 1.0 - lam * lam * (1.0 - x * x)))
        d1, d2, d3 = derivatives(x, y, time_of_flight(x, y, lam, M), lam)
        divisor = 2.0 * d2 * d2 - d1 * d3
        if divisor == 0.0:
            break
        step = 2.0 * d1 * d2 / divisor
        x -= step
        if abs(step) < rtol:
            y = math.sqrt(max(0.0, 1.0 - lam * lam * (1.0 - x * x)))
            return time_of_flight(x, y, lam, M)
    raise RuntimeError(f"the least time with {M} revolutions was not found")
