"""Two-body mechanics: properties that hold whatever the numbers, and the batch against scalars."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from tasks.astrodynamics.tools.orbits import flyby
from tasks.astrodynamics.tools.orbits.constants import AU_KM, DAY_S, MU, MU_SUN, RADIUS
from tasks.astrodynamics.tools.orbits.kepler import propagate
from tasks.astrodynamics.tools.orbits.kepler_batch import propagate_batch
from tasks.astrodynamics.tools.orbits.lambert import lambert, solutions
from tasks.astrodynamics.tools.orbits.lambert_batch import lambert_batch
from tasks.astrodynamics.tools.orbits.vectors import Vector

untimed = settings(deadline=None, max_examples=200)  # the machine may be busy
unit = st.tuples(*[st.floats(-1.0, 1.0)] * 3).filter(lambda v: math.hypot(*v) > 0.1)
radius = st.floats(0.2, 40.0)
days = st.floats(0.5, 20000.0)


def pointing(direction: tuple[float, float, float], length: float) -> Vector:
    return np.array(direction) * (length / math.hypot(*direction))


positions = st.builds(lambda d, au: pointing(d, au * AU_KM), unit, radius)
# Speeds from a near fall to three times the escape speed: ellipses, near-parabolas, hyperbolas.
states = st.builds(
    lambda r, d, share: (
        r,
        pointing(d, share * math.sqrt(2.0 * MU_SUN / float(np.linalg.norm(r)))),
    ),
    positions,
    unit,
    st.one_of(st.floats(0.2, 3.0), st.floats(0.9999999, 1.0000001)),
)


def energy(r: Vector, v: Vector) -> float:
    return float(v @ v) / 2.0 - MU_SUN / float(np.linalg.norm(r))


def off(found: Any, wanted: Any) -> float:
    return float(np.linalg.norm(np.subtract(found, wanted)) / np.linalg.norm(wanted))


@untimed
@given(states, days)
def test_propagation_keeps_energy_and_angular_momentum(state: Any, tof: float) -> None:
    r0, v0 = state
    r, v = propagate(r0, v0, tof * DAY_S, MU_SUN)
    # The sum of kinetic and potential energy is what the rounding is relative to.
    scale = float(v @ v) / 2.0 + MU_SUN / float(np.linalg.norm(r))
    scale0 = float(v0 @ v0) / 2.0 + MU_SUN / float(np.linalg.norm(r0))
    assert abs(energy(r, v) - energy(r0, v0)) < 1e-9 * max(scale, scale0)
    h0 = np.cross(r0, v0)
    reach = max(np.linalg.norm(r) * np.linalg.norm(v), np.linalg.norm(r0) * np.linalg.norm(v0))
    assert np.linalg.norm(np.cross(r, v) - h0) < 1e-9 * reach


@untimed
@given(states, days)
def test_time_can_be_reversed(state: Any, tof: float) -> None:
    r0, v0 = state
    assume(np.linalg.norm(np.cross(r0, v0)) > 1e-2 * np.linalg.norm(r0) * np.linalg.norm(v0))
    r, v = propagate(r0, v0, tof * DAY_S, MU_SUN)
    back = propagate(r, v, -tof * DAY_S, MU_SUN)
    mirrored = propagate(r, -v, tof * DAY_S, MU_SUN)
    assert off(back[0], r0) < 1e-6
    assert off(back[1], v0) < 1e-6
    assert off(mirrored[0], r0) < 1e-6
    assert off(mirrored[1], -v0) < 1e-6


@untimed
@given(states, days, st.floats(0.0, 1.0))
def test_two_steps_make_one(state: Any, tof: float, share: float) -> None:
    r0, v0 = state
    assume(np.linalg.norm(np.cross(r0, v0)) > 1e-2 * np.linalg.norm(r0) * np.linalg.norm(v0))
    first = propagate(r0, v0, share * tof * DAY_S, MU_SUN)
    second = propagate(*first, (1.0 - share) * tof * DAY_S, MU_SUN)
    assert off(second[0], propagate(r0, v0, tof * DAY_S, MU_SUN)[0]) < 1e-6


@pytest.mark.parametrize("share", [0.3, 0.7071, 0.99, 1.0, 1.3, 2.5])
def test_propagation_is_the_solution_of_the_equation_of_motion(share: float) -> None:
    r0 = np.array([1.2e8, -0.8e8, 0.3e8])
    v0 = pointing((0.4, 0.7, -0.2), share * math.sqrt(2.0 * MU_SUN / float(np.linalg.norm(r0))))

    def motion(_: float, y: Vector) -> Vector:
        return np.concatenate([y[3:], -MU_SUN * y[:3] / np.linalg.norm(y[:3]) ** 3])

    tof = 300.0 * DAY_S
    followed = solve_ivp(
        motion, (0.0, tof), np.concatenate([r0, v0]), method="DOP853", rtol=1e-13, atol=1e-9
    )
    r, v = propagate(r0, v0, tof, MU_SUN)
    assert off(r, followed.y[:3, -1]) < 1e-9
    assert off(v, followed.y[3:, -1]) < 1e-9


def test_whole_revolutions_lead_back() -> None:
    r0, v0 = np.array([1.5e8, 2e7, -1e7]), np.array([-3.0, 28.0, 9.0])
    half_axis = 1.0 / (2.0 / np.linalg.norm(r0) - v0 @ v0 / MU_SUN)
    period = 2.0 * math.pi * math.sqrt(half_axis**3 / MU_SUN)
    for turns in (-7, 0, 1, 50):
        assert off(propagate(r0, v0, turns * period, MU_SUN)[0], r0) < 1e-11


def test_a_dive_past_the_sun_at_a_thousand_km_s() -> None:
    r0 = np.array([3.0e9, 0.0, 0.0])
    v0 = np.array([-1000.0, 0.004, 0.003])  # perihelion far inside the Sun
    r, v = propagate(r0, v0, 6.0e6, MU_SUN)
    assert np.linalg.norm(v) == pytest.approx(1000.0, rel=1e-3)
    assert off(propagate(r, v, -6.0e6, MU_SUN)[0], r0) < 1e-8


@pytest.mark.parametrize("sideways", [0.0, 2e-161, 1e-20, 1e-9])
def test_a_straight_fall_from_the_earth_s_distance(sideways: float) -> None:
    r0, v0 = np.array([0.0, sideways, -AU_KM]), np.array([0.0, 0.0, 84.24383028])
    r, v = propagate(r0, v0, DAY_S, MU_SUN)
    assert r[2] == pytest.approx(-AU_KM + 84.24383028 * DAY_S, rel=1e-3)
    assert energy(r, v) == pytest.approx(energy(r0, v0), rel=1e-12)
    assert off(propagate_batch(r0, v0, DAY_S, MU_SUN)[0], r) < 1e-12


@pytest.mark.parametrize(
    ("r0", "v0", "tof"),
    [
        ([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], 10.0),
        ([1.5e8, 0.0, math.nan], [1.0, 2.0, 3.0], 10.0),
        ([1.5e8, 0.0, 0.0], [math.inf, 2.0, 3.0], 10.0),
        ([1.5e8, 0.0, 0.0], [1.0, 2.0, 3.0], math.inf),
        ([1e308, 1e308, 0.0], [1.0, 2.0, 3.0], 10.0),
    ],
)
def test_hopeless_states_are_refused(r0: Any, v0: Any, tof: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        propagate(r0, v0, tof, MU_SUN)
    assert np.isnan(propagate_batch(r0, v0, tof, MU_SUN)[0]).all()


def test_vectors_of_another_length_are_refused() -> None:
    with pytest.raises(ValueError, match="unpack"):
        propagate([1.0, 2.0], [1.0, 2.0, 3.0], 1.0, MU_SUN)
    with pytest.raises(ValueError, match="three components"):
        propagate_batch(np.ones((4, 2)), np.ones((4, 3)), 1.0, MU_SUN)


@untimed
@given(positions, positions, days, st.booleans(), st.integers(0, 3), st.booleans())
def test_lambert_arcs_are_kepler_orbits(
    r0: Vector, r1: Vector, tof: float, prograde: bool, M: int, lowpath: bool
) -> None:
    assume(np.linalg.norm(np.cross(r0, r1)) > 1e-3 * np.linalg.norm(r0) * np.linalg.norm(r1))
    reach = max(np.linalg.norm(r0), np.linalg.norm(r1))
    assume(reach < 500.0 * tof * DAY_S)  # no arcs faster than 500 km/s
    try:
        v0, v1 = lambert(r0, r1, tof * DAY_S, MU_SUN, prograde=prograde, lowpath=lowpath, M=M)
    except ValueError:
        assume(M > 0)  # a direct arc exists whatever the time
        return
    r, v = propagate(r0, v0, tof * DAY_S, MU_SUN)
    assert np.linalg.norm(r - r1) < 1e-7 * reach
    assert np.linalg.norm(v - v1) < 1e-7 * max(np.linalg.norm(v0), np.linalg.norm(v1))
    momentum = np.cross(r0, v0)
    over_the_poles = abs(momentum[2]) < 1e-9 * np.linalg.norm(momentum)
    assert over_the_poles or bool(momentum[2] > 0.0) is prograde


@untimed
@given(positions, positions, st.floats(50.0, 20000.0), st.booleans())
def test_solutions_are_all_of_lambert_s(r0: Vector, r1: Vector, tof: float, prograde: bool) -> None:
    assume(np.linalg.norm(np.cross(r0, r1)) > 1e-3 * np.linalg.norm(r0) * np.linalg.norm(r1))
    found = list(solutions(r0, r1, tof * DAY_S, MU_SUN, prograde=prograde, max_revs=4))
    most = found[-1][0]
    branches = [(M, low) for M in range(1, most + 1) for low in (True, False)]
    assert [(M, low) for M, low, _, _ in found] == [(0, None), *branches]
    for M, low, v0, v1 in found:
        one = lambert(r0, r1, tof * DAY_S, MU_SUN, prograde=prograde, lowpath=low is not False, M=M)
        assert np.array_equal(one, (v0, v1))
    if most < 4:
        with pytest.raises(ValueError, match="revolutions"):
            lambert(r0, r1, tof * DAY_S, MU_SUN, prograde=prograde, M=most + 1)


def test_lambert_errors() -> None:
    r0, r1 = [1.5e8, 0.0, 0.0], [0.0, 2e8, 0.0]
    for tof in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match="time of flight"):
            lambert(r0, r1, tof, MU_SUN)
    with pytest.raises(ValueError, match="mu"):
        lambert(r0, r1, 1e7, 0.0)
    for beyond in ([-3e8, 0.0, 0.0], r0, [0.0, 0.0, 0.0], [math.nan, 1.0, 1.0]):
        with pytest.raises(ValueError, match="collinear"):
            lambert(r0, beyond, 1e7, MU_SUN)
    with pytest.raises(ValueError, match="-1 revolutions"):
        lambert(r0, r1, 1e7, MU_SUN, M=-1)
    with pytest.raises(RuntimeError, match="converge"):
        lambert(r0, r1, 1e7, MU_SUN, numiter=1)


def test_half_turn_times_on_the_parabola() -> None:
    """Euler's equation: the parabolic time is where ellipses and hyperbolas meet."""
    r0, r1 = np.array([1.5e8, 0.0, 0.0]), np.array([0.0, 2.5e8, 0.0])
    chord = float(np.linalg.norm(r1 - r0))
    plus, minus = 4e8 + chord, 4e8 - chord
    tof = (plus**1.5 - minus**1.5) / (6.0 * math.sqrt(MU_SUN))
    v0, _ = lambert(r0, r1, tof, MU_SUN)
    assert energy(r0, v0) == pytest.approx(0.0, abs=1e-9 * MU_SUN / 1.5e8)


def random_arcs(seed: int, count: int) -> tuple[Vector, Vector, Vector]:
    rng = np.random.default_rng(seed)
    r0, r1 = rng.normal(size=(2, count, 3)) * rng.uniform(0.5, 20.0, (2, count, 1)) * AU_KM
    return r0, r1, rng.uniform(20.0, 9000.0, count) * DAY_S


@pytest.mark.parametrize("M", [0, 1, 2])
@pytest.mark.parametrize("prograde", [True, False])
def test_lambert_batch_does_what_the_scalar_does(M: int, prograde: bool) -> None:
    r0, r1, tof = random_arcs(11, 800)
    r1[0] = -2.0 * r0[0]  # collinear
    tof[1] = -1.0
    v0, v1 = lambert_batch(r0, r1, tof, MU_SUN, prograde=prograde, lowpath=prograde, M=M)
    for row in range(len(tof)):
        try:
            one = lambert(
                r0[row], r1[row], tof[row], MU_SUN, prograde=prograde, lowpath=prograde, M=M
            )
        except ValueError:
            assert np.isnan(v0[row]).all()
            assert np.isnan(v1[row]).all()
        else:
            assert off(v0[row], one[0]) < 1e-9
            assert off(v1[row], one[1]) < 1e-9
    assert np.isnan(v0[:2]).all()
    assert np.isfinite(v0).sum() > 3


def test_propagate_batch_does_what_the_scalar_does() -> None:
    r0, _, tof = random_arcs(12, 9000)  # more than one block
    speeds = np.random.default_rng(13).normal(size=r0.shape) * 25.0
    speeds[7] = -300.0 * r0[7] / np.linalg.norm(r0[7]) + 0.02  # a deep dive
    r, v = propagate_batch(r0, speeds, tof * np.where(np.arange(9000) % 2, 1.0, -1.0), MU_SUN)
    for row in range(0, len(tof), 7):
        one = propagate(r0[row], speeds[row], tof[row] * (1.0 if row % 2 else -1.0), MU_SUN)
        assert off(r[row], one[0]) < 1e-9
        assert off(v[row], one[1]) < 1e-9


def test_batches_broadcast() -> None:
    r0, r1, tof = random_arcs(14, 6)
    v0, v1 = lambert_batch(r0[0], r1.reshape(2, 3, 3), tof[0], MU_SUN)
    assert v0.shape == v1.shape == (2, 3, 3)
    assert v0[1, 2] == pytest.approx(lambert(r0[0], r1[5], tof[0], MU_SUN)[0])
    r, _ = propagate_batch(r0[0], v0[0, 0], np.linspace(0.0, tof[0], 5), MU_SUN)
    assert r.shape == (5, 3)
    assert r[0] == pytest.approx(r0[0])
    assert off(r[-1], r1[0]) < 1e-9
    assert propagate_batch(np.empty((0, 3)), np.empty((0, 3)), 1.0, MU_SUN)[0].shape == (0, 3)
    assert lambert_batch(np.empty((0, 3)), np.empty((0, 3)), 1.0, MU_SUN)[0].shape == (0, 3)


flyby_speeds = st.builds(pointing, unit, st.floats(1.0, 25.0))


@untimed
@given(flyby_speeds, flyby_speeds, st.floats(1.01, 60.0), st.floats(0.0, 2.0 * math.pi))
def test_a_gravity_assist_is_an_unpowered_flyby(
    v_inf: Vector, v_planet: Vector, height: float, psi: float
) -> None:
    assume(np.linalg.norm(np.cross(v_inf, v_planet)) > 1e-3)
    r_p = height * RADIUS["5"]
    v_in = v_planet + v_inf
    v_out = flyby.gravity_assist(v_in, v_planet, MU["5"], r_p, psi)
    assert np.linalg.norm(v_out - v_planet) == pytest.approx(np.linalg.norm(v_inf))
    found, burn, feasible = flyby.powered_flyby(v_in, v_out, v_planet, MU["5"], 0.999 * r_p)
    assert found == pytest.approx(r_p, rel=1e-6)
    assert burn == pytest.approx(0.0, abs=1e-9)
    assert feasible
    assert not flyby.powered_flyby(v_in, v_out, v_planet, MU["5"], 1.001 * r_p)[2]


def test_degenerate_flybys() -> None:
    rest = [10.0, 0.0, 0.0]
    infeasible = (math.inf, math.inf, False)
    assert flyby.powered_flyby(rest, [12.0, 1.0, 0.0], rest, 1e5, 1.0) == infeasible
    assert flyby.powered_flyby([12.0, 1.0, 0.0], rest, rest, 1e5, 1.0) == infeasible
    assert flyby.powered_flyby([12.0, 0, 0], [13.0, 0, 0], rest, 1e5, 1.0) == infeasible
    assert flyby.powered_flyby([12.0, 0, 0], [8.0, 0, 0], rest, 1e5, 0.0) == (0.0, math.inf, False)
    with pytest.raises(ValueError, match="along the planet"):
        flyby.gravity_assist([12.0, 0, 0], rest, 1e5, 7000.0, 0.0)
