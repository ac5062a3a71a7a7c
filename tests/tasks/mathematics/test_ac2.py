"""Second autocorrelation inequality: parity cases, list rules, certificate, start program."""

from __future__ import annotations

import json
import runpy
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

TASK = find_task("mathematics/ac2")
EVALUATOR = evaluator_for("mathematics/ac2")
STORED = TASK.folder / "data" / "initial_1024_run_a.json"
TOLERANCE = 1e-9  # the public evaluator's sum loses about 1e-13


def score_returned(returned: Any) -> Score:
    return EVALUATOR.score(EVALUATOR.convert(through_the_wire(returned)), "search")


def score_stored(data: Any) -> Score:
    return EVALUATOR.score(Artifact(data), "search")


@pytest.mark.parametrize("path", parity_files("ac2"))
def test_parity(path: Path, tmp_path: Path) -> None:
    case = read_case(path)
    sequence, expected = typed_value(case["input"]["return"]["sequence"]), case["expected"]
    for returned in (sequence, (sequence,), (sequence, 0.97), (sequence, None, "more")):
        if not expected["valid"]:
            with pytest.raises(Invalid):
                score_returned(returned)
            continue
        score = score_returned(returned)
        assert score.objective == pytest.approx(expected["c2"], rel=TOLERANCE)
        assert score.search == pytest.approx(expected["search_score"], rel=TOLERANCE)
        assert score.metrics["c2"] == score.objective == score.search
        assert score.metrics["n"] == len(sequence)
    if expected["valid"]:
        artifact = EVALUATOR.convert(through_the_wire(sequence))
        exact = float(EVALUATOR.certify(artifact)["c2"])
        assert exact == pytest.approx(score_returned(sequence).objective, abs=1e-12)
        assert exact == pytest.approx(float(expected.get("exact", exact)), abs=1e-12)
        assert score_stored(list(map(float, sequence))) == score_returned(sequence)
        for suffix in ("json", "npz"):
            save(artifact, tmp_path / f"stored.{suffix}")
            stored = load(tmp_path / f"stored.{suffix}")
            assert EVALUATOR.score(stored, "search") == score_returned(sequence)


@pytest.mark.parametrize(
    ("name", "c2"),
    [("initial_1024_run_a.json", 0.9056610183446242), ("ttt_50000.npz", 0.9591797711481762)],
)
def test_known_constructions(shared: Path, name: str, c2: float) -> None:
    evaluation = evaluate(TASK, artifact=shared / "data" / "ac2" / name, exact=True)
    assert evaluation.objective == pytest.approx(c2, rel=TOLERANCE)
    assert evaluation.objective == pytest.approx(float(evaluation.certificate["c2"]), abs=1e-12)
    anchors = TASK.declared.anchors
    x0, sota = anchors.initial.value, anchors.sota.value
    assert evaluation.ndg == pytest.approx(100.0 * (c2 - x0) / (sota - x0), abs=1e-6)


def test_certificate_of_a_hand_computed_function() -> None:
    # a = 1, 1: a*a = 1, 2, 1 and C2 = (2 (1 + 4 + 1) + 2 + 2) / (3 * 4 * 2)
    assert EVALUATOR.certify(Artifact([1, 1]))["c2_decimal"].startswith("0.6666666666666666666666")
    # a = 1, 3: a*a = 1, 6, 9 and C2 = (2 (1 + 36 + 81) + 6 + 54) / (3 * 16 * 9)
    score = score_stored([1, 3])
    assert score.objective == pytest.approx(296 / 432, rel=1e-15)
    assert float(EVALUATOR.certify(Artifact([1, 3]))["c2"]) == float(Fraction(296, 432))


def test_norms_belong_to_the_function_with_integral_one() -> None:
    # f = 4, 0 on two cells of 1/4: f*f is a triangle of height 4 over an interval of length 1/2
    score = score_stored([1.0, 0.0])
    assert score.metrics["norm_inf"] == pytest.approx(4.0, rel=1e-15)
    assert score.metrics["norm_2_squared"] == pytest.approx(16 * 0.5 / 3, rel=1e-15)
    assert score.objective == pytest.approx(2 / 3, rel=1e-15)


# --- rules ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "returned",
    [
        None,
        0.5,
        (),
        (1.0, 2.0),
        ((1.0, 2.0), 0.9),
        (np.array([1.0, 2.0]), 0.9),
        {1.0, 2.0},
        range(3),
        [[1.0, 2.0], 0.9],
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


def test_heights_are_clipped() -> None:
    assert score_returned([1e300, -7, 1000.1]).metrics == score_returned([1000, 0, 1000]).metrics
    assert score_returned([0.005, 0.006, -1.0]).objective is not None
    with pytest.raises(Invalid, match=r"at least 0\.01"):
        score_returned([0.005, 0.004, -1.0, -1.0])


def test_number_of_cells_is_limited() -> None:
    assert score_stored(np.ones(262144)).objective == pytest.approx(2 / 3, rel=1e-12)
    with pytest.raises(Invalid, match="1048577"):
        score_stored(np.ones(1048577))


@pytest.mark.parametrize("claim", [0.97, float("nan"), "0.97", None])
def test_claims_never_matter(claim: Any) -> None:
    honest, found = score_returned([1.0, 2.0, 3.0]), score_returned(([1.0, 2.0, 3.0], claim))
    assert (found.search, found.objective) == (honest.search, honest.objective)
    assert ("claims C2 = 0.97" in found.feedback) == (claim == 0.97)


@pytest.mark.parametrize(
    "data",
    [[True, False], ["1.0"], [1.0, None], [[1.0], [2.0]], np.ones((2, 2)), [], 1.0, {"a": [1.0]}],
    ids=repr,
)
def test_invalid_stored_artifacts(data: Any) -> None:
    with pytest.raises(Invalid):
        score_stored(data)


@pytest.mark.parametrize("data", [[1, 2, 3], np.array([1, 2, 3]), np.float32([1, 2, 3])])
def test_stored_arrays_count_as_lists(data: Any) -> None:
    assert score_stored(data) == score_returned([1.0, 2.0, 3.0])


@pytest.mark.parametrize("tag", ["__simpletes_type__", "__simpleevolve_type__"])
def test_tagged_json_of_public_releases(tmp_path: Path, tag: str) -> None:
    path = tmp_path / "release.json"
    heights = {tag: "ndarray", "dtype": "float64", "shape": [2], "data": [1.0, 3.0]}
    for content in (heights, {tag: "tuple", "items": [heights, 0.97]}):
        path.write_text(json.dumps(content))
        assert evaluate(TASK, artifact=path).objective == pytest.approx(296 / 432, rel=1e-15)


def test_warm_start_reaches_the_program(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("def run_code():\n    return GLOBAL_BEST_CONSTRUCTION or [1.0]\n")
    assert evaluate(TASK, program).objective == pytest.approx(2 / 3)
    warm = evaluate(TASK, program, options={"warm_start": str(STORED)})
    assert warm.objective == pytest.approx(0.9056610183446242, rel=TOLERANCE)


# --- initial program -----------------------------------------------------------------------------


def test_gradient_of_the_initial_program() -> None:
    c2_and_gradient = runpy.run_path(str(TASK.initial_program))["c2_and_gradient"]
    generator = np.random.default_rng(2)
    a, direction = generator.random((3, 16)), generator.standard_normal((3, 16))
    value, gradient = c2_and_gradient(a)
    assert value.tolist() == pytest.approx([score_stored(row).objective for row in a], rel=1e-12)
    step = 1e-6
    ahead, behind = (c2_and_gradient(a + sign * step * direction)[0] for sign in (1, -1))
    slopes = (gradient * direction).sum(axis=1)
    np.testing.assert_allclose((ahead - behind) / (2 * step), slopes, rtol=1e-6)


def test_gradient_is_shared_among_equal_maxima() -> None:
    # a = 1, 0, 1, 1 has a*a = 1, 0, 2, 2, 1, 2, 1: three lags attain the maximum
    c2_and_gradient = runpy.run_path(str(TASK.initial_program))["c2_and_gradient"]
    heights = [1, 0, 1, 1]
    value, gradient = c2_and_gradient(np.array([heights], dtype=float))
    c = np.convolve(heights, heights)
    q = Fraction(2 * int(c @ c) + int(c[:-1] @ c[1:]), 3)
    expected = []
    for j in range(4):
        moved = [heights[k - j] if 0 <= k - j < 4 else 0 for k in range(7)]
        padded = [0, *c.tolist(), 0]
        by_q = sum(
            Fraction(4 * padded[k + 1] + padded[k] + padded[k + 2], 3) * 2 * moved[k]
            for k in range(7)
        )
        by_sum = 2 * sum(heights)
        by_peak = Fraction(2 * sum(moved[k] for k in (2, 3, 5)), 3)
        peak, total = 2, 9
        expected.append(float((by_q - q * (by_sum / Fraction(total) + by_peak / peak)) / 18))
    assert value[0] == pytest.approx(float(q / 18), rel=1e-12)
    assert gradient[0].tolist() == pytest.approx(expected, rel=1e-10)


def test_shortened_initial_program_in_the_sandbox(tmp_path: Path) -> None:
    text = TASK.initial_program.read_text()
    for steps, fewer in [(" = 10000, ", " = 300, "), (", 40000, ", ", 100, ")]:
        assert text.count(steps) == 1
        text = text.replace(steps, fewer)
    program = tmp_path / "program.py"
    program.write_text(text)
    evaluation = evaluate(TASK, program)
    assert evaluation.status == "valid", evaluation.reason
    assert evaluation.metrics["n"] == 1024
    assert evaluation.objective is not None
    assert 0.7 < evaluation.objective < 0.92
    assert evaluation.artifact is not None
    assert evaluation.artifact.get("claim") == pytest.approx(evaluation.objective, rel=1e-9)


@pytest.mark.slow
def test_initial_program_gives_a_normal_draw() -> None:
    evaluation = evaluate(TASK, TASK.initial_program)
    assert evaluation.status == "valid", evaluation.reason
    assert evaluation.metrics["n"] == 1024
    assert evaluation.objective is not None
    assert 0.895 < evaluation.objective < 0.915


def test_picture() -> None:
    figure = Figure()
    EVALUATOR.draw(Artifact([1.0, 0.0]), figure)
    upper, lower = figure.axes
    assert upper.get_title() == "C2 = 0.6666666667, 2 cells"
    assert lower.texts[0].get_text() == "max f∗f = 4.00000000"
