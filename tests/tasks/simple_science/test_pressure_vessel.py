"""Pressure vessel: parity, the enumerated optimum, each rule at its tolerance."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from simple_science_cases import Vector, drawn, program_returning, scored, vectors, verdict

from benchmark import evaluate
from benchmark.catalogue import find_task
from benchmark.evaluator import Invalid
from tasks.simple_science.pressure_vessel.evaluator import REFERENCE_COST, VOLUME, Design

TASK = "pressure_vessel"
REFERENCE = [0.8125, 0.4375, 42.09844559585492, 176.63659584243942]


def length_for(radius: float) -> float:
    """Length at which the vessel has exactly the needed volume."""
    return VOLUME / (math.pi * radius**2) - 4 * radius / 3


def radius_for(length: float) -> float:
    """Radius at which a vessel of this length has exactly the needed volume (bisection)."""
    low, high = 10.0, 70.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if length_for(middle) > length else (low, middle)
    return high


def cheapest(shell: float, head: float) -> tuple[float, list[float]] | None:
    """Lowest cost with these plates among 2001 radii, every vessel just large enough."""
    low, high = radius_for(200), min(shell / 0.0193, head / 0.00954)
    if high < low:
        return None
    radii = [low + (high - low) * step / 2000 for step in range(2000)] + [high]
    designs = [[shell, head, radius, length_for(radius)] for radius in radii]
    return min((Design(*design).cost(), design) for design in designs)


@pytest.mark.parametrize("vector", vectors(TASK))
def test_parity(vector: Vector) -> None:
    vector.check(verdict(TASK, vector.answer))


@pytest.mark.parametrize("vector", vectors(TASK, "second_thickness_pair", "numeric_string", "nan"))
def test_parity_of_programs(vector: Vector, tmp_path: Path) -> None:
    result = evaluate(TASK, program_returning(tmp_path, repr(vector.answer)))
    assert result.status == ("valid" if vector.valid else "invalid")
    assert result.search == (pytest.approx(vector.score, rel=1e-9) if vector.valid else None)


def test_initial_program_is_x0() -> None:
    result = evaluate(TASK, find_task(TASK).initial_program)
    assert result.search == result.objective == pytest.approx(0.5556650771491591, rel=1e-9)
    assert result.ndg == pytest.approx(0, abs=1e-6)


def test_enumeration_of_all_plates_finds_the_reference() -> None:
    # Cost grows with each thickness, so plates thicker than these only cost more.
    plates = [(d1 * 0.0625, d2 * 0.0625) for d1 in range(1, 25) for d2 in range(1, 20)]
    best = sorted(found for found in (cheapest(*pair) for pair in plates) if found)
    (first_cost, first), (second_cost, second) = best[:2]
    assert first == pytest.approx(REFERENCE, rel=1e-12)
    assert first_cost == pytest.approx(6059.714335048436, rel=1e-12)
    assert second[:2] == [0.875, 0.4375]
    assert second_cost == pytest.approx(6090.526201685869, rel=1e-9)
    assert scored(TASK, first).search == pytest.approx(1.0, rel=1e-9)


def test_published_optimum_is_accepted_at_its_printed_digits() -> None:
    score = scored(TASK, [0.8125, 0.4375, 42.0984455958549, 176.6365958424394])  # Yang et al.
    assert score.search == pytest.approx(1.0, rel=1e-9)


def test_second_pair_of_plates_on_the_common_scale(tmp_path: Path) -> None:
    cheaper = cheapest(0.875, 0.4375)
    assert cheaper is not None
    result = evaluate(TASK, program_returning(tmp_path, repr(cheaper[1])))
    assert result.ndg == pytest.approx(98.861, abs=5e-4)


@settings(deadline=None)
@given(
    shell=st.integers(1, 99),
    head=st.integers(1, 99),
    fill=st.floats(0, 1),
    length=st.floats(10, 200),
)
def test_no_valid_design_is_cheaper(shell: int, head: int, fill: float, length: float) -> None:
    thickest = min(shell * 0.0625 / 0.0193, head * 0.0625 / 0.00954, 200.0)
    least = radius_for(length)
    assume(thickest > least)
    design = Design(shell * 0.0625, head * 0.0625, least + fill * (thickest - least), length)
    score = scored(TASK, list(design))
    assert score.metrics["cost"] >= REFERENCE_COST * (1 - 1e-9)
    assert score.search == pytest.approx(REFERENCE_COST / score.metrics["cost"])
    assert min(score.metrics[f"{rule}_margin"] for rule in ("shell", "head", "volume")) > -1e-9
    thicker = design._replace(shell=design.shell + 0.0625)
    assert thicker.cost() > design.cost()


V50 = 4 / 3 * math.pi * 50**3
AT_TOLERANCE = {
    "shell_rule": lambda x: [0.8125, 0.4375, (0.8125 + x) / 0.0193, 177.0],
    "head_rule": lambda x: [1.25, 0.4375, (0.4375 + x) / 0.00954, 177.0],
    "volume_rule": lambda x: [1.25, 0.625, 50.0, (VOLUME * (1 - x) - V50) / (math.pi * 2500)],
    "length_bound": lambda x: [1.25, 0.625, 50.0, 200.0 + x],
    "lower_length_bound": lambda x: [1.3125, 0.6875, 66.0, 10.0 - x],
    "radius_bound": lambda x: [4.0, 2.0, 200.0 + x, 100.0],
    "shell_grid": lambda x: [1.25 + 0.0625 * x, 0.625, 50.0, 150.0],
    "head_grid": lambda x: [1.25, 0.625 - 0.0625 * x, 50.0, 150.0],
}


@pytest.mark.parametrize("rule", AT_TOLERANCE)
def test_every_rule_allows_1e_9_and_no_more(rule: str) -> None:
    assert verdict(TASK, AT_TOLERANCE[rule](0.0)) is not None
    assert verdict(TASK, AT_TOLERANCE[rule](9e-10)) is not None
    assert verdict(TASK, AT_TOLERANCE[rule](1.1e-9)) is None


@pytest.mark.parametrize(
    ("design", "reason"),
    [
        ([0.8, 0.4375, 41.0, 190.0], "shell must be a multiple of 0.0625"),
        ([1.25, -0.625, 50.0, 150.0], "head must be positive"),
        ([0.0, 0.625, 50.0, 150.0], "shell must be positive"),
        ([6.25, 0.625, 50.0, 150.0], "shell <= 6.1875 in"),
        ([1.25, 0.625, 9.0, 150.0], "radius >= 10"),
        ([0.75, 0.375, 38.8601, 221.3655], "length <= 200"),
        ([0.75, 0.4375, 42.0, 180.0], "shell >= 0.0193 radius"),
        ([0.8125, 0.375, 42.0, 180.0], "head >= 0.00954 radius"),
        ([0.8125, 0.4375, 42.0984, 176.6366], "volume >= 1296000"),
        ([1e308, 1e308, 1e308, 1e308], "shell <= 6.1875 in"),
        ([1.25, 0.625, 10**400, 150.0], "entry 2 of the answer is an integer too large"),
    ],
)
def test_reasons_name_the_broken_rule(design: list[float], reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        scored(TASK, design)


def test_arrays_and_tuples_score_like_lists(tmp_path: Path) -> None:
    result = evaluate(TASK, program_returning(tmp_path, f"np.array({REFERENCE})"))
    assert result.search == pytest.approx(1.0, rel=1e-9)
    assert verdict(TASK, tuple(REFERENCE)) == scored(TASK, REFERENCE)
    assert verdict(TASK, set(REFERENCE)) is None


def test_picture_shows_shell_and_both_heads() -> None:
    (axes,) = drawn(TASK, REFERENCE).axes
    assert len(axes.patches) >= 4
    assert "6059.7143" in axes.get_title()
