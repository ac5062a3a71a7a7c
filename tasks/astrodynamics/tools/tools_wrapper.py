"""``Tools``: everything a candidate needs to design a trajectory. See the task's instructions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from orbits import flyby, kepler, lambert
from orbits.ephemeris import offered
from orbits.kepler_batch import propagate_batch
from orbits.lambert_batch import lambert_batch
from orbits.vectors import Vector, VectorLike

__all__ = ["Tools"]


class Tools:
    """Scalar tools take vectors of shape (3,); those named ``*_batch`` take arrays (..., 3)."""

    def ephem(
        self, planet_id: str | int, mjd_utc: float, *, center: str | int = "0"
    ) -> tuple[Vector, Vector]:
        """Position (km) and velocity (km/s) of a planet relative to ``center`` ("0": the Sun).

        Raises ``ValueError`` for an unknown body or an epoch outside the ephemeris.
        """
        ephemeris = offered()
        r, v = ephemeris.state(planet_id, float(mjd_utc))
        if str(center) == "0":
            return np.array(r), np.array(v)
        r_center, v_center = ephemeris.state(center, float(mjd_utc))
        return np.subtract(r, r_center), np.subtract(v, v_center)

    def ephem_batch(
        self, planet_id: str | int, mjd_utc: ArrayLike, *, center: str | int = "0"
    ) -> tuple[Vector, Vector]:
        """:meth:`ephem` at epochs of shape (...): arrays of shape (..., 3)."""
        ephemeris = offered()
        epochs = np.asarray(mjd_utc, dtype=np.float64)
        r, v = ephemeris.states(planet_id, epochs)
        if str(center) == "0":
            return r, v
        r_center, v_center = ephemeris.states(center, epochs)
        return r - r_center, v - v_center

    def propagate_two_body(
        self, r0: VectorLike, v0: VectorLike, tof: float, mu: float
    ) -> tuple[Vector, Vector]:
        """State after ``tof`` seconds on a Kepler orbit (negative: before)."""
        return kepler.propagate(r0, v0, tof, mu)

    def propagate_two_body_batch(
        self, r0: ArrayLike, v0: ArrayLike, tof: ArrayLike, mu: float
    ) -> tuple[Vector, Vector]:
        """:meth:`propagate_two_body` of arrays that broadcast; NaN where it would raise."""
        return propagate_batch(r0, v0, tof, mu)

    def lambert(
        self,
        r0: VectorLike,
        r1: VectorLike,
        tof: float,
        mu: float,
        *,
        prograde: bool = True,
        lowpath: bool = True,
        M: int = 0,
    ) -> tuple[Vector, Vector]:
        """Velocities (km/s) at both ends of the arc that takes ``tof`` seconds.

        Raises ``ValueError`` (collinear positions, tof <= 0, M too large) or ``RuntimeError`` (no
        convergence).
        """
        return lambert.lambert(r0, r1, tof, mu, prograde=prograde, lowpath=lowpath, M=M)

    def lambert_batch(
        self,
        r0: ArrayLike,
        r1: ArrayLike,
        tof: ArrayLike,
        mu: float,
        *,
        prograde: bool = True,
        lowpath: bool = True,
        M: int = 0,
    ) -> tuple[Vector, Vector]:
        """:meth:`lambert` of arrays that broadcast; NaN where it would raise."""
        return lambert_batch(r0, r1, tof, mu, prograde=prograde, lowpath=lowpath, M=M)

    def gravity_assist(
        self, v_in: VectorLike, v_planet: VectorLike, mu_p: float, r_p: float, psi: float
    ) -> Vector:
        """Velocity after an unpowered flyby with periapsis radius ``r_p`` (km) and plane angle."""
        return flyby.gravity_assist(v_in, v_planet, mu_p, r_p, psi)

    def powered_flyby(
        self,
        v_arr: VectorLike,
        v_dep: VectorLike,
        v_planet: VectorLike,
        mu_p: float,
        min_r_p: float,
    ) -> tuple[float, float, bool]:
        """(periapsis radius in km, burn at it in km/s, whether the radius is at least min_r_p)."""
        return flyby.powered_flyby(v_arr, v_dep, v_planet, mu_p, min_r_p)
