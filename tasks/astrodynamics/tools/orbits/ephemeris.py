"""Heliocentric states of the planets' barycentres from a JPL development ephemeris."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np

from .clock import tdb_seconds, tdb_seconds_batch
from .constants import DAY_S, PLANETS
from .spk import KernelError, Segment, read_kernel
from .vectors import Triple, Vector

KERNEL_VARIABLE = "EVODUET_EPHEMERIS"
"""Environment variable with the path of the kernel that a candidate's tools read."""

_BARYCENTRE, _SUN = 0, 10
_J2000_MJD = 51544.5
_ORIGIN: Triple = (0.0, 0.0, 0.0)


class Ephemeris:
    """States relative to the Sun, J2000 axes, no light time; epochs in MJD UTC.

    Raises :class:`~orbits.spk.KernelError` or ``OSError`` for a file that does not serve.
    """

    def __init__(self, path: Path) -> None:
        by_body = {
            segment.target: segment
            for segment in read_kernel(path)
            if segment.center == _BARYCENTRE
        }
        missing = [body for body in (*map(int, PLANETS), _SUN) if body not in by_body]
        if missing:
            raise KernelError(f"{path.name}: no segment for the bodies {missing}")
        self.name = path.name
        self._sun = by_body[_SUN]
        self._planets = {body: by_body[int(body)] for body in PLANETS}
        self._first = max(segment.first for segment in by_body.values())
        self._last = min(segment.last for segment in by_body.values())

    @property
    def span_mjd(self) -> tuple[float, float]:
        """First and last covered epoch, to about a minute."""
        return _J2000_MJD + self._first / DAY_S, _J2000_MJD + self._last / DAY_S

    def state(self, planet_id: str | int, mjd_utc: float) -> tuple[Triple, Triple]:
        """Position (km) and velocity (km/s) of a planet; "0" is the Sun.

        Raises ``ValueError`` for an unknown body or an epoch that the kernel does not cover.
        """
        tdb = tdb_seconds(mjd_utc)
        if not self._first <= tdb <= self._last:
            raise self._outside(mjd_utc)
        planet = self._segment(planet_id)
        if planet is None:
            return _ORIGIN, _ORIGIN
        (x, y, z), (u, v, w) = planet.state(tdb)
        (xs, ys, zs), (us, vs, ws) = self._sun.state(tdb)
        return (x - xs, y - ys, z - zs), (u - us, v - vs, w - ws)

    def states(self, planet_id: str | int, mjd_utc: Vector) -> tuple[Vector, Vector]:
        """:meth:`state` at an array of epochs, shape (...): positions and velocities (..., 3)."""
        epochs = np.asarray(mjd_utc, dtype=np.float64)
        tdb = tdb_seconds_batch(epochs.ravel())
        outside = ~((tdb >= self._first) & (tdb <= self._last))
        if outside.any():
            raise self._outside(float(epochs.ravel()[outside.argmax()]))
        planet = self._segment(planet_id)
        shape = (*epochs.shape, 3)
        if planet is None:
            return np.zeros(shape), np.zeros(shape)
        r, v = planet.states(tdb)
        r_sun, v_sun = self._sun.states(tdb)
        return (r - r_sun).reshape(shape), (v - v_sun).reshape(shape)

    def _segment(self, planet_id: str | int) -> Segment | None:
        body = str(planet_id)
        if body == "0":
            return None
        try:
            return self._planets[body]
        except KeyError:
            raise ValueError(f"unknown body {planet_id!r}: ids go from 0 (Sun) to 8") from None

    def _outside(self, mjd_utc: float) -> ValueError:
        first, last = self.span_mjd
        return ValueError(
            f"epoch MJD {mjd_utc} is outside {self.name}, which covers {first:.3f} to {last:.3f}"
        )


@cache
def offered() -> Ephemeris:
    """The ephemeris that a candidate's process was given; raises ``RuntimeError`` without one."""
    path = os.environ.get(KERNEL_VARIABLE)
    if path is None:
        raise RuntimeError(f"the environment variable {KERNEL_VARIABLE} names no kernel")
    return Ephemeris(Path(path))
