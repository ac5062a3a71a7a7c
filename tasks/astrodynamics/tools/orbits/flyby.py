"""Gravity assists with instantaneous turns at a massless patch point, and manoeuvre costs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .vectors import Triple, Vector, VectorLike, triple

_NO_SPEED = 1e-9  # km/s
_NO_TURN = 1e-12  # sine of half the turning angle


def gravity_assist(
    v_in: VectorLike, v_planet: VectorLike, mu_p: float, r_p: float, psi: float
) -> Vector:
    """Heliocentric velocity after an unpowered flyby.

    ``r_p`` is the periapsis *radius*; ``psi`` the angle of the turn about the incoming relative
    velocity, measured from the direction ``k`` x ``i`` towards ``k``, where ``i`` points along
    that velocity and ``k`` along ``i`` x ``v_planet``. Raises ``ValueError`` where they span no
    plane.
    """
    px, py, pz = triple(v_planet)
    ax, ay, az = triple(v_in)
    wx, wy, wz = ax - px, ay - py, az - pz
    speed_2 = wx * wx + wy * wy + wz * wz
    speed = math.sqrt(speed_2)
    kx, ky, kz = wy * pz - wz * py, wz * px - wx * pz, wx * py - wy * px
    length = math.sqrt(kx * kx + ky * ky + kz * kz)
    if not length > 0.0:
        raise ValueError("the incoming relative velocity is zero or along the planet's motion")
    ix, iy, iz = wx / speed, wy / speed, wz / speed
    kx, ky, kz = kx / length, ky / length, kz / length
    jx, jy, jz = ky * iz - kz * iy, kz * ix - kx * iz, kx * iy - ky * ix
    turn = 2.0 * math.asin(mu_p / (mu_p + r_p * speed_2))
    along = speed * math.cos(turn)
    across = speed * math.sin(turn)
    on_j, on_k = across * math.sin(psi), across * math.cos(psi)
    return np.array(
        (
            px + along * ix + on_j * jx + on_k * kx,
            py + along * iy + on_j * jy + on_k * ky,
            pz + along * iz + on_j * jz + on_k * kz,
        )
    )


def powered_flyby(
    v_arr: VectorLike, v_dep: VectorLike, v_planet: VectorLike, mu_p: float, min_r_p: float
) -> tuple[float, float, bool]:
    """Periapsis radius, burn at it, and whether the radius is at least ``min_r_p``.

    The turn fixes the radius for the slower of the two relative speeds; the difference of the
    speeds at that periapsis is charged as one burn. A missing or straight pass has no periapsis:
    ``(inf, inf, False)``.
    """
    return flyby_of_triples(triple(v_arr), triple(v_dep), triple(v_planet), mu_p, min_r_p)


def flyby_of_triples(
    v_arr: Triple, v_dep: Triple, v_planet: Triple, mu_p: float, min_r_p: float
) -> tuple[float, float, bool]:
    """:func:`powered_flyby` on plain floats."""
    px, py, pz = v_planet
    ax, ay, az = v_arr[0] - px, v_arr[1] - py, v_arr[2] - pz
    bx, by, bz = v_dep[0] - px, v_dep[1] - py, v_dep[2] - pz
    before_2 = ax * ax + ay * ay + az * az
    after_2 = bx * bx + by * by + bz * bz
    before, after = math.sqrt(before_2), math.sqrt(after_2)
    if before < _NO_SPEED or after < _NO_SPEED:
        return math.inf, math.inf, False
    cosine = (ax * bx + ay * by + az * bz) / (before * after)
    half_sine = math.sin(0.5 * math.acos(max(-1.0, min(1.0, cosine))))
    if half_sine < _NO_TURN:
        return math.inf, math.inf, False
    r_p = mu_p / min(before_2, after_2) * (1.0 / half_sine - 1.0)
    if not r_p > 0.0:
        return 0.0, math.inf, False
    escape_2 = 2.0 * mu_p / r_p
    burn = abs(math.sqrt(after_2 + escape_2) - math.sqrt(before_2 + escape_2))
    return r_p, burn, r_p >= min_r_p


def turning_angle(r_p: float, v_inf: float, mu_p: float) -> float:
    """Turn of an unpowered flyby, radians: 2 asin(mu / (mu + r_p v_inf^2))."""
    return 2.0 * math.asin(mu_p / (mu_p + r_p * v_inf * v_inf))


def periapsis_radius(turn: float, v_inf: float, mu_p: float) -> float:
    """Periapsis radius of an unpowered flyby with that turn; infinite for none."""
    half_sine = math.sin(0.5 * turn)
    if half_sine < _NO_TURN:
        return math.inf
    return mu_p / (v_inf * v_inf) * (1.0 / half_sine - 1.0)


def piecewise_linear(breakpoints: Sequence[Sequence[float]], x: float) -> float:
    """Cost of a boundary velocity: linear between breakpoints (x, cost), constant outside."""
    previous_x, previous_cost = breakpoints[0]
    if x <= previous_x:
        return float(previous_cost)
    for next_x, next_cost in breakpoints[1:]:
        if x <= next_x:
            share = (x - previous_x) / (next_x - previous_x)
            return float(previous_cost + share * (next_cost - previous_cost))
        previous_x, previous_cost = next_x, next_cost
    return float(previous_cost)


def periapsis_manoeuvre(
    v_inf: float, mu_p: float, radius: float, h_factor: float, period_days: float
) -> float:
    """Burn at the periapsis ``radius * (1 + h_factor)`` between a hyperbola and an ellipse.

    ``v_inf`` in km/s; the ellipse has the period ``period_days``. Vis-viva on both sides.
    """
    r_p = radius * (1.0 + h_factor)
    period = period_days * 86400.0
    escape_2 = 2.0 * mu_p / r_p
    bound_2 = (4.0 * math.pi**2 * mu_p**2 / period**2) ** (1.0 / 3.0)  # mu over the major half-axis
    return math.sqrt(v_inf * v_inf + escape_2) - math.sqrt(max(escape_2 - bound_2, 0.0))
