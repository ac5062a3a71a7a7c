"""The rules after the schema, one by one: what is refused, in which order, what is marked."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy

import numpy as np
import pytest
from tour_cases import Trajectory, leg, node, reason, scored

from tasks.astrodynamics.flight import Flight, Residuals
from tasks.astrodynamics.tools.orbits.ephemeris import Ephemeris
from tasks.astrodynamics.tools.orbits.kepler import propagate
from tasks.astrodynamics.tour import Tour
from tasks.astrodynamics.trajectory import Node, parse


def test_valid_and_cheap(mercury: Tour, direct: Trajectory, by_venus: Trajectory) -> None:
    assert scored(mercury, direct).metrics["num_GA"] == 0
    score = scored(mercury, by_venus)
    assert score.search == pytest.approx(2.0 / (1.0 + score.objective))  # type: ignore[operator]
    assert score.objective == pytest.approx(
        sum(score.metrics[part] for part in ("start_dv", "end_dv", "ga_dv", "dsm_dv"))
    )
    assert score.metrics["duration_days"] == pytest.approx(42137.28 - 41946.3)


@pytest.mark.parametrize("off", [9.99e3, 1.001e4])
def test_planet_position(mercury: Tour, direct: Trajectory, off: float) -> None:
    """Just inside and outside of the tolerance; the arcs then miss by as much."""
    direct[1]["r"][2] += off
    if off < 1e4:
        assert scored(mercury, direct).metrics["max_planet_pos_residual_km"] == pytest.approx(off)
    else:
        assert reason(mercury, direct).startswith("planet position node 1: r is 10010 km from Merc")


def test_epochs_outside_the_ephemeris(mercury: Tour, direct: Trajectory) -> None:
    direct[1]["time"] = 99999.0
    found = reason(mercury, direct)
    assert found.startswith("planet position node 1: epoch MJD 99999.0 is outside de440")
    direct[0]["time"] = -1e300
    assert reason(mercury, direct).startswith("planet position node 0")


def test_segments(mercury: Tour, direct: Trajectory) -> None:
    fast = deepcopy(direct)
    fast[0]["v_after"][0] += 0.01  # a hundredth of a km/s for 146 days
    assert reason(mercury, fast).startswith("segment position 0: the two-body arc from node 0 ends")
    for off, fine in ((0.0099, True), (0.0101, False)):
        late = deepcopy(direct)
        late[1]["v_before"][1] += off
        if fine:
            residual = scored(mercury, late).metrics["max_segment_vel_residual_kms"]
            assert residual == pytest.approx(off)
        else:
            assert reason(mercury, late).startswith("segment velocity 0: ")


@pytest.mark.parametrize(
    ("r", "v"),
    [
        ([0.0, 0.0, 0.0], [1.0, 2.0, 3.0]),
        ([1e-300, 0.0, 0.0], [1.0, 2.0, 3.0]),
        ([1e308, 1e308, 1e308], [1.0, 2.0, 3.0]),
        ([1e8, 0.0, 0.0], [1e200, 0.0, 0.0]),
        ([1e8, 0.0, 0.0], [0.0, 0.0, 0.0]),
        ([1e8, 0.0, 0.0], [-3.0, 0.0, 0.0]),
        ([1e8, 0.0, 0.0], [-3e5, 0.0, 0.0]),
        ([5e-324, 5e-324, 0.0], [5e-324, 0.0, 1e-320]),
    ],
)
def test_absurd_manoeuvres_are_refused_and_never_crash(
    mercury: Tour, direct: Trajectory, r: list[float], v: list[float]
) -> None:
    """A manoeuvre at an impossible place: its first arc is fitted, its second starts from there."""
    dsm = {**node("DSM", 42050.0, "0"), "r": r, "v_before": v, "v_after": v}
    found = reason(mercury, [direct[0], dsm, direct[1]])
    assert found.startswith("segment position 0: ")
    backwards = [{**dsm, "type": "start", "planet_id": "3", "time": 41989.0}, direct[1]]
    assert reason(mercury, backwards).startswith("planet position node 0: ")


def passing_mars(turn: float, de440: Ephemeris) -> Trajectory:
    """Earth to Mars, a turn by so many radians there, and on to wherever that leads."""
    start, mars = leg([node("start", 53000.0, "3"), node("GA", 53250.0, "4")], de440)
    mars_v = np.array(de440.state("4", 53250.0)[1])
    incoming = np.array(mars["v_before"]) - mars_v
    across = np.cross(incoming, [0.0, 0.0, 1.0])
    across *= np.linalg.norm(incoming) / np.linalg.norm(across)
    mars["v_after"] = (mars_v + math.cos(turn) * incoming + math.sin(turn) * across).tolist()
    tof = (56875.3791666669 - 53250.0) * 86400.0
    r, v = propagate(mars["r"], mars["v_after"], tof, 132712440018.0)
    end = {**node("end", 56875.3791666669, "0"), "r": r, "v_before": v, "v_after": v}
    return [start, mars, end]


def test_flybys(tour: Callable[..., Tour], de440: Ephemeris) -> None:
    """Flybys are judged after the arcs and before start and end, which are wrong here."""
    rosetta = tour("rosetta")
    straight = reason(rosetta, passing_mars(0.0, de440))
    assert straight.startswith("flyby periapsis node 1: the flyby of Mars turns nothing")
    low = reason(rosetta, passing_mars(2.5, de440))
    assert low.startswith("flyby periapsis node 1: the flyby of Mars needs the periapsis radius")
    assert low.endswith("below the lowest 3696.2 km")
    fine = reason(rosetta, passing_mars(0.05, de440))
    assert fine.startswith("boundary reference velocity: v_after of the end is")


def test_exact_epoch_and_given_state(
    tour: Callable[..., Tour], trajectory_of: Callable[[str], Trajectory]
) -> None:
    rosetta = tour("rosetta")
    nodes = trajectory_of("rosetta_published_sota")
    for days, fine in ((0.0099, True), (0.0101, False)):
        moved = deepcopy(nodes)
        shift = days * 86400.0
        end = moved[-1]
        end["time"] += days
        # The spacecraft is moved along, so that the last arc still ends at the node.
        end["r"] = [x + v * shift for x, v in zip(end["r"], end["v_before"], strict=True)]
        if fine:
            found = reason(rosetta, moved)
            assert found.startswith("boundary state position: r of the end is")
        else:
            assert reason(rosetta, moved).startswith(
                "boundary time window: the end at MJD 56875.38"
            )
    shifted = deepcopy(nodes)
    shifted[-1]["r"][0] += 9.9e3
    assert scored(rosetta, shifted).objective == pytest.approx(1.552967674955, abs=1e-9)


def test_windows_include_their_bounds(mercury: Tour, de440: Ephemeris) -> None:
    for start, end, fine in (
        (41939.0, 42100.0, True),
        (42039.0, 42235.0, True),
        (41938.9999, 42100.0, False),
        (42039.0, 42235.0001, False),
    ):
        trajectory = leg([node("start", start, "3"), node("end", end, "1")], de440)
        if fine:
            scored(mercury, trajectory)
        else:
            assert reason(mercury, trajectory).startswith("boundary time window: the ")


def test_reference_velocities(mercury: Tour, direct: Trajectory) -> None:
    for index, key in ((0, "v_before"), (1, "v_after")):
        for off, fine in ((0.0099, True), (0.0101, False)):
            moved = deepcopy(direct)
            moved[index][key][0] += off
            if fine:
                score = scored(mercury, moved)
                residual = score.metrics["max_reference_velocity_residual_kms"]
                assert residual == pytest.approx(off)
                assert score.metrics["uses_tolerance"] == 1.0
                assert "strict_dv" not in score.metrics
                assert "no strict_dv" in score.feedback
            else:
                found = reason(mercury, moved)
                assert found.startswith(f"boundary reference velocity: {key} of the ")


def test_a_periapsis_cost_takes_the_planet_s_own_velocity(
    tour: Callable[..., Tour], trajectory_of: Callable[[str], Trajectory]
) -> None:
    cassini = tour("cassini")
    nodes = trajectory_of("cassini_initial")
    before = scored(cassini, nodes)
    nodes[-1]["v_after"][0] += 0.009
    after = scored(cassini, nodes)
    assert after.objective == before.objective
    assert after.metrics["uses_tolerance"] == 1.0


def test_the_cost_of_the_start_takes_the_node_s_velocities(
    tour: Callable[..., Tour], trajectory_of: Callable[[str], Trajectory]
) -> None:
    galileo = tour("galileo")
    nodes = trajectory_of("galileo_initial")
    before = scored(galileo, nodes).metrics["start_dv"]
    excess = np.subtract(nodes[0]["v_after"], nodes[0]["v_before"])
    towards = 0.009 * excess / np.linalg.norm(excess)
    nodes[0]["v_before"] = np.add(nodes[0]["v_before"], towards).tolist()
    assert scored(galileo, nodes).metrics["start_dv"] == pytest.approx(before - 0.009)


def test_strictness_is_configurable(
    tour: Callable[..., Tour], trajectory_of: Callable[[str], Trajectory]
) -> None:
    nodes = trajectory_of("mariner_10_published_sota")
    strict = scored(tour("mariner_10"), nodes)
    assert strict.metrics["uses_tolerance"] == 1.0
    assert "strict_dv" not in strict.metrics
    options = {"strict_position_km": "6000", "strict_velocity_kms": "0.009"}
    generous = scored(tour("mariner_10", **options), nodes)
    assert generous.metrics["strict_dv"] == generous.objective == strict.objective
    assert generous.metrics["uses_tolerance"] == 1.0
    tight = scored(tour("mariner_10"), trajectory_of("mariner_10_refined"))
    assert tight.metrics["uses_tolerance"] == 0.0
    assert tight.metrics["strict_dv"] == tight.objective


def test_stacked_flybys_are_valid_but_marked(
    tour: Callable[..., Tour], trajectory_of: Callable[[str], Trajectory]
) -> None:
    score = scored(tour("mariner_10"), trajectory_of("exploit_stacked_flyby_mariner_10"))
    assert score.metrics["stacked_flyby"] == 1.0
    assert "strict_dv" not in score.metrics
    plain = scored(tour("mariner_10"), trajectory_of("mariner_10_initial"))
    assert plain.metrics["stacked_flyby"] == 0.0


@pytest.mark.parametrize(
    ("gap", "manoeuvre", "stacked"), [(0.5, False, True), (0.5, True, True), (1.5, False, False)]
)
def test_what_counts_as_stacked(
    mercury: Tour, by_venus: Trajectory, gap: float, manoeuvre: bool, stacked: bool
) -> None:
    start, venus, end = parse(by_venus, mercury.mission)
    later = Node("GA", venus.time + gap, "2", venus.r, venus.v_before, venus.v_after)
    burn = Node("DSM", venus.time + gap / 2, "0", venus.r, venus.v_before, venus.v_after)
    nodes = (start, venus, *([burn] if manoeuvre else []), later, end)
    flight = Flight(nodes, 0.0, 0.0, (), (), Residuals(0.0, 0.0, 0.0, 0.0))
    assert flight.stacked is stacked


def test_a_flyby_of_the_start_right_after_it_is_stacked(mercury: Tour) -> None:
    zero = (0.0, 0.0, 0.0)
    nodes = tuple(
        Node(kind, time, body, zero, zero, zero)
        for kind, time, body in (("start", 0.0, "3"), ("GA", 0.1, "3"), ("end", 50.0, "5"))
    )
    assert Flight(nodes, 0.0, 0.0, (), (), Residuals(0.0, 0.0, 0.0, 0.0)).stacked


def test_texts_of_a_score(
    tour: Callable[..., Tour], trajectory_of: Callable[[str], Trajectory]
) -> None:
    score = scored(tour("voyager_2"), trajectory_of("voyager_2_published_sota"))
    assert "3.430214 km/s under DE440" in score.feedback
    assert "Earth-Jupiter-Saturn-Uranus-Neptune in 4" in score.feedback
    assert score.attachments["ephemeris"] == (
        "DE440: de440_1970_2030.bsp, sha256 "
        "27a41209a4df380ace5d3c54650efce1f85f6d3d3021ba6654e588eb2c77d705"
    )
    lines = score.attachments["nodes"].splitlines()
    assert len(lines) == 5
    assert lines[0].startswith("0 start Earth MJD 43389.115144, dv 3.430214 km/s")
    assert lines[1].endswith("altitude 877790.8 km")
