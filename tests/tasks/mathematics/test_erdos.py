"""Erdős minimum overlap: parity cases, rules of the returned tuple, certificate, start program."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from shared_data import evaluator_for, parity_files, read_case, through_the_wire, typed_value

from benchmark import artifact as artifacts
from benchmark.artifact import Artifact
from benchmark.catalogue import find_task
from benchmark.evaluation import evaluate
from benchmark.evaluator import Invalid, Score

TASK = find_task("mathematics/erdos")
EVALUATOR = evaluator_for("mathematics/erdos")
HALF = [0.5] * 10


def score_returned(returned: Any) -> Score:
    return EVALUATOR.score(EVALUATOR.convert(through_the_wire(returned)), "search")


def score_stored(data: Any) -> Score:
    return EVALUATOR.score(Artifact(data), "search")


@pytest.mark.parametrize("path", parity_files("erdos"))
def test_parity(path: Path, tmp_path: Path) -> None:
    case = read_case(path)
    given, expected = case["input"]["return"], case["expected"]
    returned = (typed_value(given["h_values"]), given["c5_bound"], given["n_points"])
    if not expected["valid"]:
        with pytest.raises(Invalid):
            score_returned(returned)
        return
    artifact = EVALUATOR.convert(through_the_wire(returned))
    score = EVALUATOR.score(artifact, "search")
    assert score.objective == pytest.approx(expected["c5"], rel=1e-10)
    assert score.search == pytest.approx(expected["search_score"], rel=1e-10)
    assert score.metrics["c5"] == score.objective
    certificate = EVALUATOR.certify(artifact)
    assert float(certificate["c5"]) == pytest.approx(score.objective, abs=1e-12)
    if "exact_c5_of_given_vector" in expected:
        exact = float(certificate["c5_of_given_heights"])
        assert exact == pytest.approx(float(expected["exact_c5_of_given_vector"]), abs=1e-12)
    for claim in (None, returned[1]):
        assert score_returned((returned[0], claim, np.int64(returned[2]))) == score
    for suffix in ("json", "npz"):
        artifacts.save(artifact, tmp_path / f"stored.{suffix}")
        assert EVALUATOR.score(artifacts.load(tmp_path / f"stored.{suffix}"), "search") == score
    assert score_stored(np.asarray(returned[0]).tolist()) == score


def test_initial_program_is_x0() -> None:
    evaluation = evaluate(TASK, TASK.initial_program)
    assert evaluation.valid, evaluation.reason
    assert evaluation.objective == pytest.approx(TASK.declared.anchors.initial.value, abs=1e-12)
    assert evaluation.ndg == pytest.approx(0.0, abs=1e-9)
    assert evaluation.metrics["n"] == 92
    assert evaluation.artifact is not None
    stored = json.loads((TASK.folder / "data" / "initial_seed672_92.json").read_text())
    np.testing.assert_allclose(evaluation.artifact.construction, stored, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "c5"), [("ttt_600", 0.38087532321771884), ("released_4096", 0.3809489501030183)]
)
def test_published_constructions(shared: Path, name: str, c5: float) -> None:
    evaluation = evaluate(TASK, artifact=shared / "data" / "erdos" / f"{name}.npz", exact=True)
    assert evaluation.objective == pytest.approx(c5, rel=1e-12)
    assert float(evaluation.certificate["c5"]) == pytest.approx(c5, rel=1e-12)


def test_exact_facts_of_the_released_heights(shared: Path) -> None:
    stored = artifacts.load(shared / "data" / "erdos" / "released_4096.npz")
    certificate = EVALUATOR.certify(stored)
    # the floating-point sum is exactly 2048, the true one is not
    assert np.asarray(stored.construction).sum() == 2048.0
    assert float(certificate["mass_excess"]) == pytest.approx(2.3307608988968157e-13, rel=1e-12)
    assert certificate["c5_of_given_heights_decimal"].startswith("0.38094895010301831017")
    assert certificate["feasible"] == "yes"


def test_certificate_of_a_hand_computed_function() -> None:
    # h = 1/4, 3/4 on two cells: the overlap at shift -1 is 3/4 * 3/4
    certificate = EVALUATOR.certify(Artifact([0.25, 0.75]))
    assert Fraction(certificate["c5_decimal"]) == Fraction(9, 16)
    assert certificate["c5"] == certificate["c5_of_given_heights"] == "0.5625"
    assert certificate["mass_excess"] == "0.0"


def test_certificate_names_an_exact_excess_that_rounding_hides() -> None:
    # in floating point the sum is 2 and nothing is scaled; exactly it is below 2
    given = [1.0, 0.5, 0.49999999999999994, 0.0]
    assert score_stored(given).metrics["integral"] == 1.0
    certificate = EVALUATOR.certify(Artifact(given))
    assert certificate["feasible"].startswith("no")
    assert float(certificate["mass_excess"]) == -(2.0**-54)


def test_full_height_with_a_sum_one_ulp_low_is_invalid() -> None:
    with pytest.raises(Invalid, match="after scaling"):
        score_stored([1.0, 0.5, 0.4999999999999998, 0.0])


@pytest.mark.parametrize(
    "n_points", [10.0, np.float64(10.0), 10.9999999999, True, "10", None, np.array([10])]
)
def test_number_of_cells_must_be_an_integer(n_points: Any) -> None:
    with pytest.raises(Invalid, match="n_points"):
        score_returned((HALF, 0.5, n_points))


@pytest.mark.parametrize("n_points", [10, np.int64(10), np.int32(10), np.uint8(10)])
def test_numpy_integers_count_cells(n_points: Any) -> None:
    assert score_returned((np.array(HALF), 0.5, n_points)).objective == 0.5


@pytest.mark.parametrize(
    "returned",
    [
        np.array(HALF),
        HALF,
        (HALF, 0.5),
        (HALF, 0.5, 10, None),
        [HALF, 0.5, 10],
        (0.5, 0.5, 3),
        None,
        ({"h": HALF}, 0.5, 10),
        ("0.5", 0.5, 1),
        ([0.5, "0.5"], 0.5, 2),
        ([0.5, [0.5]], 0.5, 2),
        ([0.5 + 0j, 0.5], 0.5, 2),
    ],
    ids=repr,
)
def test_other_return_values_are_invalid(returned: Any) -> None:
    with pytest.raises(Invalid):
        score_returned(returned)


@pytest.mark.parametrize("claim", [None, 0.5, 0.5 + 9e-9, np.float64(0.5 - 9e-9), np.array(0.5)])
def test_claims_within_tolerance_do_not_change_the_score(claim: Any) -> None:
    assert score_returned((HALF, claim, 10)).objective == 0.5


@pytest.mark.parametrize(
    "claim", [0.5 - 2e-8, 0.4, 1, float("nan"), float("-inf"), 10**400, "0.5", True, [0.5]]
)
def test_other_claims_are_invalid(claim: Any) -> None:
    with pytest.raises(Invalid, match="claimed"):
        score_returned((HALF, claim, 10))


@pytest.mark.parametrize(
    "data",
    [
        [True, False],
        [0.5, True],
        np.array([True, False]),
        ["0.5", "0.5"],
        [0.5, None],
        [[0.5], [0.5]],
        [],
        0.5,
        {"construction": [0.5, 0.5], "n_points": 2.0},
        {"construction": [0.5, 0.5], "n_points": 3},
        {"construction": [0.5, 0.5], "claim": 0.4},
        {"construction": [0.5, 0.5], "claim": "0.5"},
        {"heights": [0.5, 0.5]},
    ],
    ids=repr,
)
def test_invalid_stored_artifacts(data: Any) -> None:
    with pytest.raises(Invalid):
        score_stored(data)


@pytest.mark.parametrize("data", [[0, 1, 1, 0], np.array([0, 1, 1, 0]), np.float32([0, 1, 1, 0])])
def test_stored_integers_and_single_precision(data: Any) -> None:
    assert score_stored(data).objective == 0.5


def test_number_of_cells_is_limited() -> None:
    assert score_stored(np.full(65536, 0.5)).objective == pytest.approx(0.5, rel=1e-12)
    with pytest.raises(Invalid, match="65537"):
        score_stored(np.full(65537, 0.5))
    assert score_stored([0.5]).objective == 0.5


@pytest.mark.parametrize("tag", ["__simpletes_type__", "__simpleevolve_type__"])
def test_tagged_json_of_public_releases(tmp_path: Path, tag: str) -> None:
    heights = {tag: "ndarray", "dtype": "float64", "shape": [4], "data": [0.0, 1.0, 1.0, 0.0]}
    path = tmp_path / "release.json"
    path.write_text(json.dumps({tag: "tuple", "items": [heights, 0.1, 4]}))
    assert evaluate(TASK, artifact=path).objective == 0.5  # a release's own value is no evidence


def test_warm_start_reaches_the_program(tmp_path: Path) -> None:
    best, program = tmp_path / "best.json", tmp_path / "program.py"
    best.write_text("[0.25, 0.75]")
    program.write_text(
        "def run_code():\n    h = GLOBAL_BEST_CONSTRUCTION or [0.5]\n    return h, None, len(h)\n"
    )
    assert evaluate(TASK, program).objective == 0.5
    assert evaluate(TASK, program, options={"warm_start": str(best)}).objective == 0.5625


@pytest.mark.parametrize("n_points", ["n", "int(n)"])
def test_inflated_denominator_never_scores_as_claimed(
    shared: Path, tmp_path: Path, n_points: str
) -> None:
    with np.load(shared / "data" / "erdos" / "released_4096.npz") as archive:
        heights = archive["h"].tolist()
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\n"
        f"H = {heights}\n"
        "def run_code():\n"
        "    h, n = np.array(H), 4096.9999999999\n"
        "    c5 = float(np.correlate(h, 1 - h, 'full').max() * 2 / n)\n"
        f"    return h, c5, {n_points}\n"
    )
    evaluation = evaluate(TASK, program)
    assert evaluation.status == "invalid"
    assert evaluation.search is evaluation.objective is None
    if n_points == "n":
        assert "n_points has type float" in evaluation.reason
    else:
        assert "the claimed C5 0.3808559676890" in evaluation.reason
    # without the claim the heights get what they are worth
    program.write_text(program.read_text().replace("h, c5,", "h, None,").replace(" n\n", " 4096\n"))
    assert evaluate(TASK, program).objective == pytest.approx(0.3809489501030183, rel=1e-14)


def test_picture() -> None:
    figure = Figure()
    EVALUATOR.draw(Artifact([0.25, 0.75]), figure)
    upper, lower = figure.axes
    assert upper.get_title() == "C5 = 0.5625000000, 2 cells"
    assert lower.texts[0].get_text() == "largest overlap = 0.56250000"
    (curve,) = [line for line in lower.lines if len(line.get_xdata()) > 2]
    assert curve.get_xdata().tolist() == [-2.0, -1.0, 0.0, 1.0, 2.0]
    # shifts -1, 0, 1: 3/4 * 3/4, then 1/4 * 3/4 twice, then 1/4 * 1/4
    assert curve.get_ydata().tolist() == [0.0, 0.5625, 0.375, 0.0625, 0.0]
