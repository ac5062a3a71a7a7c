"""The tools of candidates against the parity vectors, under the names that programs import."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shared_data import read_case, require_shared

from tasks.astrodynamics.kernels import SHIPPED
from tasks.astrodynamics.tools.orbits import clock, flyby
from tasks.astrodynamics.tools.orbits.constants import MU, RADIUS
from tasks.astrodynamics.tools.orbits.ephemeris import KERNEL_VARIABLE
from tasks.astrodynamics.tour import TOOLS


@pytest.fixture(scope="module")
def vectors() -> Any:
    return read_case(require_shared() / "parity" / "astrodynamics" / "functions.json")


@pytest.fixture(scope="module")
def offered() -> Iterator[Any]:
    """Imports modules as a candidate does: the folder of tools is all that it sees of ours."""
    patch = pytest.MonkeyPatch()
    patch.syspath_prepend(str(TOOLS))
    patch.setenv(KERNEL_VARIABLE, str(SHIPPED))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and Path(
            str(sys.modules[name].__file__)
        ).is_relative_to(TOOLS):
            del sys.modules[name]
    patch.undo()


@pytest.fixture(scope="module")
def tools(offered: Any) -> Any:
    return offered("tools_wrapper").Tools()


def test_ephem(tools: Any, vectors: Any) -> None:
    for case in vectors["ephem"]:
        r, v = tools.ephem(case["planet_id"], case["mjd_utc"])
        assert r == pytest.approx(case["de440"]["r"], abs=1e-3)
        assert v == pytest.approx(case["de440"]["v"], abs=1e-9)
        r, v = tools.ephem_batch(int(case["planet_id"]), [case["mjd_utc"]])
        assert r[0] == pytest.approx(case["de440"]["r"], abs=1e-3)
        assert v[0] == pytest.approx(case["de440"]["v"], abs=1e-9)


def test_time(vectors: Any) -> None:
    for case in vectors["utc_to_tdb_seconds"]:
        assert clock.tdb_seconds(case["mjd_utc"]) == pytest.approx(case["et"], abs=1e-4)
        batch = clock.tdb_seconds_batch(np.array([case["mjd_utc"]]))
        assert batch[0] == pytest.approx(case["et"], abs=1e-4)


def test_lambert(tools: Any, vectors: Any) -> None:
    kinds = {"ValueError": ValueError, "RuntimeError": RuntimeError}
    for case in vectors["lambert"]:
        given = [np.array(case["r0"]), np.array(case["r1"]), case["tof"], case["mu"]]
        branch = {name: case[name] for name in ("prograde", "lowpath", "M")}
        error = case["expected"].get("error")
        if error is not None:
            with pytest.raises(kinds[error]):
                tools.lambert(*given, **branch)
            assert np.isnan(tools.lambert_batch(*given, **branch)[0]).all()
            continue
        for solve in (tools.lambert, tools.lambert_batch):
            v0, v1 = solve(*given, **branch)
            assert v0 == pytest.approx(case["expected"]["v0"], abs=1e-8)
            assert v1 == pytest.approx(case["expected"]["v1"], abs=1e-8)


def test_propagation(tools: Any, vectors: Any) -> None:
    for case in vectors["propagate_two_body"]:
        given = (case["r0"], case["v0"], case["tof"], case["mu"])
        for solve in (tools.propagate_two_body, tools.propagate_two_body_batch):
            r, v = solve(*given)
            assert distance(r, case["expected"]["r"]) < 1e-9
            assert distance(v, case["expected"]["v"]) < 1e-9


def distance(found: Any, expected: Any) -> float:
    return float(np.linalg.norm(found - np.array(expected)) / np.linalg.norm(expected))


def test_flybys(tools: Any, vectors: Any) -> None:
    for case in vectors["gravity_assist"]:
        given = [case[name] for name in ("v_in", "v_planet", "mu_p", "r_p", "psi")]
        assert tools.gravity_assist(*given) == pytest.approx(case["expected"], abs=1e-10)
    for case in vectors["powered_flyby"]:
        given = [case[name] for name in ("v_arr", "v_dep", "v_planet", "mu_p", "min_r_p")]
        r_p, dv, feasible = tools.powered_flyby(*given)
        assert feasible is case["expected"]["feasible"]
        assert r_p == pytest.approx(case["expected"]["r_p"], rel=1e-9)
        # A burn of 1e-11 km/s is the difference of two speeds of 10 km/s: rounding noise.
        assert dv == pytest.approx(case["expected"]["dv"], rel=1e-9, abs=1e-13)


def test_boundary_costs(vectors: Any) -> None:
    for case in vectors["piecewise_linear"]:
        cost = flyby.piecewise_linear(case["breakpoints"], case["x"])
        assert cost == pytest.approx(case["expected"], abs=1e-12)
    for case in vectors["periapsis_maneuver"]:
        body = case["planet_id"]
        cost = flyby.periapsis_manoeuvre(
            case["vinf"], MU[body], RADIUS[body], case["h_factor"], case["T_days"]
        )
        assert cost == pytest.approx(case["expected"], abs=1e-12)


def test_centre_of_the_ephemeris(tools: Any, offered: Any) -> None:
    r_earth, v_earth = tools.ephem(3, 50000.25)
    r_mars, v_mars = tools.ephem("4", 50000.25)
    r, v = tools.ephem("4", 50000.25, center=3)
    assert r == pytest.approx(r_mars - r_earth)
    assert v == pytest.approx(v_mars - v_earth)
    r_many, _ = tools.ephem_batch("4", np.full((2, 3), 50000.25), center="3")
    assert r_many.shape == (2, 3, 3)
    assert r_many[1, 2] == pytest.approx(r, abs=1e-3)
    assert np.array_equal(tools.ephem("0", 50000.25), np.zeros((2, 3)))
    planet_state = offered("TrajectoryToolKit.Ephs").planet_state
    assert planet_state("4", 50000.25)[0] == pytest.approx(r_mars)
    assert planet_state("4", 50000.25, center="3")[0] == pytest.approx(r)
    with pytest.raises(ValueError, match="frame"):
        planet_state("4", 50000.25, frame="ECLIPJ2000")


def test_published_names_do_the_same(tools: Any, offered: Any) -> None:
    mu = offered("problem_config").MU_SUN
    r0, r1, tof = np.array([1.5e8, 1e7, 5e6]), np.array([-2.1e8, 1.9e8, -3e7]), 4e8
    old = offered("TrajectoryToolKit.OrbDyn.lambert")
    many = old.lambert_all_solutions(mu, r0, r1, tof)
    assert [(M, low) for M, low, _, _ in many[:3]] == [(0, None), (1, True), (1, False)]
    for M, low, v0, v1 in many:
        wanted = tools.lambert(r0, r1, tof, mu, lowpath=low is not False, M=M)
        assert np.array_equal(wanted, (v0, v1))
        assert np.array_equal(old.lambert(mu, r0, r1, tof, M, True, low is not False), wanted)
    assert len(list(old.lambert_solutions(mu, r0, r1, tof, max_revs=1))) == 3
    farnocchia_rv = offered("TrajectoryToolKit.OrbDyn.prop").farnocchia_rv
    for _, _, v0, _ in many:
        assert farnocchia_rv(mu, r0, v0, tof)[0] == pytest.approx(r1, rel=1e-9, abs=1.0)


def test_gravity_functions_agree_with_one_another(offered: Any) -> None:
    gravity = offered("TrajectoryToolKit.OrbDyn.gravity")
    v_in, v_planet, mu, r_p = [12.0, 31.0, 3.0], [1.0, 29.0, 1.0], 3.986e5, 8000.0
    v_out = gravity.gravity_assists(v_in, v_planet, mu, r_p, 0.7)
    v_inf = float(np.linalg.norm(np.subtract(v_in, v_planet)))
    assert gravity.ga_v2rp(v_in, v_out, v_planet, mu) == pytest.approx(r_p)
    delta = gravity.ga_rp2delta(r_p, v_inf, mu)
    assert gravity.ga_delta2rp(delta, v_inf, mu) == pytest.approx(r_p)
    assert gravity.ga_delta2rp(0.0, v_inf, mu) == np.inf
    unit = np.sqrt(mu)  # of speed, if lengths stay in km
    scaled = gravity.gravity_assists_normalized(
        np.divide(v_in, unit), np.divide(v_planet, unit), r_p, 0.7
    )
    assert scaled * unit == pytest.approx(v_out)


def test_flyby_altitudes(offered: Any) -> None:
    altitude = offered("problem_config").default_flyby_altitude
    instance = {"flyby": {"min_altitude_km": {"5": 14000}}}
    assert altitude(instance, "5") == altitude(instance, 5) == 14000.0
    assert altitude(instance, "2") == 200.0


def test_without_instance_or_kernel_the_tools_say_what_is_missing(
    offered: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SIMPLETES_ASTRODYNAMICS_INSTANCE", raising=False)
    with pytest.raises(RuntimeError, match="SIMPLETES_ASTRODYNAMICS_INSTANCE"):
        offered("problem_config").load_problem_for_candidate("candidate.py")
    monkeypatch.delenv(KERNEL_VARIABLE)
    offered_kernel = offered("orbits.ephemeris").offered
    offered_kernel.cache_clear()
    with pytest.raises(RuntimeError, match=KERNEL_VARIABLE):
        offered_kernel()
