"""Gravity assists: turning angle, periapsis radius and outgoing velocity from one another."""

from __future__ import annotations

import math

import numpy as np
from orbits.flyby import gravity_assist, periapsis_radius, turning_angle
from orbits.vectors import Vector, VectorLike


def gravity_assists(
    v_in: VectorLike, v_planet: VectorLike, mu_p: float, r_p: float, psi: float
) -> Vector:
    """Heliocentric velocity after an unpowered flyby; see :func:`orbits.flyby.gravity_assist`."""
    return gravity_assist(v_in, v_planet, mu_p, r_p, psi)


def gravity_assists_normalized(
    v_in: VectorLike, v_planet: VectorLike, r_p: float, psi: float
) -> Vector:
    """:func:`gravity_assists` in units in which the planet's gravitational parameter is 1."""
    return gravity_assist(v_in, v_planet, 1.0, r_p, psi)


def ga_rp2delta(r_p: float, v_inf: float, mu_p: float) -> float:
    """Turning angle (rad) from the periapsis radius and the hyperbolic excess speed."""
    return turning_angle(r_p, v_inf, mu_p)


def ga_delta2rp(delta: float, v_inf: float, mu_p: float) -> float:
    """Periapsis radius from the turning angle (rad) and the hyperbolic excess speed."""
    return periapsis_radius(delta, v_inf, mu_p)


def ga_v2rp(v_in: VectorLike, v_out: VectorLike, v_planet: VectorLike, mu_p: float) -> float:
    """Periapsis radius from the heliocentric velocities before and after; infinite if straight.

    The slower of the two relative speeds decides, as in a powered flyby.
    """
    before, after = np.subtract(v_in, v_planet), np.subtract(v_out, v_planet)
    slower = min(math.sqrt(before @ before), math.sqrt(after @ after))
    cosine = before @ after / math.sqrt((before @ before) * (after @ after))
    return periapsis_radius(math.acos(max(-1.0, min(1.0, cosine))), slower, mu_p)
