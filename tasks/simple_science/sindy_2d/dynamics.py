"""Planar polynomial vector fields of degree three: the true one, and comparison with it.

Truth and task: cubic two-dimensional ODE of the PySINDy examples; S. L. Brunton, J. L. Proctor,
J. N. Kutz, PNAS 113 (2016) 3932, doi 10.1073/pnas.1517384113.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from benchmark.evaluator import Invalid

Floats = NDArray[np.float64]

POWERS = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (3, 0), (2, 1), (1, 2), (0, 3))
"""Exponents of x and y of the ten monomials, in the order of the coefficients' columns."""

STARTS = ((1.5, 0.5), (-1.0, 0.75))
TIMES = np.linspace(0.0, 10.0, 501)
ESCAPE = 100.0  # a trajectory that gets so far has left the system
MAX_CALLS = 50_000  # right-hand sides per trajectory; stiff fields need more

_EXPONENTS = np.array(POWERS)


def _truth() -> Floats:
    coefficients = np.zeros((2, len(POWERS)))
    coefficients[0, [6, 9]] = -0.1, 2.0  # x' = -0.1 x^3 + 2 y^3
    coefficients[1, [6, 9]] = -2.0, -0.1  # y' = -2 x^3 - 0.1 y^3
    return coefficients


TRUTH = _truth()


def field(coefficients: Floats, points: Floats) -> Floats:
    """Velocities at points of shape (..., 2); ``coefficients`` has shape (2, 10)."""
    monomials = np.prod(points[..., np.newaxis, :] ** _EXPONENTS, axis=-1)
    velocities: Floats = monomials @ coefficients.T
    return velocities


def grid() -> Floats:
    """The 25 x 25 points of [-2, 2]^2 at which fields are compared, shape (625, 2)."""
    ticks = np.linspace(-2.0, 2.0, 25)
    return np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)


def relative_error(values: Floats, truth: Floats) -> float:
    """Root mean square deviation over all entries, divided by the truth's root mean square."""
    return float(np.sqrt(np.mean((values - truth) ** 2)) / np.sqrt(np.mean(truth**2)))


def field_error(coefficients: Floats) -> float:
    """Relative error of the vector field on :func:`grid`."""
    return relative_error(field(coefficients, grid()), field(TRUTH, grid()))


def trajectory_error(coefficients: Floats) -> float:
    """Relative error of the trajectories, mean over :data:`STARTS`; raises :class:`Invalid`."""
    errors = [
        relative_error(trajectory(coefficients, start), true_trajectory(start)) for start in STARTS
    ]
    return sum(errors) / len(errors)


def true_trajectory(start: tuple[float, float]) -> Floats:
    """The true system at :data:`TIMES`, shape (501, 2)."""
    solution = solve_ivp(
        lambda _, state: field(TRUTH, state),
        (TIMES[0], TIMES[-1]),
        start,
        method="DOP853",
        t_eval=TIMES,
        rtol=1e-10,
        atol=1e-12,
    )
    states: Floats = solution.y.T
    return states


def trajectory(coefficients: Floats, start: tuple[float, float]) -> Floats:
    """A submitted system at :data:`TIMES`, shape (501, 2).

    Raises :class:`Invalid` when it escapes, is too stiff for the call budget or cannot be solved.
    """
    calls = 0

    def velocity(_: float, state: Floats) -> Floats:
        nonlocal calls
        calls += 1
        if calls > MAX_CALLS:
            raise Invalid(f"{_named(start)} needs more than {MAX_CALLS} evaluations of the field")
        return field(coefficients, state)

    def room(_: float, state: Floats) -> float:
        return ESCAPE - float(np.max(np.abs(state)))

    room.terminal = True  # type: ignore[attr-defined]
    with np.errstate(all="ignore"):  # trial steps of a runaway field may overflow
        solution = solve_ivp(
            velocity,
            (TIMES[0], TIMES[-1]),
            start,
            method="DOP853",
            t_eval=TIMES,
            events=room,
            rtol=1e-8,
            atol=1e-10,
            max_step=0.1,
        )
    if solution.status == 1:
        when = solution.t_events[0][0]
        raise Invalid(f"{_named(start)} reaches {ESCAPE:g} in magnitude at t = {when:.4g}")
    if solution.status != 0:
        raise Invalid(f"{_named(start)} cannot be integrated: {solution.message}")
    states: Floats = solution.y.T
    return states


def _named(start: tuple[float, float]) -> str:
    return f"the trajectory from ({start[0]:g}, {start[1]:g})"
