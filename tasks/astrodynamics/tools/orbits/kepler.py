"""Kepler's problem for one arc, by universal variables; all conics, any number of revolutions.

Formulas: R. H. Battin, "An Introduction to the Mathematics and Methods of Astrodynamics",
section 4.5 (universal functions U1, U2, U3); root by Laguerre's method as B. A. Conway, "An
improved algorithm due to Laguerre for the solution of Kepler's equation", Celestial Mechanics 39
(1986) 199.
"""

from __future__ import annotations

import math

import numpy as np

from .vectors import Triple, Vector, VectorLike, triple

_ITERATIONS = 120
_BISECT_FROM = 50  # by then rounding noise, not the function, decides the steps
# Laguerre converges with third order here: a step this small leaves no error worth another one.
LAST_STEP = 1e-9
DEEP_DIVE = 1e4  # cancellation, in units of rounding errors, that an inbound hyperbola may suffer
STRAIGHT = 1e-30  # parameter over radius; the transverse speed is then rounding noise


def propagate(r0: VectorLike, v0: VectorLike, tof: float, mu: float) -> tuple[Vector, Vector]:
    """Position and velocity ``tof`` later on a two-body orbit; ``tof`` may be negative.

    ``r0``, ``v0`` of shape (3,) and ``tof`` in any consistent units, with ``mu`` in the same ones.
    Raises ``ValueError`` for a position at the centre or numbers that are not finite.
    """
    r, v = propagate_triples(triple(r0), triple(v0), float(tof), float(mu))
    return np.array(r), np.array(v)


def propagate_triples(r0: Triple, v0: Triple, tof: float, mu: float) -> tuple[Triple, Triple]:
    """:func:`propagate` on plain floats."""
    x, y, z = r0
    vx, vy, vz = v0
    radius = math.sqrt(x * x + y * y + z * z)
    speed_2 = vx * vx + vy * vy + vz * vz
    if not (0.0 < radius < math.inf and speed_2 < math.inf and math.isfinite(tof) and mu > 0.0):
        raise ValueError("propagation needs finite numbers, mu > 0 and a position off the centre")
    root_mu = math.sqrt(mu)
    alpha = 2.0 / radius - speed_2 / mu
    sigma = (x * vx + y * vy + z * vz) / root_mu
    if alpha > 0.0:
        tof = math.remainder(tof, 2.0 * math.pi / (root_mu * alpha * math.sqrt(alpha)))
    # Backwards in time is forwards along the mirrored orbit.
    sign = 1.0 if tof >= 0.0 else -1.0
    dive = -alpha * radius * radius
    parameter = 2.0 * radius + dive - sigma * sigma
    if dive > 0.0 and sign * sigma < 0.0 and dive > DEEP_DIVE * parameter:
        end = _past_the_periapsis(r0, v0, tof, mu, alpha, sigma)
        if end is not None:
            return end
    u1, u2, r = _universal(sign * tof * root_mu, radius, sign * sigma, alpha)
    if not r > 0.0:
        raise ValueError("the orbit runs into the centre at the end of this arc")
    f = 1.0 - u2 / radius
    g = (sign * radius * u1 + sigma * u2) / root_mu
    f_dot = -sign * root_mu * u1 / (r * radius)
    g_dot = 1.0 - u2 / r
    return (
        (f * x + g * vx, f * y + g * vy, f * z + g * vz),
        (f_dot * x + g_dot * vx, f_dot * y + g_dot * vy, f_dot * z + g_dot * vz),
    )


def _past_the_periapsis(
    r0: Triple, v0: Triple, tof: float, mu: float, alpha: float, sigma: float
) -> tuple[Triple, Triple] | None:
    """Propagation on a fast hyperbola towards its periapsis, with anomalies counted from there.

    Counted from the start, large terms would cancel; in the perifocal frame all have one sign.
    ``None`` for a straight fall, which has no such frame.
    """
    root_mu = math.sqrt(mu)
    start, speed = np.array(r0), np.array(v0)
    momentum = np.cross(start, speed)
    h = math.sqrt(momentum @ momentum)
    parameter = h * h / mu
    if parameter < STRAIGHT * math.sqrt(start @ start):
        return None
    eccentricity = math.sqrt(1.0 - alpha * parameter)
    q = parameter / (1.0 + eccentricity)
    root = math.sqrt(-alpha)
    _, u1, u2, u3 = universal_functions(math.asinh(root * sigma / eccentricity) / root, alpha)
    x0, y0 = q - u2, math.sqrt(parameter) * u1
    since = q * u1 + u3 + root_mu * tof  # root_mu times the time from the periapsis to the end
    u1, u2, r = _universal(abs(since), q, 0.0, alpha)
    u1 = math.copysign(u1, since)
    outward = start / math.sqrt(start @ start)
    onward = np.cross(momentum / h, outward)
    radius = math.hypot(x0, y0)
    to_periapsis = (x0 * outward - y0 * onward) / radius
    across = (y0 * outward + x0 * onward) / radius
    u0 = 1.0 - alpha * u2
    r1 = (q - u2) * to_periapsis + math.sqrt(parameter) * u1 * across
    v1 = (root_mu / r) * (math.sqrt(parameter) * u0 * across - u1 * to_periapsis)
    return triple(r1), triple(v1)


def _universal(
    target: float, radius: float, sigma: float, alpha: float
) -> tuple[float, float, float]:
    """U1, U2 and the new radius where sqrt(mu) times the elapsed time equals ``target``.

    The elapsed time grows strictly with the universal anomaly, so a bracket guards every step.
    """
    low, high = 0.0, math.inf
    chi = _first_guess(target, radius, sigma, alpha)
    for iteration in range(_ITERATIONS):
        try:
            u0, u1, u2, u3 = universal_functions(chi, alpha)
        except OverflowError:
            high, chi = chi, 0.5 * (low + chi)
            continue
        miss = radius * u1 + sigma * u2 + u3 - target
        r = radius * u0 + sigma * u1 + u2
        curvature = sigma * u0 + (1.0 - alpha * radius) * u1
        if miss <= 0.0:
            low = chi
        else:  # also where the terms have overflown to something undefined
            high = chi
        slope = r + math.sqrt(abs(16.0 * r * r - 20.0 * miss * curvature))
        step = -5.0 * miss / slope if slope > 0.0 else math.nan
        moved = chi + step
        if abs(step) <= LAST_STEP * abs(moved):
            # The step is so small that the functions follow it linearly.
            return u1 + step * u0, u2 + step * u1, r + step * curvature
        if iteration >= _BISECT_FROM or not low < moved < high:
            moved = 0.5 * (low + high) if high < math.inf else 2.0 * chi
            if not low < moved < high:  # neighbouring numbers: rounding decides the rest
                return u1, u2, r
        chi = moved
    raise ValueError("Kepler's equation has no solution in double precision for this arc")


def _first_guess(target: float, radius: float, sigma: float, alpha: float) -> float:
    if alpha > 0.0:
        return target * alpha
    guess = target / radius
    if alpha < 0.0:
        if sigma >= 0.0:
            guess = min(guess, (6.0 * target) ** (1.0 / 3.0))  # outwards, U3 alone takes longer
        # Far out on a hyperbola the time grows like an exponential of the anomaly.
        root = math.sqrt(-alpha)
        scale = sigma + (1.0 - alpha * radius) / root
        far = -2.0 * alpha * target / scale if scale > 0.0 else 0.0
        if far > math.e:
            guess = min(guess, math.log(far) / root)
    return guess


def universal_functions(chi: float, alpha: float) -> tuple[float, float, float, float]:
    """Battin's U0..U3 of the universal anomaly; raises ``OverflowError`` far out on hyperbolas."""
    z = alpha * chi * chi
    if z > 1.0:
        root = math.sqrt(z)
        half = math.sin(0.5 * root)
        sine = math.sin(root)
        c2 = 2.0 * half * half / z
        c3 = (root - sine) / (z * root)
        return math.cos(root), chi * sine / root, chi * chi * c2, chi * chi * chi * c3
    if z < -1.0:
        root = math.sqrt(-z)
        half = math.sinh(0.5 * root)
        sine = math.sinh(root)
        c2 = -2.0 * half * half / z
        c3 = (root - sine) / (z * root)
        return math.cosh(root), chi * sine / root, chi * chi * c2, chi * chi * chi * c3
    c2 = c3 = 0.0
    for factor_2, factor_3 in STUMPFF_SERIES:
        c2 = factor_2 - z * c2
        c3 = factor_3 - z * c3
    chi_2 = chi * chi
    return 1.0 - z * c2, chi * (1.0 - z * c3), chi_2 * c2, chi_2 * chi * c3


# Coefficients of the Stumpff functions c2 and c3 in powers of -z, highest first.
STUMPFF_SERIES = tuple(
    (1.0 / math.factorial(2 * k + 2), 1.0 / math.factorial(2 * k + 3)) for k in range(9, -1, -1)
)
