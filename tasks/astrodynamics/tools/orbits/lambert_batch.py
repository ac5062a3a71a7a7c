"""Lambert's problem for many arcs at once: the method of :mod:`orbits.lambert` on numpy arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .lambert import _BATTIN, _COLLINEAR, MAX_ITERATIONS, X_TOLERANCE
from .vectors import Vector, rows


def lambert_batch(
    r0: ArrayLike,
    r1: ArrayLike,
    tof: ArrayLike,
    mu: float,
    *,
    prograde: bool = True,
    lowpath: bool = True,
    M: int = 0,
) -> tuple[Vector, Vector]:
    """Velocities at both ends, shape (..., 3) each, of arcs with the same branch choices.

    Positions (..., 3) and times (...) broadcast against each other. Rows for which
    :func:`orbits.lambert.lambert` raises are NaN.
    """
    a, b, time = rows(r0), rows(r1), np.asarray(tof, dtype=np.float64)
    shape = np.broadcast_shapes(a.shape[:-1], b.shape[:-1], time.shape)
    a = np.broadcast_to(a, (*shape, 3)).reshape(-1, 3)
    b = np.broadcast_to(b, (*shape, 3)).reshape(-1, 3)
    time = np.broadcast_to(time, shape).reshape(-1)
    with np.errstate(all="ignore"):
        v0, v1 = _lambert(a, b, time, float(mu), prograde, lowpath, M)
    return v0.reshape(*shape, 3), v1.reshape(*shape, 3)


def _lambert(
    r0: Vector, r1: Vector, tof: Vector, mu: float, prograde: bool, lowpath: bool, M: int
) -> tuple[Vector, Vector]:
    n0 = np.sqrt(np.einsum("ij,ij->i", r0, r0))
    n1 = np.sqrt(np.einsum("ij,ij->i", r1, r1))
    chord = np.sqrt(np.einsum("ij,ij->i", r1 - r0, r1 - r0))
    s = 0.5 * (n0 + n1 + chord)
    normal = np.cross(r0, r1)
    h = np.sqrt(np.einsum("ij,ij->i", normal, normal))
    solvable = (h > _COLLINEAR * n0 * n1) & (tof > 0.0)
    short_way = np.where(normal[:, 2] < 0.0, -1.0, 1.0) * (1.0 if prograde else -1.0)
    lam = short_way * np.sqrt(1.0 - np.minimum(1.0, chord / s))
    pole = normal * (short_way / h)[:, None]
    target = np.sqrt(2.0 * mu / s) / s * tof
    solvable &= np.isfinite(target)
    x = np.full(len(target), np.nan)
    x[solvable] = _solve(target[solvable], lam[solvable], M, lowpath)
    y = np.sqrt(1.0 - lam * lam * (1.0 - x * x))
    gamma = np.sqrt(0.5 * mu * s)
    rho = (n0 - n1) / chord
    across = gamma * np.sqrt(np.maximum(0.0, 1.0 - rho * rho)) * (y + lam * x)
    inward, outward = lam * y - x, rho * (lam * y + x)
    unit0, unit1 = r0 / n0[:, None], r1 / n1[:, None]
    v0 = (gamma * (inward - outward) / n0)[:, None] * unit0
    v0 += (across / n0)[:, None] * np.cross(pole, unit0)
    v1 = (-gamma * (inward + outward) / n1)[:, None] * unit1
    v1 += (across / n1)[:, None] * np.cross(pole, unit1)
    return v0, v1


def _solve(target: Vector, lam: Vector, M: int, lowpath: bool) -> Vector:
    """x of every arc; NaN where there is no solution or the iteration does not converge."""
    x = _first_guess(target, lam, M, lowpath)
    x[~_allows(target, lam, M)] = np.nan
    open_rows = np.flatnonzero(np.isfinite(x))
    for _ in range(MAX_ITERATIONS):
        if not len(open_rows):
            break
        at, la, old = open_rows, lam[open_rows], x[open_rows]
        y = np.sqrt(np.maximum(0.0, 1.0 - la * la * (1.0 - old * old)))
        time = _time_of_flight(old, y, la, M)
        d1, d2, d3 = _derivatives(old, y, time, la)
        miss = time - target[at]
        square = d1 * d1
        step = miss * (square - 0.5 * miss * d2)
        step /= d1 * (square - miss * d2) + d3 * miss * miss / 6.0
        x[at] = old - step
        open_rows = at[~(np.abs(step) < X_TOLERANCE)]
        open_rows = open_rows[np.isfinite(x[open_rows])]
    x[open_rows] = np.nan
    return x


def _first_guess(target: Vector, lam: Vector, M: int, lowpath: bool) -> Vector:
    if M > 0:
        left = ((M + 1) * np.pi / (8.0 * target)) ** (2.0 / 3.0)
        right = (8.0 * target / (M * np.pi)) ** (2.0 / 3.0)
        left, right = (left - 1.0) / (left + 1.0), (right - 1.0) / (right + 1.0)
        return np.maximum(left, right) if lowpath else np.minimum(left, right)
    t00 = _single(lam)
    t1 = 2.0 * (1.0 - lam**3) / 3.0
    slow = (t00 / target) ** (2.0 / 3.0) - 1.0
    fast = 2.5 * t1 / target * (t1 - target) / (1.0 - lam**5) + 1.0
    between = np.exp(np.log(2.0) * np.log(target / t00) / np.log(t1 / t00)) - 1.0
    return np.where(t00 <= target, slow, np.where(t1 > target, fast, between))


def _single(lam: Vector) -> Vector:
    return np.asarray(np.arccos(lam) + lam * np.sqrt(1.0 - lam * lam))


def _allows(target: Vector, lam: Vector, M: int) -> NDArray[np.bool_]:
    """Whether M full revolutions fit into T."""
    if M < 0:
        return np.zeros(len(target), dtype=bool)
    most = np.floor(target / np.pi)
    allowed = most >= M
    if M > 0:
        doubtful = np.flatnonzero((most == M) & (target < _single(lam) + M * np.pi))
        if len(doubtful):
            least = _least_time(lam[doubtful], M)
            allowed[doubtful] = target[doubtful] >= least  # False where the search failed (NaN)
    return np.asarray(allowed)


def _least_time(lam: Vector, M: int) -> Vector:
    x = np.full(len(lam), 0.1)
    open_rows = np.arange(len(lam))
    for _ in range(MAX_ITERATIONS):
        if not len(open_rows):
            break
        at, la, old = open_rows, lam[open_rows], x[open_rows]
        y = np.sqrt(np.maximum(0.0, 1.0 - la * la * (1.0 - old * old)))
        d1, d2, d3 = _derivatives(old, y, _time_of_flight(old, y, la, M), la)
        step = 2.0 * d1 * d2 / (2.0 * d2 * d2 - d1 * d3)
        x[at] = old - step
        open_rows = at[~(np.abs(step) < X_TOLERANCE)]
    x[open_rows] = np.nan
    return _time_of_flight(x, np.sqrt(np.maximum(0.0, 1.0 - lam * lam * (1.0 - x * x))), lam, M)


def _time_of_flight(x: Vector, y: Vector, lam: Vector, M: int) -> Vector:
    square = 1.0 - x * x
    cosine = np.clip(x * y + lam * square, -1.0, 1.0)
    psi = np.where((x >= -1.0) & (x < 1.0), np.arccos(cosine), 0.0)
    beyond = x > 1.0
    if beyond.any():
        sine = (y[beyond] - x[beyond] * lam[beyond]) * np.sqrt(-square[beyond])
        psi[beyond] = np.arcsinh(sine)
    time = ((psi + M * np.pi) / np.sqrt(np.abs(square)) - x + lam * y) / square
    near = (x > _BATTIN[0]) & (x < _BATTIN[1])
    if M == 0 and near.any():
        la = lam[near]
        eta = y[near] - la * x[near]
        series = _hypergeometric(0.5 * (1.0 - la - x[near] * eta))
        time[near] = 0.5 * (eta**3 * 4.0 / 3.0 * series + 4.0 * la * eta)
    return np.asarray(time)


def _hypergeometric(s: Vector) -> Vector:
    total, term = np.ones_like(s), np.ones_like(s)
    n = 0
    while True:
        term = term * (s * ((3.0 + n) / (2.5 + n)))
        grown = total + term
        if np.array_equal(grown, total, equal_nan=True):
            return total
        total = grown
        n += 1


def _derivatives(x: Vector, y: Vector, time: Vector, lam: Vector) -> tuple[Vector, Vector, Vector]:
    square = 1.0 - x * x
    lam_2 = lam * lam
    lam_3 = lam_2 * lam
    y_2 = y * y
    d1 = (3.0 * time * x - 2.0 + 2.0 * lam_3 * x / y) / square
    d2 = (3.0 * time + 5.0 * x * d1 + 2.0 * (1.0 - lam_2) * lam_3 / (y_2 * y)) / square
    d3 = 7.0 * x * d2 + 8.0 * d1 - 6.0 * (1.0 - lam_2) * lam_2 * lam_3 * x / (y_2 * y_2 * y)
    d3 = d3 / square
    parabola = square == 0.0
    if parabola.any():
        d1 = np.where(parabola, 0.4 * (lam_2 * lam_3 - 1.0), d1)
        d2, d3 = np.where(parabola, 0.0, d2), np.where(parabola, 0.0, d3)
    return d1, d2, d3
