"""Planet states."""

from __future__ import annotations

import numpy as np
from orbits.ephemeris import offered
from orbits.vectors import Vector

_SUN = "10"


def planet_state(
    planet_id: str | int, mjd_utc: float, *, frame: str = "J2000", center: str | int = _SUN
) -> tuple[Vector, Vector]:
    """Position (km) and velocity (km/s) in J2000 axes relative to ``center`` ("10": the Sun).

    Raises ``ValueError`` for another frame, an unknown body or an epoch outside the ephemeris.
    """
    if frame != "J2000":
        raise ValueError(f"frame {frame!r}: only J2000 is available")
    r, v = offered().state(_body(planet_id), float(mjd_utc))
    r_center, v_center = offered().state(_body(center), float(mjd_utc))
    return np.subtract(r, r_center), np.subtract(v, v_center)


def _body(name: str | int) -> str:
    return "0" if str(name) == _SUN else str(name)
