"""Chwirut2: parity, the certified fit, overflow and poles, broken answers."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import least_squares
from shared_data import evaluator_for
from simple_science_cases import Vector, drawn, program_returning, scored, vectors, verdict

from benchmark import evaluate
from benchmark.candidates import PayloadSolver
from benchmark.catalogue import find_task
from benchmark.evaluator import Invalid
from tasks.simple_science.chwirut2.evaluator import OBSERVATIONS

TASK = "chwirut2"
START_1, START_2 = [0.1, 0.01, 0.02], [0.15, 0.008, 0.010]
CERTIFIED = [1.6657666537e-01, 5.1653291286e-03, 1.2150007096e-02]
CERTIFIED_RSS = 5.1304802941e02

LEVENBERG_MARQUARDT = """
import numpy as np
from scipy.optimize import least_squares

def solve(payload):
    x, y = np.array(payload["x"]), np.array(payload["y"])
    def residuals(b):
        return np.exp(-b[0] * x) / (b[1] + b[2] * x) - y
    fit = least_squares(residuals, [0.1, 0.01, 0.02], method="lm", ftol=1e-15, xtol=1e-15)
    return fit.x
"""


def observations() -> tuple[Any, Any]:
    evaluator = evaluator_for(TASK)
    assert isinstance(evaluator, PayloadSolver)
    payload = evaluator.payload()
    assert list(payload) == ["x", "y"]
    return np.array(payload["x"]), np.array(payload["y"])


@pytest.mark.parametrize("vector", vectors(TASK))
def test_parity(vector: Vector) -> None:
    vector.check(verdict(TASK, vector.answer))


@pytest.mark.parametrize("vector", vectors(TASK, "integer_values", "zero_denominator", "nan"))
def test_parity_of_programs(vector: Vector, tmp_path: Path) -> None:
    result = evaluate(TASK, program_returning(tmp_path, repr(vector.answer)))
    assert result.status == ("valid" if vector.valid else "invalid")
    assert result.search == (pytest.approx(vector.score, rel=1e-9) if vector.valid else None)


def test_initial_program_is_x0() -> None:
    result = evaluate(TASK, find_task(TASK).initial_program)
    assert result.search == result.objective == pytest.approx(0.03467761448739717, rel=1e-9)
    assert result.metrics["rss"] == pytest.approx(14794.790154797307, rel=1e-9)
    assert result.ndg == pytest.approx(0, abs=1e-6)


def test_levenberg_marquardt_from_the_far_start_is_the_sota(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(LEVENBERG_MARQUARDT)
    result = evaluate(TASK, program)
    assert result.search == pytest.approx(1.0, rel=1e-9)
    assert result.metrics["rss"] == pytest.approx(513.0480294068651, rel=1e-12)
    assert result.ndg == pytest.approx(100, abs=1e-6)


def test_certified_values() -> None:
    score = scored(TASK, CERTIFIED)
    assert score.search == pytest.approx(1.0, rel=1e-9)
    assert score.metrics["rss"] == pytest.approx(CERTIFIED_RSS, rel=1e-10)
    assert math.sqrt(score.metrics["rss"] / 51) == pytest.approx(3.1717133040, rel=1e-10)
    assert score.metrics["rmse"] == pytest.approx(3.1717133040 * math.sqrt(51 / 54), rel=1e-10)


def test_second_start_on_the_common_scale(tmp_path: Path) -> None:
    result = evaluate(TASK, program_returning(tmp_path, repr(START_2)))
    assert result.search == pytest.approx(0.3450317661960719, rel=1e-9)
    assert result.ndg == pytest.approx(32.150, abs=5e-4)


def test_observations_are_those_of_the_archive() -> None:
    digest = "750a6801fed9f3399d7998263ee09851bbedeb0f0705398dcbc94305daf7c769"
    assert hashlib.sha256(OBSERVATIONS.read_bytes()).hexdigest() == digest
    x, y = observations()
    assert (x.size, y.size) == (54, 54)
    assert (x[0], y[0]) == (0.5, 92.9)


@settings(deadline=None)
@given(st.floats(-1, 1), st.floats(1e-4, 1), st.floats(1e-4, 1))
def test_rss_is_that_of_the_model_and_never_below_the_minimum(
    b1: float, b2: float, b3: float
) -> None:
    x, y = observations()
    expected = ((y - np.exp(-b1 * x) / (b2 + b3 * x)) ** 2).sum()
    score = scored(TASK, [b1, b2, b3])
    assert score.metrics["rss"] == pytest.approx(expected, rel=1e-9)
    assert score.metrics["rss"] > CERTIFIED_RSS * (1 - 1e-9)
    assert score.search == pytest.approx(min(1.0, CERTIFIED_RSS / expected), rel=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.floats(0.05, 0.3), st.floats(0.002, 0.02), st.floats(0.004, 0.04))
def test_every_fit_from_nearby_ends_at_the_certified_values(
    b1: float, b2: float, b3: float
) -> None:
    x, y = observations()
    fit = least_squares(
        lambda b: np.exp(-b[0] * x) / (b[1] + b[2] * x) - y, [b1, b2, b3], x_scale=CERTIFIED
    )
    assume(fit.cost < 300)
    assert fit.x == pytest.approx(CERTIFIED, rel=1e-3)
    assert scored(TASK, fit.x).search == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ([0.1, 0, 0], r"b2 \+ b3 x is zero at x = 0.5"),
        ([0.1, -2.0, 4.0], r"b2 \+ b3 x is zero at x = 0.5"),
        ([0.1, -1.5, 0.5], r"b2 \+ b3 x is zero at x = 3"),
        ([-1000.0, 0.01, 0.02], "overflows at x = "),
        ([-1e308, 1e308, 1e308], "overflows at x = "),
        ([0.0, 1e-309, 0.0], "overflows at x = "),
        ([-80.0, 0.01, 0.02], "a squared residual overflows"),
        ([0.0, 1e-154, 0.0], "a squared residual overflows"),  # each is finite, the sum is not
        ([float("inf"), 0.01, 0.02], "finite"),
        ([10**400, 0.01, 0.02], "entry 0 of the answer is an integer too large"),
        ([0.1, 0.01], "3 entries; got 2"),
        ([0.1, 0.01, 0.02, 0.0], "3 entries; got 4"),
        ([[0.1, 0.01, 0.02]], "3 entries; got 1"),
        ([[0.1], 0.01, 0.02], "entry 0 of the answer must be a number; got list"),
        ([True, 0.01, 0.02], "got bool"),
        ([None, 0.01, 0.02], "got NoneType"),
        (["0.1", 0.01, 0.02], "got str"),
        ({"b1": 0.1, "b2": 0.01, "b3": 0.02}, "must be a list"),
        (0.1, "must be a list"),
        (None, "must be a list"),
    ],
)
def test_reasons_name_the_broken_rule(answer: Any, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        scored(TASK, answer)


@pytest.mark.parametrize("answer", [[1e6, 0.01, 0.02], [0.1, 1e300, 1e300], [1e308, 1.0, 1.0]])
def test_a_model_that_vanishes_is_valid(answer: list[float]) -> None:
    _, y = observations()
    assert scored(TASK, answer).metrics["rss"] == pytest.approx((y**2).sum(), rel=1e-9)


def test_arrays_and_tuples_score_like_lists(tmp_path: Path) -> None:
    result = evaluate(TASK, program_returning(tmp_path, f"np.array({CERTIFIED})"))
    assert result.search == pytest.approx(1.0, rel=1e-9)
    assert scored(TASK, tuple(START_1)) == scored(TASK, START_1)
    assert scored(TASK, [np.float64(1), np.int32(1), 1]) == scored(TASK, [1.0, 1, 1])
    assert verdict(TASK, set(START_1)) is None
    assert verdict(TASK, np.array(START_1, dtype=complex)) is None


def test_picture_shows_data_model_and_residuals() -> None:
    above, below = drawn(TASK, CERTIFIED).axes
    measured, model = above.lines
    assert len(measured.get_xdata()) == len(below.lines[1].get_xdata()) == 54
    assert len(model.get_xdata()) > 200
    assert "513.048" in above.get_title()


def test_picture_of_a_pole_keeps_the_data_in_sight() -> None:
    (above, _) = drawn(TASK, [0.1, -0.0211, 0.01]).axes
    low, high = above.get_ylim()
    assert -1000 < low < 0
    assert 92.9 < high < 1000
