"""The metrics as properties: what R2 means whatever the numbers are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.ai_foundations.goodness import goodness

NUMBERS = st.floats(-50, 50, allow_nan=False, width=32)
TABLES = st.tuples(st.integers(2, 12), st.integers(1, 4)).flatmap(
    lambda shape: st.tuples(
        arrays(np.float64, shape, elements=NUMBERS), arrays(np.float64, shape, elements=NUMBERS)
    )
)


def _varied(targets: Any) -> bool:
    return bool((np.var(targets, axis=0) > 1e-3).all())


@given(TABLES)
def test_perfect_predictions_have_r2_one_where_targets_vary(pair: Any) -> None:
    _, targets = pair
    found = goodness(targets, targets)
    expected = [1.0 if variance > 1e-9 else -math.inf for variance in np.var(targets, axis=0)]
    assert list(found.r2_per_dim) == expected


@given(TABLES)
def test_the_mean_of_the_targets_explains_nothing(pair: Any) -> None:
    _, targets = pair
    if _varied(targets):
        found = goodness(np.broadcast_to(targets.mean(axis=0), targets.shape), targets)
        assert found.r2 == pytest.approx(0.0, abs=1e-9)
        assert found.nmae == pytest.approx(1.0, abs=1e-9)


@given(TABLES, st.floats(0.5, 4), st.floats(-9, 9), st.randoms(use_true_random=False))
def test_unit_offset_and_order_of_rows_do_not_matter(
    pair: Any, unit: float, offset: float, random: Any
) -> None:
    predictions, targets = pair
    if not _varied(targets):
        return
    order = list(range(len(targets)))
    random.shuffle(order)
    plain = goodness(predictions, targets)
    moved = goodness(unit * predictions[order] + offset, unit * targets[order] + offset)
    assert moved.nmse == pytest.approx(plain.nmse, rel=1e-6, abs=1e-9)
    assert moved.nmae == pytest.approx(plain.nmae, rel=1e-6, abs=1e-9)


@given(TABLES)
def test_reported_value_is_clipped(pair: Any) -> None:
    found = goodness(*pair)
    assert found.r2 <= 1.0
    assert found.reported == max(-1.0, found.r2)
    assert found.r2 == 1.0 - sum(found.nmse_per_dim) / len(found.nmse_per_dim) or math.isclose(
        found.r2, 1.0 - sum(found.nmse_per_dim) / len(found.nmse_per_dim), rel_tol=1e-12
    )


def test_one_constant_target_makes_the_mean_infinite() -> None:
    targets = np.array([[1.0, 3.0], [2.0, 3.0]])
    found = goodness(targets, targets)
    assert found.r2_per_dim == (1.0, -math.inf)
    assert (found.nmse, found.nmae, found.r2, found.reported) == (
        math.inf,
        math.inf,
        -math.inf,
        -1.0,
    )
