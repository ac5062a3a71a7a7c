"""Lennard-Jones cluster: parity, the icosahedron, symmetries of the energy, broken answers."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial.distance import pdist
from scipy.spatial.transform import Rotation
from simple_science_cases import Vector, drawn, program_returning, scored, vectors, verdict

from benchmark import evaluate
from benchmark.catalogue import find_task
from benchmark.evaluator import Invalid
from benchmark.ndg import ndg

TASK = "lj_13"
GLOBAL_MINIMUM = -44.32680141953402
ICOSAHEDRON = json.loads((find_task(TASK).folder / "data" / "icosahedron.json").read_text())
SEEDS = st.integers(0, 2**32 - 1)


def energy(points: Any) -> float:
    return scored(TASK, points).metrics["energy"]


def loose_cluster(seed: int) -> Any:
    """Icosahedron with every atom moved a little: an energy of ordinary size, no symmetry."""
    noise = np.random.default_rng(seed).normal(scale=0.05, size=(13, 3))
    return np.array(ICOSAHEDRON) + noise


@pytest.mark.parametrize("vector", vectors(TASK))
def test_parity(vector: Vector) -> None:
    vector.check(verdict(TASK, vector.answer))


@pytest.mark.parametrize("vector", vectors(TASK, "integers", "coincident", "overflow", "nan"))
def test_parity_of_programs(vector: Vector, tmp_path: Path) -> None:
    result = evaluate(TASK, program_returning(tmp_path, repr(vector.answer)))
    assert result.status == ("valid" if vector.valid else "invalid")
    assert result.search == (pytest.approx(vector.score, rel=1e-9) if vector.valid else None)


def test_initial_program_is_x0() -> None:
    result = evaluate(TASK, find_task(TASK).initial_program)
    assert result.search == result.objective == pytest.approx(0.2791620950018603, rel=1e-9)
    assert result.metrics["energy"] == pytest.approx(-12.374362631890557, rel=1e-9)
    assert result.ndg == pytest.approx(0, abs=1e-6)


def test_closed_form_icosahedron_is_the_stored_one_and_scores_one(tmp_path: Path) -> None:
    golden = (1 + math.sqrt(5)) / 2
    vertices = [
        np.roll([0, a, b], shift) for a in (-1, 1) for b in (-golden, golden) for shift in range(3)
    ]
    shape = np.array([np.zeros(3), *vertices])
    lengths = pdist(shape)
    scale = (2 * (lengths**-12.0).sum() / (lengths**-6.0).sum()) ** (1 / 6)
    result = evaluate(TASK, program_returning(tmp_path, repr((shape * scale).tolist())))
    assert result.search == pytest.approx(1.0, rel=1e-9)
    assert result.ndg == pytest.approx(100)
    for points in ((shape * scale).tolist(), ICOSAHEDRON):
        metrics = scored(TASK, points).metrics
        assert metrics["energy"] == pytest.approx(GLOBAL_MINIMUM, rel=1e-12)
        assert metrics["minimum_distance"] == pytest.approx(1.0818382885513658, rel=1e-12)


@settings(deadline=None)
@given(SEEDS)
def test_moving_turning_mirroring_and_renaming_atoms_changes_nothing(seed: int) -> None:
    points = loose_cluster(seed)
    rng = np.random.default_rng(seed)
    value = energy(points)
    turned = Rotation.random(random_state=seed).apply(points)
    for image in (points + rng.normal(size=3), turned, -points, rng.permutation(points)):
        assert energy(image) == pytest.approx(value, rel=1e-9)


@settings(deadline=None)
@given(SEEDS)
def test_energy_is_that_of_the_pairs(seed: int) -> None:
    points = np.random.default_rng(seed).uniform(-2, 2, size=(13, 3))
    lengths = pdist(points)
    expected = (4 * (lengths**-12.0 - lengths**-6.0)).sum()
    score = scored(TASK, points)
    assert score.metrics["energy"] == pytest.approx(expected, rel=1e-9)
    assert score.metrics["minimum_distance"] == pytest.approx(lengths.min())
    assert score.search == pytest.approx(max(0, -expected) / 44.326801, rel=1e-9)


@settings(deadline=None)
@given(st.floats(0.8, 2.0))
def test_the_icosahedron_has_its_best_size(factor: float) -> None:
    value = energy(np.array(ICOSAHEDRON) * factor)
    assert value >= GLOBAL_MINIMUM - 1e-12
    lengths = pdist(np.array(ICOSAHEDRON))
    sixth, twelfth = 4 * (lengths**-6.0).sum(), 4 * (lengths**-12.0).sum()
    assert value == pytest.approx(twelfth * factor**-12 - sixth * factor**-6, rel=1e-9)


def test_local_minima_lie_above_the_icosahedron() -> None:
    def energy_and_slope(flat: Any) -> tuple[float, Any]:
        points = flat.reshape(13, 3)
        steps = points[:, None] - points[None]
        square = (steps**2).sum(axis=-1) + np.eye(13)
        sixth = square**-3 - np.eye(13)
        slope = -24 * (2 * sixth**2 - sixth) / square
        return 2 * (sixth**2 - sixth).sum(), (slope[..., None] * steps).sum(axis=1).ravel()

    for seed in range(8):
        start = np.random.default_rng(seed).uniform(-1.5, 1.5, size=39)
        found = minimize(energy_and_slope, start, jac=True, method="L-BFGS-B")
        score = scored(TASK, found.x.reshape(13, 3))
        assert score.metrics["energy"] == pytest.approx(found.fun, rel=1e-9)
        assert GLOBAL_MINIMUM - 1e-9 <= score.metrics["energy"] < -30


def test_second_and_third_minimum_on_the_common_scale() -> None:
    anchors = find_task(TASK).declared.anchors
    for level, printed in ((-41.4446, 90.98), (-41.3944, 90.82)):
        gain = ndg(level / -44.326801, anchors.initial.value, anchors.sota.value).value
        assert gain == pytest.approx(printed, abs=6e-3)


def test_repulsive_cluster_is_valid_and_scores_zero(tmp_path: Path) -> None:
    squeezed = (np.array(ICOSAHEDRON) * 0.5).tolist()
    result = evaluate(TASK, program_returning(tmp_path, repr(squeezed)))
    assert result.status == "valid"
    assert result.search == 0.0
    assert result.metrics["energy"] > 0


def moved(*coordinates: Any) -> list[list[Any]]:
    """The icosahedron with another first atom."""
    return [list(coordinates), *ICOSAHEDRON[1:]]


@pytest.mark.parametrize(
    ("points", "reason"),
    [
        (ICOSAHEDRON[:12], "13 entries; got 12"),
        ([row[:2] for row in ICOSAHEDRON], "row 0 of the answer must have 3 entries; got 2"),
        (np.array(ICOSAHEDRON).ravel(), "13 entries; got 39"),
        (moved(True, False, False), "entry 0 of row 0 of the answer must be a number; got bool"),
        (moved("0", 0, 0), "got str"),
        (moved(float("inf"), 0, 0), "finite"),
        (moved(*ICOSAHEDRON[5]), "atoms 0 and 5 are at the same place"),
        (moved(ICOSAHEDRON[5][0], *ICOSAHEDRON[5][1:]), "same place"),
        (moved(1e200, 0.0, 0.0), "atoms 0 and 1 overflows"),
        (moved(1.7e308, 0, 0), "overflows"),
        ({"positions": ICOSAHEDRON}, "must be a list"),
        (None, "must be a list"),
    ],
)
def test_reasons_name_the_broken_rule(points: Any, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        scored(TASK, points)


@pytest.mark.parametrize("gap", [5e-324, 1e-200, 1e-160, 1e-100, 1e-60, 1e-27])
def test_a_hair_s_breadth_is_invalid_whatever_overflows(gap: float) -> None:
    line = [[3.0 * i, 0.0, 0.0] for i in range(12)]
    assert verdict(TASK, [*line, [0.0, gap, 0.0]]) is None


def test_a_sum_that_overflows_is_invalid() -> None:
    gap = (4e307) ** (-1 / 12)  # each of the twelve nearest pairs has 1.6e308
    with pytest.raises(Invalid, match="the energy overflows; some atoms"):
        scored(TASK, [[gap * i, 0.0, 0.0] for i in range(13)])


def test_far_atoms_are_valid() -> None:
    assert scored(TASK, [[1e100 * i, 0.0, 0.0] for i in range(13)]).search == 0.0


def test_arrays_and_tuples_score_like_lists(tmp_path: Path) -> None:
    program = program_returning(tmp_path, f"np.array({ICOSAHEDRON}) + np.array([1, 2, 3])")
    assert evaluate(TASK, program).search == pytest.approx(1.0, rel=1e-9)
    tuples = tuple(tuple(row) for row in ICOSAHEDRON)
    assert scored(TASK, tuples) == scored(TASK, ICOSAHEDRON)
    assert verdict(TASK, set(tuples)) is None


def test_picture_counts_the_contacts() -> None:
    space, curve = drawn(TASK, ICOSAHEDRON).axes
    assert len(space.lines) == 42
    assert "78 pairs, 42" in curve.get_title()
