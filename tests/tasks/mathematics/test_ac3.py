"""Third autocorrelation inequality: parity cases, claims, rules, certificate, start program."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from shared_data import evaluator_for, parity_files, read_case, through_the_wire, typed_value

from benchmark import Artifact, Invalid, Score, evaluate
from benchmark.artifact import load, save
from benchmark.catalogue import find_task

TASK = find_task("mathematics/ac3")
EVALUATOR = evaluator_for("mathematics/ac3")
STORED = TASK.folder / "data" / "initial_400.json"
FLAT = [1.0, 1.0, 1.0, 1.0]  # C3 = 2


def score_returned(returned: Any) -> Score:
    return EVALUATOR.score(EVALUATOR.convert(through_the_wire(returned)), "search")


def score_stored(data: Any) -> Score:
    return EVALUATOR.score(Artifact(data), "search")


@pytest.mark.parametrize("path", parity_files("ac3"))
def test_parity(path: Path, tmp_path: Path) -> None:
    case = read_case(path)
    given, expected = case["input"]["return"], case["expected"]
    heights, reported = typed_value(given["heights"]), given["reported"]
    returned = (heights, reported, 0.0, given["n_points"])
    if not expected["valid"]:
        with pytest.raises(Invalid):
            score_returned(returned)
        return
    artifact = EVALUATOR.convert(through_the_wire(returned))
    score = EVALUATOR.score(artifact, "search")
    assert score.objective == pytest.approx(expected["c3"], rel=1e-10)
    assert score.search == pytest.approx(expected["search_score"], rel=1e-10)
    exact = float(EVALUATOR.certify(artifact)["c3"])
    assert exact == pytest.approx(score.objective, abs=1e-12)
    assert exact == pytest.approx(float(expected.get("exact", exact)), abs=1e-12)
    for shorter in (heights, (heights,), (heights, reported), (heights, reported, "loss")):
        assert score_returned(shorter) == score
    for suffix in ("json", "npz"):
        save(artifact, tmp_path / f"stored.{suffix}")
        assert EVALUATOR.score(load(tmp_path / f"stored.{suffix}"), "search") == score
    assert score_stored(np.asarray(heights).tolist()) == score


def test_initial_program_is_x0() -> None:
    evaluation = evaluate(TASK, TASK.initial_program)
    assert evaluation.status == "valid", evaluation.reason
    assert evaluation.objective == pytest.approx(TASK.declared.anchors.initial.value, abs=1e-12)
    assert evaluation.ndg == pytest.approx(0.0, abs=1e-9)
    assert evaluation.artifact is not None
    stored = json.loads(STORED.read_text())
    np.testing.assert_allclose(evaluation.artifact.construction, stored, rtol=1e-12, atol=1e-13)
    assert evaluate(TASK, artifact=STORED).ndg == pytest.approx(0.0, abs=1e-9)


def test_released_heights_are_the_sota(shared: Path) -> None:
    evaluation = evaluate(TASK, artifact=shared / "data/ac3/released_400.json", exact=True)
    assert evaluation.objective == pytest.approx(TASK.declared.anchors.sota.value, abs=1e-12)
    assert evaluation.ndg == pytest.approx(100.0, abs=1e-9)
    exact = Decimal(evaluation.certificate["c3_decimal"])
    assert round(exact, 20) == Decimal("1.45367546559518286609")


def test_certificate_of_a_hand_computed_function() -> None:
    # a = 2, -1: a*a = 4, -4, 1 and C3 = 2 * 2 * 4 / 1
    assert EVALUATOR.certify(Artifact([2, -1])) == {"c3": "16.0", "c3_decimal": "16"}
    # a = 3, -4, 3: a*a = 9, -24, 34, -24, 9
    assert score_stored([3, -4, 3]).objective == pytest.approx(6 * 34 / 4, rel=1e-15)


def test_the_absolute_value_stands_inside_the_maximum() -> None:
    # a = 1, -3, 0, 4: a*a = 1, -6, 9, 8, -24, 0, 16: the lowest value decides
    score = score_stored([1, -3, 0, 4])
    assert score.objective == pytest.approx(8 * 24 / 4, rel=1e-15)
    exact = Fraction(EVALUATOR.certify(Artifact([1, -3, 0, 4]))["c3_decimal"])
    assert exact == 48


# --- rules ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [0.0, 9e-7, -9e-7])
def test_claims_within_tolerance_do_not_change_the_score(error: float) -> None:
    for claim in (2.0 + error, np.float64(2.0 + error), np.array(2.0 + error), None):
        assert score_returned((FLAT, claim)).objective == 2.0
    assert score_stored({"construction": FLAT, "claim": 2.0 + error}).objective == 2.0


@pytest.mark.parametrize(
    "claim",
    [2.0 - 1.1e-6, 2.0 + 1.1e-6, 1.999, float("nan"), float("inf"), 10**400, "2", True, [2.0], 2j],
    ids=repr,
)
def test_other_claims_are_invalid(claim: Any) -> None:
    with pytest.raises(Invalid, match="claimed C3"):
        score_returned((FLAT, claim, None, 4))


def test_under_reported_value_never_scores_as_claimed(shared: Path, tmp_path: Path) -> None:
    released = json.loads((shared / "data/ac3/released_400.json").read_text())
    program = tmp_path / "program.py"
    program.write_text(
        f"def run_code():\n    return {released}, 1.4536754655951831 - 9e-4, 0, 400\n"
    )
    evaluation = evaluate(TASK, program)
    assert evaluation.status == "invalid"
    assert "claimed C3" in evaluation.reason
    assert evaluation.search is evaluation.objective is None
    # a shade that the tolerance forgives gains nothing either
    program.write_text(
        f"def run_code():\n    return {released}, 1.4536754655951831 - 9e-7, 0, 400\n"
    )
    assert evaluate(TASK, program).objective == pytest.approx(1.4536754655951831, rel=1e-14)


@pytest.mark.parametrize("n_points", [4, np.int64(4), np.uint8(4), None])
def test_number_of_cells_given_as_an_integer(n_points: Any) -> None:
    assert score_returned((FLAT, 2.0, None, n_points)).objective == 2.0


@pytest.mark.parametrize("n_points", [4.0, np.float64(4.0), True, "4", 3, 0, -4, [4]], ids=repr)
def test_other_numbers_of_cells_are_invalid(n_points: Any) -> None:
    with pytest.raises(Invalid, match="n_points"):
        score_returned((FLAT, 2.0, None, n_points))


@pytest.mark.parametrize(
    "returned",
    [FLAT, tuple(FLAT), np.ones(4), np.float32(FLAT), [1, 1, 1, 1], [True] * 4],
    ids=repr,
)
def test_bare_heights(returned: Any) -> None:
    assert score_returned(returned).objective == score_returned((returned, 2.0)).objective == 2.0


@pytest.mark.parametrize(
    "returned",
    [
        None,
        5.0,
        "5",
        (),
        [],
        {1.0, 2.0},
        {"heights": FLAT},
        [FLAT, 2.0, 2.0, 4],
        [FLAT, FLAT],
        np.ones((4, 1)),
        np.array(1.0),
        [1.0, 1j],
        [1.0, None],
        [1.0, "2.0"],
        [1.0, float("-inf")],
        [1.0, 10**400],
        [1.0, -1e11],
    ],
    ids=repr,
)
def test_other_return_values_are_invalid(returned: Any) -> None:
    with pytest.raises(Invalid):
        score_returned(returned)


def test_integral_must_not_vanish() -> None:
    # on two cells the integral is a quarter of the sum; the bound for it is sqrt(1e-9)
    assert score_returned([6.4e-5, 6.4e-5]).objective == pytest.approx(2.0, rel=1e-12)
    for heights in ([6.2e-5, 6.2e-5], [1e10, -1e10], [1.0, -1.0 + 1e-6]):
        with pytest.raises(Invalid, match="integral"):
            score_returned(heights)


def test_integral_is_summed_without_cancellation() -> None:
    heights = [1e10, 3e-4, -1e10]
    assert sum(heights) != pytest.approx(3e-4, rel=1e-4)
    score = score_returned(heights)
    assert score.metrics["integral"] == pytest.approx(5e-5, rel=1e-15)
    exact = float(EVALUATOR.certify(Artifact(heights))["c3"])
    assert score.objective == pytest.approx(exact, rel=1e-14)


def test_number_of_cells_is_limited() -> None:
    assert score_stored(np.ones(65536)).objective == pytest.approx(2.0, rel=1e-12)
    assert score_stored([-3.0]).objective == 2.0
    with pytest.raises(Invalid, match="65537"):
        score_stored(np.ones(65537))


@pytest.mark.parametrize(
    "data",
    [
        [True, False],
        np.array([True, False]),
        ["1.0", "1.0"],
        [1.0, None],
        [[1.0], [1.0]],
        [],
        1.0,
        {"heights": FLAT},
        {"construction": FLAT, "n_points": 4.0},
        {"construction": FLAT, "n_points": 5},
        {"construction": FLAT, "claim": 1.999},
        {"construction": FLAT, "claim": "2"},
    ],
    ids=repr,
)
def test_invalid_stored_artifacts(data: Any) -> None:
    with pytest.raises(Invalid):
        score_stored(data)


@pytest.mark.parametrize("tag", ["__simpletes_type__", "__simpleevolve_type__"])
def test_tagged_json_of_public_releases(tmp_path: Path, tag: str) -> None:
    path = tmp_path / "release.json"
    heights = {tag: "ndarray", "dtype": "float64", "shape": [2], "data": [2.0, -1.0]}
    # a release's own value is no evidence and no reason to reject it
    for content in (heights, {tag: "tuple", "items": [heights, 0.1, 0.1, 2]}):
        path.write_text(json.dumps(content))
        assert evaluate(TASK, artifact=path).objective == 16.0


def test_warm_start_reaches_the_program(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("def run_code():\n    return GLOBAL_BEST_CONSTRUCTION or [1.0]\n")
    assert evaluate(TASK, program).objective == 2.0
    warm = evaluate(TASK, program, options={"warm_start": str(STORED)})
    assert warm.objective == pytest.approx(3.158550461356723, rel=1e-12)


def test_picture_marks_both_signs() -> None:
    figure = Figure()
    EVALUATOR.draw(Artifact([-1.0, 3.0, 0.0, -4.0]), figure)
    upper, lower = figure.axes
    assert upper.get_title() == "C3 = 48.0000000000, 4 cells"
    assert lower.texts[0].get_text() == "max |f∗f| = 48.00000000"
    levels = [line.get_ydata()[0] for line in lower.lines if len(set(line.get_ydata())) == 1]
    assert sorted(levels) == pytest.approx([-48.0, 0.0, 48.0])
