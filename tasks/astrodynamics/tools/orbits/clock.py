"""From MJD UTC to the time argument of the ephemeris, TDB seconds past J2000.

The leap seconds are those of the NAIF kernel naif0012; TDB - TT is its one-term formula. The
conversion goes through a Julian date in double precision, because the reference does: epochs are
therefore rounded to 4e-5 s.
"""

from __future__ import annotations

import math
from bisect import bisect_right

import numpy as np

from .constants import DAY_S
from .vectors import Vector

_TT_MINUS_TAI_S = 32.184
_MJD_0 = 2400000.5
_J2000 = 2451545.0

_LEAP_SECONDS = (
    (41317, 10), (41499, 11), (41683, 12), (42048, 13), (42413, 14), (42778, 15), (43144, 16),
    (43509, 17), (43874, 18), (44239, 19), (44786, 20), (45151, 21), (45516, 22), (46247, 23),
    (47161, 24), (47892, 25), (48257, 26), (48804, 27), (49169, 28), (49534, 29), (50083, 30),
    (50630, 31), (51179, 32), (53736, 33), (54832, 34), (56109, 35), (57204, 36), (57754, 37),
)  # fmt: skip
_STEP_DAYS = tuple(day for day, _ in _LEAP_SECONDS)
# Before the first step SPICE counts one second less than at it, and so on for ever.
_OFFSETS_S = (_LEAP_SECONDS[0][1] - 1, *(seconds for _, seconds in _LEAP_SECONDS))


def tai_minus_utc(mjd_utc: float) -> int:
    """TAI - UTC in seconds at an epoch."""
    return _OFFSETS_S[bisect_right(_STEP_DAYS, mjd_utc)]


def tdb_seconds(mjd_utc: float) -> float:
    """TDB seconds past J2000 at an epoch in MJD UTC."""
    elapsed = (mjd_utc + _MJD_0 - _J2000) * DAY_S
    tt = elapsed + tai_minus_utc(mjd_utc) + _TT_MINUS_TAI_S
    tdb = tt
    for _ in range(2):  # the correction is below 2 ms and changes by 3e-10 of itself a second
        anomaly = 6.239996 + 1.99096871e-7 * tdb
        tdb = tt + 1.657e-3 * math.sin(anomaly + 0.01671 * math.sin(anomaly))
    return tdb


def tdb_seconds_batch(mjd_utc: Vector) -> Vector:
    """:func:`tdb_seconds` of an array of epochs."""
    mjd_utc = np.asarray(mjd_utc, dtype=np.float64)
    elapsed = (mjd_utc + _MJD_0 - _J2000) * DAY_S
    steps = np.searchsorted(_STEP_DAYS, mjd_utc, side="right")
    tt = elapsed + np.asarray(_OFFSETS_S)[steps] + _TT_MINUS_TAI_S
    tdb = tt
    for _ in range(2):
        anomaly = 6.239996 + 1.99096871e-7 * tdb
        tdb = tt + 1.657e-3 * np.sin(anomaly + 0.01671 * np.sin(anomaly))
    return np.asarray(tdb)
