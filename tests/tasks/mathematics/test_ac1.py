"""First autocorrelation inequality: parity cases, list rules, clipping, certificate, LP program."""

from __future__ import annotations

import json
import runpy
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

TASK = find_task("mathematics/ac1")
EVALUATOR = evaluator_for("mathematics/ac1")
STORED = TASK.folder / "data" / "initial_206.json"


def score_returned(returned: Any) -> Score:
    return EVALUATOR.score(EVALUATOR.convert(through_the_wire(returned)), "search")


def score_stored(data: Any) -> Score:
    return EVALUATOR.score(Artifact(data), "search")


@pytest.mark.parametrize("path", parity_files("ac1"))
def test_parity(path: Path, tmp_path: Path) -> None:
    case = read_case(path)
    sequence, expected = typed_value(case["input"]["return"]["sequence"]), case["expected"]
    for returned in (sequence, (sequence,), (sequence, 0.1), (sequence, None, "more")):
        if not expected["valid"]:
            with pytest.raises(Invalid):
                score_returned(returned)
            continue
        score = score_returned(returned)
        assert score.objective == pytest.approx(expected["c1"], rel=1e-10)
        assert score.search == pytest.approx(expected["search_score"], rel=1e-10)
        assert score.metrics["c1"] == score.objective
        assert score.metrics["n"] == len(sequence)
    if expected["valid"]:
        artifact = EVALUATOR.convert(through_the_wire(sequence))
        exact = float(EVALUATOR.certify(artifact)["c1"])
        assert exact == pytest.approx(score_returned(sequence).objective, abs=1e-12)
        assert exact == pytest.approx(float(expected.get("exact", exact)), abs=1e-12)
        assert score_stored(list(map(float, sequence))) == score_returned(sequence)
        for suffix in ("json", "npz"):
            save(artifact, tmp_path / f"stored.{suffix}")
            stored = load(tmp_path / f"stored.{suffix}")
            assert EVALUATOR.score(stored, "search") == score_returned(sequence)


@pytest.mark.parametrize(
    ("name", "c1"),
    [
        ("initial_206.json", TASK.declared.anchors.initial.value),
        ("released_972.json", TASK.declared.anchors.sota.value),
        ("ttt_30000.npz", 1.5028628982558),
    ],
)
def test_known_constructions(shared: Path, name: str, c1: float) -> None:
    evaluation = evaluate(TASK, artifact=shared / "data" / "ac1" / name, exact=True)
    assert evaluation.objective == pytest.approx(c1, rel=1e-12)
    assert float(evaluation.certificate["c1"]) == pytest.approx(c1, rel=1e-12)


def test_anchors_are_the_ends_of_the_scale(shared: Path) -> None:
    assert evaluate(TASK, artifact=STORED).ndg == pytest.approx(0.0, abs=1e-9)
    released = evaluate(TASK, artifact=shared / "data/ac1/released_972.json", exact=True)
    assert released.ndg == pytest.approx(100.0, abs=1e-9)
    exact = Decimal(released.certificate["c1_decimal"])
    assert round(exact, 20) == Decimal("1.50387081393242913803")


def test_certificate_of_a_hand_computed_function() -> None:
    # a = 1, 2, 3: a*a = 1, 4, 10, 12, 9 and C1 = 2 * 3 * 12 / 6^2
    assert Fraction(EVALUATOR.certify(Artifact([1, 2, 3]))["c1_decimal"]) == 2
    assert score_stored([1, 2, 3]).objective == 2.0
    assert score_stored([0.0, 1.0, 0.0, 0.0]).objective == 8.0


# --- rules ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "returned",
    [
        None,
        1.0,
        "1.0",
        (),
        (1.0, 2.0),
        ((1.0, 2.0), 2.0),
        (np.array([1.0, 2.0]), 2.0),
        {1.0, 2.0},
        {"heights": [1.0, 2.0]},
        range(3),
        [[1.0, 2.0], 2.0],
        [np.bool_(True), 1.0],
        [np.int64(1), 1.0],
        [np.array(1.0), 1.0],
        [1.0, None],
        [1.0, 1j],
        [float("-inf"), 1.0],
        [0.0] * 5,
    ],
    ids=repr,
)
def test_other_return_values_are_invalid(returned: Any) -> None:
    with pytest.raises(Invalid):
        score_returned(returned)


def test_reason_names_the_wrong_height_and_its_type() -> None:
    with pytest.raises(Invalid, match="height 17 has type float32"):
        score_returned([1.0] * 17 + [np.float32(1.0)] + [True])
    with pytest.raises(Invalid, match=r"not ndarray; use \.tolist\(\)"):
        score_returned(np.ones(3))


def test_heights_are_clipped_before_everything_else() -> None:
    clipped = score_returned([1000.0, 0, 1000])
    found = score_returned([1e300, -1e300, 10**400])
    assert found.metrics == clipped.metrics
    assert "1 negative heights counted as 0" in found.feedback
    assert "2 higher heights counted as 1000" in found.feedback
    assert "counted" not in clipped.feedback
    # tiny heights hidden among negative ones are nothing
    with pytest.raises(Invalid, match=r"at least 0\.01"):
        score_returned([-1e300, 1e-300] * 6)


def test_least_sum_counts_after_clipping() -> None:
    assert score_returned([0.011]).objective == 2.0
    with pytest.raises(Invalid, match=r"0\.00999"):
        score_returned([0.00999, -5.0])


def test_number_of_cells_is_limited() -> None:
    assert score_stored(np.ones(1048576)).objective == pytest.approx(2.0, rel=1e-12)
    with pytest.raises(Invalid, match="1048577"):
        score_stored(np.ones(1048577))


@pytest.mark.parametrize("claim", [1.0, float("nan"), 10**400, "1.5", None, True, [1.5], object()])
def test_claims_never_matter(claim: Any) -> None:
    honest, found = score_returned([1.0, 2.0, 3.0]), score_returned(([1.0, 2.0, 3.0], claim))
    assert (found.search, found.objective) == (honest.search, honest.objective)
    assert ("claims" in found.feedback) == (claim == 1.0 and claim is not True)


@pytest.mark.parametrize(
    "data",
    [
        [True, False],
        np.array([True, False]),
        ["1.0"],
        [1.0, None],
        [[1.0], [2.0]],
        np.ones((2, 2)),
        np.array([1.0, np.nan]),
        [],
        1.0,
        {"heights": [1.0, 2.0]},
    ],
    ids=repr,
)
def test_invalid_stored_artifacts(data: Any) -> None:
    with pytest.raises(Invalid):
        score_stored(data)


@pytest.mark.parametrize("data", [[1, 2, 3], np.array([1, 2, 3]), np.float32([1, 2, 3])])
def test_stored_arrays_count_as_lists(data: Any) -> None:
    assert score_stored(data) == score_returned([1.0, 2.0, 3.0])
    assert score_stored({"construction": data, "claim": 2.0}) == score_stored(data)


@pytest.mark.parametrize("tag", ["__simpletes_type__", "__simpleevolve_type__"])
def test_tagged_json_of_public_releases(tmp_path: Path, tag: str) -> None:
    path = tmp_path / "release.json"
    heights = {tag: "ndarray", "dtype": "float64", "shape": [3], "data": [1.0, 2.0, 3.0]}
    for content in (heights, {tag: "tuple", "items": [heights, 0.1]}):
        path.write_text(json.dumps(content))
        assert evaluate(TASK, artifact=path).objective == 2.0


def test_warm_start_reaches_the_program(shared: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "def run_code():\n"
        "    best = GLOBAL_BEST_CONSTRUCTION\n"
        "    return [1.0] if best is None else [float(height) for height in best]\n"
    )
    assert evaluate(TASK, program).objective == 2.0
    best = shared / "data" / "ac1" / "ttt_30000.npz"
    warm = evaluate(TASK, program, options={"warm_start": str(best)})
    assert warm.objective == pytest.approx(1.5028628982558, rel=1e-12)


# --- initial program -----------------------------------------------------------------------------


@pytest.mark.slow
def test_linear_programs_follow_the_recorded_path() -> None:
    propose_candidate = runpy.run_path(str(TASK.initial_program))["propose_candidate"]
    heights = propose_candidate(lp_steps=200)
    assert len(heights) == 206
    assert score_returned(heights).objective == pytest.approx(1.782262, abs=1e-5)


def test_initial_program_stops_at_its_budget(capsys: pytest.CaptureFixture[str]) -> None:
    propose_candidate = runpy.run_path(str(TASK.initial_program))["propose_candidate"]
    heights = propose_candidate(budget_s=0.0)
    assert heights == [0.9507143064099162] * 206
    assert capsys.readouterr().out.startswith("0 of 1600 steps done, C1 = 2.0")


def test_shortened_initial_program_in_the_sandbox(tmp_path: Path) -> None:
    text = TASK.initial_program.read_text()
    program = tmp_path / "program.py"
    assert text.count("LP_STEPS = 1600") == 1
    program.write_text(text.replace("LP_STEPS = 1600", "LP_STEPS = 3"))
    evaluation = evaluate(TASK, program)
    assert evaluation.status == "valid", evaluation.reason
    assert evaluation.stdout_tail.startswith("3 of 3 steps done")
    assert evaluation.objective is not None
    assert 1.9 < evaluation.objective < 2.0
    assert evaluation.artifact is not None
    assert evaluation.artifact.get("claim") == pytest.approx(evaluation.objective, rel=1e-12)
    assert "claims" not in evaluation.feedback


def test_picture() -> None:
    figure = Figure()
    EVALUATOR.draw(Artifact(json.loads(STORED.read_text())), figure)
    upper, lower = figure.axes
    assert upper.get_title() == "C1 = 1.5161677334, 206 cells"
    assert lower.texts[0].get_text() == "max f∗f = 1.51616773"
    (curve,) = [line for line in lower.lines if len(line.get_xdata()) > 2]
    assert len(curve.get_xdata()) == 2 * 206 + 1
    assert max(curve.get_ydata()) == pytest.approx(1.5161677334429668, rel=1e-12)
    # the autoconvolution of a function with integral 1 on half-open cells integrates to 1
    assert np.trapezoid(curve.get_ydata(), curve.get_xdata()) == pytest.approx(1.0, rel=1e-12)
