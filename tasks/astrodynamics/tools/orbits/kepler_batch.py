"""Kepler's problem for many arcs at once: the method of :mod:`orbits.kepler` on numpy arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .kepler import DEEP_DIVE, LAST_STEP, STUMPFF_SERIES, propagate_triples
from .vectors import Triple, Vector, rows, triple

_ITERATIONS = 12
_BLOCK = 8192  # rows at a time: all temporaries then stay in the processor's cache
_LOST: Triple = (np.nan, np.nan, np.nan)


def propagate_batch(
    r0: ArrayLike, v0: ArrayLike, tof: ArrayLike, mu: float
) -> tuple[Vector, Vector]:
    """Positions and velocities, shape (..., 3), after the times ``tof``, shape (...).

    Arguments broadcast against each other: one state with many times, many states with one time.
    Rows for which :func:`orbits.kepler.propagate` raises are NaN.
    """
    r, v, time = rows(r0), rows(v0), np.asarray(tof, dtype=np.float64)
    shape = np.broadcast_shapes(r.shape[:-1], v.shape[:-1], time.shape)
    r = np.broadcast_to(r, (*shape, 3)).reshape(-1, 3)
    v = np.broadcast_to(v, (*shape, 3)).reshape(-1, 3)
    time = np.broadcast_to(time, shape).reshape(-1)
    r1, v1 = np.empty(r.shape), np.empty(r.shape)
    for start in range(0, len(time), _BLOCK):
        block = slice(start, start + _BLOCK)
        # Components first: numpy is slow along an axis of length three.
        x, u = np.ascontiguousarray(r[block].T), np.ascontiguousarray(v[block].T)
        with np.errstate(all="ignore"):
            x, u = _propagate(x, u, time[block], float(mu))
        r1[block], v1[block] = x.T, u.T
    for row in np.flatnonzero(~np.isfinite(r1 + v1).all(axis=1)):
        r1[row], v1[row] = _guarded(r[row], v[row], float(time[row]), float(mu))
    return r1.reshape(*shape, 3), v1.reshape(*shape, 3)


def _guarded(r: Vector, v: Vector, tof: float, mu: float) -> tuple[Triple, Triple]:
    """The scalar routine, for the few rows that need its bracket; NaN where it raises."""
    try:
        return propagate_triples(triple(r), triple(v), tof, mu)
    except ValueError:
        return _LOST, _LOST


def _propagate(r: Vector, v: Vector, tof: Vector, mu: float) -> tuple[Vector, Vector]:
    """States of shape (3, N) after ``tof``; NaN where the scalar routine has to help."""
    root_mu = np.sqrt(mu)
    radius = np.sqrt(_dot(r, r))
    alpha = 2.0 / radius - _dot(v, v) / mu
    sigma = _dot(r, v) / root_mu
    bound = alpha > 0.0
    period = 2.0 * np.pi / (root_mu * np.where(bound, alpha, 1.0) ** 1.5)
    tof = np.where(bound, tof - period * np.rint(tof / period), tof)
    sign = np.where(tof >= 0.0, 1.0, -1.0)
    dive = -alpha * radius * radius
    deep = (dive > 0.0) & (sign * sigma < 0.0)
    deep &= dive > DEEP_DIVE * (2.0 * radius + dive - sigma * sigma)
    target = np.where(deep, np.nan, np.abs(tof) * root_mu)
    u1, u2, end_radius = _universal(target, radius, sign * sigma, alpha)
    f = 1.0 - u2 / radius
    g = (sign * radius * u1 + sigma * u2) / root_mu
    f_dot = -sign * root_mu * u1 / (end_radius * radius)
    g_dot = 1.0 - u2 / end_radius
    r1, v1 = f * r + g * v, f_dot * r + g_dot * v
    at = np.flatnonzero(deep)
    if len(at):
        r1[:, at], v1[:, at] = _past_the_periapsis(
            r[:, at], v[:, at], tof[at], mu, alpha[at], sigma[at]
        )
    return r1, v1


def _past_the_periapsis(
    r: Vector, v: Vector, tof: Vector, mu: float, alpha: Vector, sigma: Vector
) -> tuple[Vector, Vector]:
    """Fast hyperbolas towards their periapsis: the scalar routine of this name on arrays."""
    root_mu = np.sqrt(mu)
    momentum = np.cross(r, v, axis=0)
    h = np.sqrt(_dot(momentum, momentum))
    parameter = h * h / mu
    eccentricity = np.sqrt(1.0 - alpha * parameter)
    q = parameter / (1.0 + eccentricity)
    root, width = np.sqrt(-alpha), np.sqrt(parameter)
    _, u1, u2, u3 = _universal_functions(np.arcsinh(root * sigma / eccentricity) / root, alpha)
    x0, y0 = q - u2, width * u1
    since = q * u1 + u3 + root_mu * tof
    u1, u2, end_radius = _universal(np.abs(since), q, np.zeros_like(q), alpha)
    u1 = np.copysign(u1, since)
    outward = r / np.sqrt(_dot(r, r))
    onward = np.cross(momentum / h, outward, axis=0)
    length = np.hypot(x0, y0)
    to_periapsis = (x0 * outward - y0 * onward) / length
    across = (y0 * outward + x0 * onward) / length
    r1 = (q - u2) * to_periapsis + width * u1 * across
    v1 = width * (1.0 - alpha * u2) * across - u1 * to_periapsis
    return r1, v1 * (root_mu / end_radius)


def _dot(a: Vector, b: Vector) -> Vector:
    return np.asarray(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


def _universal(target: Vector, radius: Vector, sigma: Vector, alpha: Vector) -> Vector:
    """U1, U2 and the new radius, shape (3, N); NaN where plain Laguerre steps do not settle.

    Rows with ``target`` NaN are left alone.
    """
    found = np.full((3, len(target)), np.nan)
    chi = _first_guess(target, radius, sigma, alpha)
    at = np.flatnonzero(np.isfinite(chi))
    work = np.stack([chi, target, radius, sigma, alpha]).take(at, axis=1)
    for _ in range(_ITERATIONS):
        if not len(at):
            break
        chi, target, radius, sigma, alpha = work
        u0, u1, u2, u3 = _universal_functions(chi, alpha)
        miss = radius * u1 + sigma * u2 + u3 - target
        r = radius * u0 + sigma * u1 + u2
        curvature = sigma * u0 + (1.0 - alpha * radius) * u1
        step = -5.0 * miss / (r + np.sqrt(np.abs(16.0 * r * r - 20.0 * miss * curvature)))
        chi += step
        settled = np.abs(step) <= LAST_STEP * np.abs(chi)
        done = np.flatnonzero(settled)
        if len(done):
            # The last step is so small that the functions follow it linearly.
            place = at[done]
            found[0, place] = (u1 + step * u0)[done]
            found[1, place] = (u2 + step * u1)[done]
            found[2, place] = (r + step * curvature)[done]
            rest = np.flatnonzero(~settled)
            work, at = work.take(rest, axis=1), at[rest]
    return found


def _first_guess(target: Vector, radius: Vector, sigma: Vector, alpha: Vector) -> Vector:
    """Danby's starting values for Kepler's equation of the ellipse and of the hyperbola.

    Better ones than the scalar routine's, because the slowest rows decide the number of steps. A
    parabola has none; near it they can be far too large, hence the bound for outward motion.
    """
    root = np.sqrt(np.abs(alpha))
    mean = target * root**3
    sine, cosine = sigma * root, 1.0 - alpha * radius  # e times those of the anomaly at the start
    closed = alpha > 0.0
    guess = target / radius
    for rows_of, step in ((closed, _elliptic_step), (alpha < 0.0, _hyperbolic_step)):
        where = np.flatnonzero(rows_of)
        if len(where):
            guess[where] = step(mean[where], sine[where], cosine[where]) / root[where]
    leaving = np.where(sigma >= 0.0, np.cbrt(6.0 * target), np.inf)
    return np.where(closed, guess, np.minimum(guess, leaving))


def _elliptic_step(mean: Vector, sine: Vector, cosine: Vector) -> Vector:
    """Change of the eccentric anomaly for a change ``mean`` of the mean anomaly."""
    start = np.arctan2(sine, cosine)
    end_mean = start - sine + mean
    return end_mean + np.copysign(0.85 * np.hypot(sine, cosine), np.sin(end_mean)) - start


def _hyperbolic_step(mean: Vector, sine: Vector, cosine: Vector) -> Vector:
    """The same for the hyperbolic anomaly."""
    eccentricity = np.sqrt((cosine - sine) * (cosine + sine))
    start = np.arcsinh(sine / eccentricity)
    end_mean = sine - start + mean
    size = np.log(2.0 * np.abs(end_mean) / eccentricity + 1.8)
    return np.asarray(np.maximum(np.copysign(size, end_mean) - start, 0.0))


def _universal_functions(chi: Vector, alpha: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """U0..U3 of many anomalies."""
    square = chi * chi
    z = alpha * square
    if z.min() > 1.0:
        c0, c1, c2, c3 = _closed(z, np.sin, np.cos)
    else:
        c0, c1, c2, c3 = stumpff = np.empty((4, len(z)))
        for where, functions in (
            (np.flatnonzero(z > 1.0), (np.sin, np.cos)),
            (np.flatnonzero(z < -1.0), (np.sinh, np.cosh)),
        ):
            if len(where):
                stumpff[:, where] = _closed(z[where], *functions)
        near = np.flatnonzero(np.abs(z) <= 1.0)
        if len(near):
            stumpff[:, near] = _series(z[near])
    return c0, chi * c1, square * c2, square * chi * c3


def _closed(z: Vector, sine_of: np.ufunc, cosine_of: np.ufunc) -> tuple[Vector, ...]:
    """Stumpff functions c0..c3 for |z| > 1, from the sine and cosine of half the anomaly."""
    size = np.abs(z)
    root = np.sqrt(size)
    half, half_cosine = sine_of(0.5 * root), cosine_of(0.5 * root)
    sine, c2 = 2.0 * half * half_cosine, 2.0 * half * half / size
    return 1.0 - z * c2, sine / root, c2, (root - sine) / (z * root)


def _series(z: Vector) -> tuple[Vector, ...]:
    """Stumpff functions c0..c3 for |z| <= 1."""
    c2, c3 = np.zeros_like(z), np.zeros_like(z)
    for factor_2, factor_3 in STUMPFF_SERIES:
        c2 = factor_2 - z * c2
        c3 = factor_3 - z * c3
    return 1.0 - z * c2, 1.0 - z * c3, c2, c3
