"""Trajectories of the parity folder: verdicts, delta-v budgets, and anchors of the scale."""

from __future__ import annotations

import csv
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from shared_data import parity_files, read_case, require_shared

from benchmark import evaluate
from benchmark.artifact import Artifact
from benchmark.catalogue import find_task
from benchmark.evaluator import Invalid, Score
from tasks.astrodynamics.flight import Flight, fly
from tasks.astrodynamics.tools.orbits.ephemeris import Ephemeris
from tasks.astrodynamics.tour import Tour
from tasks.astrodynamics.trajectory import parse

TASKS = ("cassini", "galileo", "mariner_10", "rosetta", "voyager_2")
NOT_TRAJECTORIES = ("functions", "ephemeris_anchors")
CASES = [
    case
    for case in parity_files("astrodynamics")
    if case.values[0] is None or case.id not in NOT_TRAJECTORIES
]


def valid_cases() -> list[Any]:
    return [
        case
        for case in CASES
        if case.values[0] is None or json.loads(case.values[0].read_text())["expected"]["valid"]
    ]


def verdict(path: Path, tour: Callable[..., Tour]) -> tuple[Score | str, Any]:
    """The score or the reason, and what was expected."""
    case = read_case(path)
    artifact = Artifact(case["input"]["trajectory"])
    try:
        return tour(case["task"]).score(artifact, "search"), case["expected"]
    except Invalid as failure:
        return str(failure), case["expected"]


def rule(reason: str) -> str:
    return reason.partition(":")[0]


@pytest.mark.parametrize("path", CASES)
def test_verdict(path: Path, tour: Callable[..., Tour]) -> None:
    found, expected = verdict(path, tour)
    if expected["valid"]:
        assert isinstance(found, Score), found
    else:
        assert isinstance(found, str), f"valid with {found}"
        assert rule(found) == rule(expected["reason_class"])
        assert len(found) > len(rule(found)) + 10  # says more than the rule's name


@pytest.mark.parametrize("path", valid_cases())
def test_budget(path: Path, tour: Callable[..., Tour]) -> None:
    found, expected = verdict(path, tour)
    assert isinstance(found, Score)
    assert found.objective == pytest.approx(expected["total_dv"], abs=1e-6)
    assert found.search == pytest.approx(expected["score"], abs=1e-6)
    for part in ("start_dv", "end_dv", "ga_dv", "dsm_dv"):
        assert found.metrics[part] == pytest.approx(expected[part], abs=1e-6)
    assert found.metrics["num_GA"] == len(expected["flybys"])
    assert found.metrics["num_DSM"] == len(expected["dsm_dv_list"])


@pytest.mark.parametrize("path", valid_cases())
def test_residuals_and_flybys(path: Path, tour: Callable[..., Tour]) -> None:
    found, expected = verdict(path, tour)
    assert isinstance(found, Score)
    case = read_case(path)
    evaluator = tour(case["task"])
    flight = fly_case(case, evaluator, evaluator.kernel.ephemeris)
    noise = {"km": 1e-3, "kms": 1e-9}  # what rounding may add to a residual of zero
    for name in (
        "max_segment_pos_residual_km",
        "max_segment_vel_residual_kms",
        "max_planet_pos_residual_km",
    ):
        tolerance = noise[name.rpartition("_")[2]]
        assert found.metrics[name] == pytest.approx(expected[name], rel=1e-3, abs=tolerance)
    for flyby, wanted in zip(flight.flybys, expected["flybys"], strict=True):
        assert flyby.node == wanted["node"]
        assert flyby.dv == pytest.approx(wanted["dv"], abs=1e-6)
        assert flyby.altitude_km == pytest.approx(wanted["altitude_km"], rel=1e-5)
    dsm = [dv for _, dv in flight.manoeuvres]
    assert dsm == pytest.approx(expected["dsm_dv_list"], abs=1e-6)


def fly_case(case: Any, evaluator: Tour, ephemeris: Ephemeris) -> Flight:
    nodes = parse(case["input"]["trajectory"], evaluator.mission)
    return fly(nodes, evaluator.mission, ephemeris)


@pytest.mark.parametrize("path", CASES)
def test_verdict_and_cost_do_not_depend_on_the_kernel(
    path: Path, tour: Callable[..., Tour], de421: Ephemeris
) -> None:
    case = read_case(path)
    evaluator, expected = tour(case["task"]), case["expected"]
    if expected["valid"]:
        flight = fly_case(case, evaluator, de421)
        assert flight.total_dv == pytest.approx(expected["total_dv_de421"], abs=1e-7)
        return
    with pytest.raises(Invalid) as failure:
        fly_case(case, evaluator, de421)
    assert rule(str(failure.value)) == rule(expected["reason_class"])


@pytest.fixture(scope="module")
def de421() -> Ephemeris:
    """The older ephemeris inside the wheel skyfield-data."""
    spec = importlib.util.find_spec("skyfield_data")
    if spec is None or spec.origin is None:
        pytest.skip("pip install skyfield-data to compare with DE421")
    return Ephemeris(Path(spec.origin).parent / "data" / "de421.bsp")


@pytest.mark.parametrize(
    ("case", "ndg"),
    [
        ("mariner_10_published_sota", 100.0),
        ("rosetta_published_sota", 100.0),
        ("voyager_2_published_sota", 100.0),
        ("mariner_10_refined", 99.991),
    ],
)
def test_published_tours_lie_on_their_anchor(case: str, ndg: float, shared: Path) -> None:
    content = json.loads((shared / "parity" / "astrodynamics" / f"{case}.json").read_text())
    result = evaluate(content["task"], artifact=Artifact(content["input"]["trajectory"]))
    assert result.ndg_raw == pytest.approx(ndg, abs=1e-3)
    if ndg == 100.0:
        sota = find_task(content["task"]).declared.anchors.sota.value
        assert result.objective == pytest.approx(sota, abs=1e-7)


@pytest.mark.parametrize("task", TASKS)
def test_anchors_are_the_registry_s(task: str) -> None:
    with (require_shared() / "data" / "paper" / "anchors_reconciled.csv").open() as file:
        (row,) = (row for row in csv.DictReader(file) if row["task_id"] == task)
    anchors = find_task(task).declared.anchors
    assert anchors.initial.value == float(row["recommended_x0"])
    assert anchors.initial.status == row["recommended_x0_status"]
    assert anchors.sota.value == float(row["recommended_sota"])
    assert anchors.sota.status == row["recommended_sota_status"]


@pytest.mark.parametrize("task", TASKS)
def test_instance_is_the_one_of_the_specification(task: str) -> None:
    given = require_shared() / "data" / "astrodynamics" / "problems" / f"{task}.json"
    own = find_task(task).folder / "data" / "problem.json"
    assert json.loads(own.read_text()) == json.loads(given.read_text())
