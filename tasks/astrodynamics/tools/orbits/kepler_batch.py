"""Kepler's problem for many arcs at once: the method of :mod:`orbits.kepler` on numpy arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .kepler import DEEP_DIVE, LAST_STEP, STUMPFF_SERIES, propagate_triples
from .vectors import Triple, Vector, rows, triple

_ITERATIONS = 10
_BLOCK = 4096  # rows at a time: all temporaries then stay in the processor's cache
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
        with np.errstate(all="ignore"):
            r1[block], v1[block] = _propagate(r[block], v[block], time[block], float(mu))
    for row in np.flatnonzero(~np.isfinite(r1).all(axis=1) | ~np.isfinite(v1).all(axis=1)):
        r1[row], v1[row] = _guarded(r[row], v[row], float(time[row]), float(mu))
    return r1.reshape(*shape, 3), v1.reshape(*shape, 3)


def _guarded(r: Vector, v: Vector, tof: float, mu: float) -> tuple[Triple, Triple]:
    """The scalar routine, for the few rows that need its bracket; NaN where it raises."""
    try:
        return propagate_triples(triple(r), triple(v), tof, mu)
    except ValueError:
        return _LOST, _LOST


def _propagate(r: Vector, v: Vector, tof: Vector, mu: float) -> tuple[Vector, Vector]:
    root_mu = np.sqrt(mu)
    radius = np.sqrt(np.einsum("ij,ij->i", r, r))
    alpha = 2.0 / radius - np.einsum("ij,ij->i", v, v) / mu
    sigma = np.einsum("ij,ij->i", r, v) / root_mu
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
    return f[:, None] * r + g[:, None] * v, f_dot[:, None] * r + g_dot[:, None] * v


def _universal(target: Vector, radius: Vector, sigma: Vector, alpha: Vector) -> Vector:
    """U1, U2 and the new radius, shape (3, N); NaN where plain Laguerre steps do not settle.

    Rows with ``target`` NaN are left alone.
    """
    found = np.full((3, len(target)), np.nan)
    chi = _first_guess(target, radius, sigma, alpha)
    at = np.flatnonzero(np.isfinite(chi))
    work = np.stack([chi, target, radius, sigma, alpha])[:, at]
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
        done = np.abs(step) <= LAST_STEP * np.abs(chi)
        if done.any():
            # The last step is so small that the functions follow it linearly.
            ends = np.stack((u1 + step * u0, u2 + step * u1, r + step * curvature))
            found[:, at[done]] = ends[:, done]
            work, at = work[:, ~done], at[~done]
    return found


def _first_guess(target: Vector, radius: Vector, sigma: Vector, alpha: Vector) -> Vector:
    guess = np.where(alpha > 0.0, target * alpha, target / radius)
    hyperbolic = np.flatnonzero(alpha < 0.0)
    if len(hyperbolic):
        a, t = alpha[hyperbolic], target[hyperbolic]
        root = np.sqrt(-a)
        far = -2.0 * a * t / (sigma[hyperbolic] + (1.0 - a * radius[hyperbolic]) / root)
        late = far > np.e
        guess[hyperbolic[late]] = np.minimum(
            guess[hyperbolic[late]], np.log(far[late]) / root[late]
        )
    return guess


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
