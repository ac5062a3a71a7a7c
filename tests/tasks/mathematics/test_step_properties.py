"""What must hold for every step function: symmetries, exactness, known bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import evaluator_for, through_the_wire
from step_functions import ROUNDING, admissible, nonnegative, overlapping, signed, unhurried

from benchmark import Artifact, Invalid
from tasks.mathematics import exact_autoconvolution as exact
from tasks.mathematics.autoconvolution import (
    CANCELLATION,
    Heights,
    autoconvolution,
    autoconvolution_peak,
)

EVALUATORS = {task: evaluator_for(task) for task in ("erdos", "ac1", "ac2", "ac3")}
CERTIFIED = {"erdos": "c5", "ac1": "c1", "ac2": "c2", "ac3": "c3"}
every_task = pytest.mark.parametrize("task", list(EVALUATORS))


def value(task: str, heights: Any) -> float:
    objective = EVALUATORS[task].score(Artifact(heights), "search").objective
    assert objective is not None
    return objective


def certified(task: str, heights: Heights) -> float:
    return float(EVALUATORS[task].certify(Artifact(heights))[CERTIFIED[task]])


def np_stack(items: list[Any]) -> Any:
    """Items as rows of one array where they fit together, else as they are."""
    try:
        return np.array(items)
    except (ValueError, OverflowError):
        return items


def stored(data: Any) -> Callable[[], Artifact]:
    return lambda: Artifact(data)


# --- symmetries ----------------------------------------------------------------------------------


@every_task
@unhurried
@given(data=st.data())
def test_reversal(task: str, data: st.DataObject) -> None:
    heights = data.draw(admissible(task))
    assert value(task, heights[::-1]) == pytest.approx(value(task, heights), rel=ROUNDING)


@every_task
@unhurried
@given(data=st.data(), times=st.integers(2, 3))
def test_finer_cells(task: str, data: st.DataObject, times: int) -> None:
    heights = data.draw(admissible(task))
    finer = np.repeat(heights, times)
    assert value(task, finer) == pytest.approx(value(task, heights), rel=ROUNDING)


@pytest.mark.parametrize("task", ["ac1", "ac2", "ac3"])
@unhurried
@given(data=st.data(), factor=st.floats(0.001, 10.0))
def test_scaling(task: str, data: st.DataObject, factor: float) -> None:
    heights = data.draw(admissible(task))
    assert value(task, factor * heights) == pytest.approx(value(task, heights), rel=ROUNDING)


@unhurried
@given(overlapping(), st.floats(0.001, 1.0))
def test_scaling_of_the_integral_is_undone(heights: Heights, factor: float) -> None:
    assert value("erdos", factor * heights) == pytest.approx(value("erdos", heights), rel=ROUNDING)


@unhurried
@given(signed())
def test_sign(heights: Heights) -> None:
    assert value("ac3", -heights) == value("ac3", heights)


@unhurried
@given(overlapping())
def test_complement(heights: Heights) -> None:
    """1 - h has integral 1 too; its overlap function is that of h, mirrored."""
    h = heights * (0.5 * len(heights) / heights.sum())
    assert value("erdos", 1.0 - h) == pytest.approx(value("erdos", h), rel=ROUNDING)


# --- agreement with the definitions --------------------------------------------------------------


@every_task
@unhurried
@given(data=st.data())
def test_exact_arithmetic(task: str, data: st.DataObject) -> None:
    heights = data.draw(admissible(task))
    assert value(task, heights) == pytest.approx(certified(task, heights), rel=ROUNDING)


def integer_heights(low: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(low, 9), min_size=1, max_size=12)


@unhurried
@given(integer_heights(0).filter(any))
def test_c1_and_c2_from_their_definitions(heights: list[int]) -> None:
    n, total = len(heights), sum(heights)
    c = [sum(heights[i] * heights[k - i] for i in range(n) if 0 <= k - i < n) for k in range(2 * n)]
    width = Fraction(1, 2 * n)
    # values of f*f at the ends of its 2n cells: c is per cell width, and zero at both ends
    ends = [Fraction(0), *(width * value for value in c[:-1]), Fraction(0)]
    cells = list(pairwise(ends))
    squared_norm = width * sum((y * y + y * z + z * z) / 3 for y, z in cells)
    norm = width * sum((y + z) / 2 for y, z in cells)
    integral = width * total
    assert norm == integral**2
    c1, c2 = max(ends) / integral**2, squared_norm / (norm * max(ends))
    assert value("ac1", heights) == pytest.approx(float(c1), rel=1e-14)
    assert value("ac2", heights) == pytest.approx(float(c2), rel=1e-14)
    assert certified("ac1", np.array(heights)) == float(c1)
    assert certified("ac2", np.array(heights)) == float(c2)


@unhurried
@given(integer_heights(-9).filter(sum))
def test_c3_from_its_definition(heights: list[int]) -> None:
    n = len(heights)
    c = [sum(heights[i] * heights[k - i] for i in range(n) if 0 <= k - i < n) for k in range(2 * n)]
    c3 = Fraction(2 * n * max(map(abs, c)), sum(heights) ** 2)
    assert value("ac3", heights) == pytest.approx(float(c3), rel=1e-14)
    assert certified("ac3", np.array(heights)) == float(c3)


@unhurried
@given(st.lists(st.integers(0, 16), min_size=1, max_size=12).filter(any), st.floats(-2.0, 2.0))
def test_no_shift_between_the_cells_overlaps_more(sixteenths: list[int], shift: float) -> None:
    heights = [Fraction(count, 16) for count in sixteenths]
    if sum(heights) * 2 < len(heights):
        heights = [1 - height for height in heights]
    n = len(heights)
    h = [height * n / (2 * sum(heights)) for height in heights]
    x = Fraction(shift)
    moved, width = [i + x * n / 2 for i in range(n)], Fraction(2, n)

    def common(start: Fraction, j: int) -> Fraction:
        return max(Fraction(0), min(start, Fraction(j)) + 1 - max(start, Fraction(j)))

    # the overlap of h, moved by any real x, with 1 - h
    overlap_at_x = width * sum(
        h[i] * (1 - h[j]) * common(moved[i], j) for i in range(n) for j in range(n)
    )
    c5 = value("erdos", [float(height) for height in heights])
    assert float(overlap_at_x) <= c5 * (1 + 1e-14)


# --- known bounds --------------------------------------------------------------------------------


@unhurried
@given(overlapping())
def test_no_function_beats_the_bound_of_white(heights: Heights) -> None:
    assert value("erdos", heights) > 0.379005


@unhurried
@given(nonnegative(), signed())
def test_proven_bounds(heights: Heights, with_signs: Heights) -> None:
    assert value("ac1", heights) >= 1.28  # Cloninger and Steinerberger
    assert 0.0 < value("ac2", heights) <= 1.0  # Hoelder
    assert value("ac3", with_signs) >= 1.0 - ROUNDING  # f*f integrates to 1 over an interval of 1


# --- whatever comes is scored or invalid ----------------------------------------------------------

numbers = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**400, -(10**400), 2**63, 1, 2]),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.floats(width=32).map(np.float32),
    st.floats().map(np.float64),
    st.floats().map(np.array),
    st.integers(0, 9).map(np.int64),
)
arrays = st.lists(st.floats(), max_size=6).flatmap(
    lambda items: st.sampled_from(["f8", "f4", "f2", "c16", "U3", "?", "O", "i8"]).map(
        lambda dtype: np.array([item if math.isfinite(item) else 0 for item in items]).astype(dtype)
    )
)
anything = st.recursive(
    st.one_of(numbers, arrays),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=5).map(tuple),
        st.dictionaries(st.sampled_from(["construction", "claim", "n_points", "x"]), inner),
        st.lists(inner, max_size=3).map(np_stack),
    ),
    max_leaves=8,
)


@every_task
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
@settings(deadline=None, max_examples=150)
@given(returned=anything)
def test_other_values_are_scored_or_invalid(task: str, returned: Any) -> None:
    evaluator = EVALUATORS[task]
    for artifact_of in (lambda: evaluator.convert(through_the_wire(returned)), stored(returned)):
        try:
            score = evaluator.score(artifact_of(), "search")
        except Invalid:
            continue
        assert score.objective is not None
        assert score.objective > 0.0


# --- a hard case for the transform -------------------------------------------------------------


def sidon_heights(prime: int) -> Heights:
    """Ones whose pairwise sums are all different (Erdős and Turán): a*a has no value above 2.

    Their positions 2 p k + (k^2 mod p), k = 0 ... p-1, reach up to about 2 p^2.
    """
    k = np.arange(prime)
    heights = np.zeros(2 * prime**2)
    heights[2 * prime * k + k * k % prime] = 1.0
    return heights


@pytest.mark.parametrize("task", ["ac1", "ac2"])
def test_spikes_that_strain_the_transform(task: str) -> None:
    a = sidon_heights(307) * np.random.default_rng(1).uniform(0.9, 1.1, 2 * 307**2)
    values = autoconvolution(a)
    assert a @ a > CANCELLATION * values.max()  # the highest lags are summed again
    assert value(task, a) == pytest.approx(certified(task, a), rel=ROUNDING)
    exact_values, exponent = exact.autoconvolution(a)
    assert autoconvolution_peak(a, values) == float(Fraction(max(exact_values), 1 << exponent))
