"""Batch reactor: parity, isothermal closed form, profiles optimised here, broken answers."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import minimize
from simple_science_cases import Vector, drawn, program_returning, scored, vectors, verdict

from benchmark import evaluate
from benchmark.catalogue import find_task
from benchmark.evaluator import Invalid
from benchmark.ndg import ndg

TASK = "batch_reactor"
TIMES = np.linspace(0, 1, 501)
REFERENCE_KNOTS = json.loads(
    (find_task(TASK).folder / "data" / "reference_profile.json").read_text()
)["temperature_at_knots"]


def between(knots: Any) -> list[float]:
    """Temperatures at the 501 times from uniform knots."""
    profile: list[float] = np.interp(TIMES, np.linspace(0, 1, len(knots)), knots).tolist()
    return profile


def yield_of(profile: Any) -> float:
    score = scored(TASK, {"temperature": profile})
    assert score.search is not None
    return score.search


def isothermal(temperature: float) -> float:
    """B(1) at one temperature, from the integral solution."""
    k1, k2 = 4000 * math.exp(-2500 / temperature), 620000 * math.exp(-5000 / temperature)
    value, _ = quad(lambda t: k1 / (1 + k1 * t) ** 2 * math.exp(-k2 * (1 - t)), 0, 1, epsabs=1e-13)
    return float(value)


def optimal_profile(knots: int) -> list[float]:
    """Best temperatures at uniform knots: midpoint quadrature with its gradient, L-BFGS-B."""
    points = 4000
    weights = np.array([np.interp((np.arange(points) + 0.5) / points, np.linspace(0, 1, knots), row)
                        for row in np.eye(knots)])  # fmt: skip

    def loss(level: Any) -> tuple[float, Any]:
        kelvin = 298 + 100 * (level @ weights)
        k1, k2 = 4000 * np.exp(-2500 / kelvin) / points, 620000 * np.exp(-5000 / kelvin) / points
        a = 1 / (1 + np.cumsum(k1) - k1 / 2)
        share = k1 * a**2 * np.exp(k2 / 2 - np.cumsum(k2[::-1])[::-1])  # of each instant in B(1)
        delay = -2 * share * a
        by_k1 = share / k1 + np.cumsum(delay[::-1])[::-1] - delay / 2
        by_k2 = share / 2 - np.cumsum(share)
        slope = (by_k1 * k1 * 2500 + by_k2 * k2 * 5000) / kelvin**2
        return -share.sum(), -100 * (weights @ slope)

    start = np.linspace(0.85, 0.25, knots)
    options = {"ftol": 1e-15, "gtol": 1e-10}
    found = minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=[(0, 1)] * knots, options=options
    )
    return between(np.clip(298 + 100 * found.x, 298, 398))


@pytest.mark.parametrize("vector", vectors(TASK))
def test_parity(vector: Vector) -> None:
    vector.check(verdict(TASK, vector.answer))


@pytest.mark.parametrize("vector", vectors(TASK, "line_398_298", "above_bound_1e-9", "nan"))
def test_parity_of_programs(vector: Vector, tmp_path: Path) -> None:
    result = evaluate(TASK, program_returning(tmp_path, repr(vector.answer)))
    assert result.status == ("valid" if vector.valid else "invalid")
    assert result.search == (pytest.approx(vector.score, rel=1e-9) if vector.valid else None)


def test_initial_program_is_x0() -> None:
    result = evaluate(TASK, find_task(TASK).initial_program)
    assert result.search == result.objective == pytest.approx(0.5770619467809873, rel=1e-9)
    assert result.ndg == pytest.approx(0, abs=1e-5)


def test_stored_reference_profile_is_the_sota(tmp_path: Path) -> None:
    profile = between(REFERENCE_KNOTS)
    result = evaluate(TASK, program_returning(tmp_path, repr({"temperature": profile})))
    assert result.search == pytest.approx(0.6107841028214612, rel=1e-9)
    assert result.ndg == pytest.approx(100, abs=1e-5)
    assert profile[0] == 398.0
    assert profile[-1] == pytest.approx(326.29, abs=5e-3)


@pytest.mark.parametrize(
    ("knots", "printed"), [(11, 0.610621), (51, 0.610784), (101, 0.610793), (501, 0.610803)]
)
def test_optimal_profiles_reach_the_measured_yields(knots: int, printed: float) -> None:
    value = yield_of(optimal_profile(knots))
    assert value == pytest.approx(printed, abs=6e-7)
    if knots == 501:
        assert value == pytest.approx(0.6108028480503, abs=1e-9)
        anchors = find_task(TASK).declared.anchors
        gain = ndg(value, anchors.initial.value, anchors.sota.value).value
        assert f"{gain:.1f}" == "100.1"


@settings(max_examples=15, deadline=None)
@given(st.floats(298, 398))
def test_constant_temperatures_agree_with_the_integral_solution(temperature: float) -> None:
    assert yield_of([temperature] * 501) == pytest.approx(isothermal(temperature), abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(298, 398), min_size=2, max_size=60))
def test_no_profile_beats_the_optimum_and_mass_is_kept(knots: list[float]) -> None:
    profile = np.clip(between(knots), 298, 398)
    score = scored(TASK, {"temperature": profile})
    assert 0 < score.metrics["final_b"] < 0.610804
    total = sum(score.metrics[f"final_{name}"] for name in "abc")
    assert total == pytest.approx(1, abs=1e-8)


@pytest.mark.parametrize("kelvin", [298, 335.34, 398])
def test_measured_isothermal_yields(kelvin: float) -> None:
    printed = {298: 0.467075, 335.34: 0.605947, 398: 0.175423}
    assert yield_of([kelvin] * 501) == pytest.approx(printed[kelvin], abs=6e-7)


def runge_kutta_yield(profile: list[float], steps: int) -> float:
    """B(1) by the classical fourth-order method with fixed steps on each interval."""

    def rates(a: float, b: float, kelvin: float) -> tuple[float, float]:
        made = 4000 * math.exp(-2500 / kelvin) * a * a
        return -made, made - 620000 * math.exp(-5000 / kelvin) * b

    a, b, h = 1.0, 0.0, 1 / 500 / steps
    for start, end in itertools.pairwise(profile):
        for step in range(steps):
            first, middle, last = (
                start + (end - start) * (step + part) / steps for part in (0, 0.5, 1)
            )
            a1, b1 = rates(a, b, first)
            a2, b2 = rates(a + h / 2 * a1, b + h / 2 * b1, middle)
            a3, b3 = rates(a + h / 2 * a2, b + h / 2 * b2, middle)
            a4, b4 = rates(a + h * a3, b + h * b3, last)
            a += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
            b += h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
    return b


def test_adaptive_steps_resolve_a_zig_zag_that_coarse_fixed_steps_do_not() -> None:
    zig_zag = [298.0 if i % 2 else 398.0 for i in range(501)]
    line = np.linspace(398, 298, 501).tolist()
    assert yield_of(line) == pytest.approx(runge_kutta_yield(line, 2), abs=1e-9)
    assert yield_of(zig_zag) == pytest.approx(runge_kutta_yield(zig_zag, 64), abs=1e-9)
    assert abs(yield_of(zig_zag) - runge_kutta_yield(zig_zag, 2)) > 1e-4


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"temperature": [350.0] * 500}, "501 entries; got 500"),
        ({"temperature": [350.0] * 500 + [398.0000000001]}, r"entry 500 .* outside \[298, 398\]"),
        ({"temperature": [297.99999999999] + [350.0] * 500}, "entry 0"),
        ({"temperature": [True] + [350.0] * 500}, "got bool"),
        ({"temperature": ["350"] + [350.0] * 500}, "got str"),
        ({"temperature": [[350.0]] * 501}, "must be a number; got list"),
        ({"temperature": [350.0] * 501, "score": 1.0}, "only the key temperature"),
        ({"temperatures": [350.0] * 501}, "lacks the key temperature"),
        ({"temperature": 350.0}, "must be a list"),
        ({"temperature": [float("nan")] * 501}, "finite"),
        ([350.0] * 501, "must be a dictionary"),
        ({0: [350.0] * 501}, "keys must be text"),
    ],
)
def test_reasons_name_the_broken_rule(answer: Any, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        scored(TASK, answer)


def test_bounds_are_closed_and_arrays_count_as_lists(tmp_path: Path) -> None:
    ends = np.array([298] * 250 + [398] * 251)
    assert yield_of(ends) == yield_of(ends.tolist()) == yield_of(tuple(ends.astype(float)))
    program = program_returning(tmp_path, '{"temperature": np.linspace(398, 298, 501)}')
    assert evaluate(TASK, program).search == pytest.approx(0.538803, abs=6e-7)


def test_picture_shows_profile_and_concentrations() -> None:
    above, below = drawn(TASK, {"temperature": between(REFERENCE_KNOTS)}).axes
    assert np.size(above.lines[0].get_ydata()) == 501
    assert [line.get_label() for line in below.lines] == ["A", "B", "C"]
