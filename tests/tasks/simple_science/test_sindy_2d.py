"""SINDy: parity, the training data, identification by thresholded least squares, broken fields."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from shared_data import evaluator_for
from simple_science_cases import Vector, drawn, program_returning, scored, vectors, verdict

from benchmark import evaluate
from benchmark.candidates import PayloadSolver
from benchmark.catalogue import find_task
from benchmark.evaluator import Invalid
from tasks.simple_science.sindy_2d import dynamics
from tasks.simple_science.sindy_2d.evaluator import TRAINING_DATA

TASK = "sindy_2d"
SOTA = 0.9999463618218793
EXACT = dynamics.TRUTH.tolist()


def payload() -> dict[str, Any]:
    evaluator = evaluator_for(TASK)
    assert isinstance(evaluator, PayloadSolver)
    return evaluator.payload()


def score_of(coefficients: Any) -> float:
    score = scored(TASK, {"coefficients": coefficients})
    assert score.search is not None
    return score.search


def identified(threshold: float) -> Any:
    """Coefficients by fourth-order differences and sequentially thresholded least squares."""
    given_data = payload()
    states = np.array(given_data["x"])
    rates = (8 * (states[3:-1] - states[1:-3]) - (states[4:] - states[:-4])) / (12 * 0.01)
    library = np.prod(states[2:-2, None, :] ** np.array(given_data["powers"]), axis=-1)
    rows = []
    for rate in rates.T:
        active = np.ones(10, dtype=bool)
        for _ in range(20):
            row = np.zeros(10)
            row[active] = np.linalg.lstsq(library[:, active], rate, rcond=None)[0]
            kept = active & (np.abs(row) >= threshold)
            if (kept == active).all():
                break
            active = kept
        rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("vector", vectors(TASK))
def test_parity(vector: Vector) -> None:
    vector.check(verdict(TASK, vector.answer))


@pytest.mark.parametrize("vector", vectors(TASK, "zeros", "transposed_10x2", "runaway"))
def test_parity_of_programs(vector: Vector, tmp_path: Path) -> None:
    result = evaluate(TASK, program_returning(tmp_path, repr(vector.answer)))
    assert result.status == ("valid" if vector.valid else "invalid")
    assert result.search == (pytest.approx(vector.score, abs=1e-6) if vector.valid else None)


def test_initial_program_is_x0() -> None:
    result = evaluate(TASK, find_task(TASK).initial_program)
    assert result.search == result.objective == pytest.approx(0.5172071093220997, abs=1e-6)
    assert result.metrics["vector_field_nrmse"] == pytest.approx(0.6695886547, abs=1e-6)
    assert result.metrics["trajectory_nrmse"] == pytest.approx(1.1973342162, abs=1e-6)
    assert result.ndg == pytest.approx(0, abs=1e-3)


def test_thresholded_least_squares_is_the_sota(tmp_path: Path) -> None:
    coefficients = identified(threshold=0.05).tolist()
    result = evaluate(TASK, program_returning(tmp_path, repr({"coefficients": coefficients})))
    assert result.search == pytest.approx(SOTA, abs=1e-6)
    assert result.metrics["vector_field_nrmse"] == pytest.approx(4.5652e-6, abs=1e-9)
    assert result.metrics["trajectory_nrmse"] == pytest.approx(1.0272e-4, abs=1e-7)
    assert result.ndg == pytest.approx(100, abs=1e-3)


def test_exact_coefficients_differ_from_one_by_the_integration_tolerances() -> None:
    assert score_of(EXACT) == pytest.approx(0.99999999165, abs=1e-9)


def test_training_data_is_the_authoritative_file() -> None:
    content = TRAINING_DATA.read_bytes()
    digest = "3e412be68f498b1f623b45d91eeaafb8c05ddaf09b3efe59ebbe6f0263953b04"
    assert hashlib.sha256(content).hexdigest() == digest


def test_training_data_follows_from_the_true_system() -> None:
    given_data = payload()
    times = np.arange(0, 25, 0.01)
    assert given_data["t"] == times.tolist()
    solution = solve_ivp(
        lambda t, s: (-0.1 * s[0] ** 3 + 2 * s[1] ** 3, -2 * s[0] ** 3 - 0.1 * s[1] ** 3),
        (times[0], times[-1]), [2, 0], "LSODA", times, rtol=1e-12, atol=1e-12,
    )  # fmt: skip
    np.testing.assert_allclose(given_data["x"], solution.y.T, rtol=0, atol=1e-9)


def test_powers_are_all_monomials_of_degree_three() -> None:
    expected = [[d - j, j] for d in range(4) for j in range(d + 1)]
    assert payload()["powers"] == expected


@settings(deadline=None)
@given(st.lists(st.floats(-3, 3), min_size=20, max_size=20), st.floats(1e-3, 1e3))
def test_field_error_grows_linearly_with_the_deviation(entries: list[float], factor: float) -> None:
    deviation = np.array(entries).reshape(2, 10)
    once = dynamics.field_error(dynamics.TRUTH + deviation)
    grown = dynamics.field_error(dynamics.TRUTH + factor * deviation)
    assert grown == pytest.approx(factor * once, rel=1e-6, abs=1e-12)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.floats(-1e-3, 1e-3), min_size=20, max_size=20))
def test_scores_near_the_truth_follow_from_their_two_errors(entries: list[float]) -> None:
    coefficients = dynamics.TRUTH + np.array(entries).reshape(2, 10)
    score = scored(TASK, {"coefficients": coefficients})
    errors = [score.metrics[f"{name}_nrmse"] for name in ("vector_field", "trajectory")]
    assert score.search == pytest.approx(1 / (1 + sum(errors) / 2))
    assert sum(errors) < 0.06


def test_trajectories_agree_with_another_solver() -> None:
    coefficients = np.array(EXACT) * 1.2
    other = solve_ivp(
        lambda t, s: dynamics.field(coefficients, s),
        (0, 10), dynamics.STARTS[0], "LSODA", dynamics.TIMES, rtol=1e-10, atol=1e-12,
    )  # fmt: skip
    mine = dynamics.trajectory(coefficients, dynamics.STARTS[0])
    np.testing.assert_allclose(mine, other.y.T, atol=1e-6)


def decay(rate: float) -> list[list[float]]:
    """x' = -rate x, y' = -rate y."""
    return [[0, -rate, *[0] * 8], [0, 0, -rate, *[0] * 7]]


def test_stiff_fields_use_up_the_call_budget() -> None:
    assert 0 < score_of(decay(1000)) < 0.6
    with pytest.raises(Invalid, match="needs more than 50000 evaluations"):
        score_of(decay(3000))


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (decay(-1.0), r"from \(1.5, 0.5\) reaches 100 in magnitude at t = 4.2"),
        ([[0] * 6 + [1, 0, 0, 0], [0] * 10], "reaches 100"),  # x' = x^3 leaves in finite time
        ([[1e6] * 10, [-1e6] * 10], "trajectory"),
        ([[0] * 10, [9.93, *[0] * 9]], r"from \(-1, 0.75\) reaches 100"),
        ([[0] * 10, [0] * 9 + [1.0000001e6]], "must not exceed 1e\\+06"),
        ([[0] * 10, [0] * 9], "row 1 of coefficients must have 10 entries; got 9"),
        ([[0] * 10], "coefficients must have 2 entries; got 1"),
        (np.zeros((10, 2)), "2 entries; got 10"),
        (np.zeros(20), "2 entries; got 20"),
        ([[False] * 10] * 2, "got bool"),
        ([["0"] * 10] * 2, "got str"),
        ([[float("nan")] * 10] * 2, "finite"),
        (None, "must be a list"),
    ],
)
def test_reasons_name_the_broken_rule(rows: Any, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        score_of(rows)


def test_only_the_one_key() -> None:
    with pytest.raises(Invalid, match="only the key coefficients"):
        scored(TASK, {"coefficients": EXACT, "claim": 1.0})
    with pytest.raises(Invalid, match="must be a dictionary"):
        scored(TASK, EXACT)


def test_a_trajectory_that_stays_just_inside_is_valid() -> None:
    drift = [[0] * 10, [9.92, *[0] * 9]]  # y goes from 0.75 to 99.95
    assert 0 < score_of(drift) < 0.1


def test_arrays_score_like_lists(tmp_path: Path) -> None:
    program = program_returning(tmp_path, f'{{"coefficients": np.array({EXACT})}}')
    assert evaluate(TASK, program).ndg == pytest.approx(100.011, abs=1e-2)
    assert score_of(tuple(map(tuple, EXACT))) == score_of(EXACT)


def test_picture_shows_plane_and_course() -> None:
    plane, course = drawn(TASK, {"coefficients": EXACT}).axes
    assert "from (1.5, 0.5)" in [line.get_label() for line in plane.lines]
    assert len(course.lines) == 4
