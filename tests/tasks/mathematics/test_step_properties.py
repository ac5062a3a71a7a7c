"""What must hold for every step function: symmetries, exactness, known bounds."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import evaluator_for

from benchmark import Artifact
from benchmark.evaluator import Unavailable
from tasks.mathematics import exact_autoconvolution as exact
from tasks.mathematics.autoconvolution import (
    CANCELLATION,
    DIRECT_UP_TO,
    Heights,
    accurate_sum,
    autoconvolution,
    autoconvolution_peak,
    overlap,
    overlap_peak,
    two_products,
)

unhurried = settings(deadline=None, max_examples=60)  # the machine may be busy
EVALUATORS = {task: evaluator_for(task) for task in ("erdos", "ac1", "ac2", "ac3")}
CERTIFIED = {"erdos": "c5", "ac1": "c1", "ac2": "c2", "ac3": "c3"}
ROUNDING = 1e-12  # relative
every_task = pytest.mark.parametrize("task", list(EVALUATORS))


def value(task: str, heights: Any) -> float:
    objective = EVALUATORS[task].score(Artifact(heights), "search").objective
    assert objective is not None
    return objective


def certified(task: str, heights: Heights) -> float:
    return float(EVALUATORS[task].certify(Artifact(heights))[CERTIFIED[task]])


@st.composite
def nonnegative(draw: st.DrawFn) -> Heights:
    """Up to 600 heights in [0, 100]: even, with gaps, in plateaus, or over many magnitudes."""
    # twice the longest direct sum: both ways of convolving are met, also after doubling the cells
    n = draw(st.integers(1, 2 * DIRECT_UP_TO + 100))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    a = generator.uniform(0.0, 100.0, n)
    kind = draw(st.sampled_from(["even", "gaps", "plateaus", "magnitudes"]))
    if kind == "gaps":
        a *= generator.random(n) < 0.2
    elif kind == "plateaus":
        a = np.round(a / 50.0) * 50.0
    elif kind == "magnitudes":
        a = 10.0 ** generator.uniform(-12.0, 2.0, n)
    a[generator.integers(n)] = 100.0
    return a


@st.composite
def signed(draw: st.DrawFn) -> Heights:
    """Heights of both signs whose sum is not small beside their sizes."""
    a = draw(nonnegative())
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    signs = np.where(generator.random(len(a)) < draw(st.sampled_from([0.02, 0.3])), -1.0, 1.0)
    a = a * signs
    if abs(a.sum()) < 0.01 * np.abs(a).sum():
        a = np.abs(a)
    return a


@st.composite
def overlapping(draw: st.DrawFn) -> Heights:
    """Heights in [0, 1] that stay there when they are scaled to integral 1."""
    h = draw(nonnegative()) / 100.0
    return 1.0 - h if h.mean() < 0.5 else h


def admissible(task: str) -> st.SearchStrategy[Heights]:
    return {"erdos": overlapping(), "ac3": signed()}.get(task, nonnegative())


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
    scaled = factor * (heights * 0.999)  # off the bound 1, which rounding could cross
    assert value("erdos", scaled) == pytest.approx(value("erdos", heights), rel=1e-11)


@unhurried
@given(signed())
def test_sign(heights: Heights) -> None:
    assert value("ac3", -heights) == value("ac3", heights)


@unhurried
@given(overlapping())
def test_complement(heights: Heights) -> None:
    """1 - h has integral 1 too; its overlap function is that of h, mirrored."""
    h = heights * (0.5 * len(heights) / heights.sum())
    h = 0.999 * h + 0.0005  # off the bounds, which rounding could cross
    assert value("erdos", 1.0 - h) == pytest.approx(value("erdos", h), rel=1e-11)


# --- agreement with the definitions --------------------------------------------------------------


@every_task
@unhurried
@given(data=st.data())
def test_exact_arithmetic(task: str, data: st.DataObject) -> None:
    heights = data.draw(admissible(task))
    assert value(task, heights) == pytest.approx(certified(task, heights), rel=ROUNDING)


@unhurried
@given(signed())
def test_transform_against_direct_sums(a: Heights) -> None:
    direct = np.convolve(a, a)
    values = autoconvolution(a)
    np.testing.assert_allclose(values, direct, rtol=0, atol=1e-14 * float(a @ a))
    peak = autoconvolution_peak(a, values)
    assert peak == pytest.approx(float(np.abs(direct).max()), rel=ROUNDING)


@unhurried
@given(overlapping())
def test_overlap_against_direct_sums(h: Heights) -> None:
    # numpy's correlation lists the shifts of its second argument, ours run the other way
    direct = np.correlate(h, 1.0 - h, mode="full")[::-1]
    values = overlap(h)
    np.testing.assert_allclose(values, direct, rtol=0, atol=1e-14 * len(h))
    assert overlap_peak(h, values) == pytest.approx(float(direct.max()), rel=ROUNDING)


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


# --- arithmetic ----------------------------------------------------------------------------------


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


@unhurried
@given(signed(), st.data())
def test_rounding_errors_of_products(x: Heights, data: st.DataObject) -> None:
    y = np.roll(x, data.draw(st.integers(0, len(x)))) / 3.0
    product, error = two_products(x, y)
    for factors in zip(x.tolist(), y.tolist(), product.tolist(), error.tolist(), strict=True):
        a, b, rounded, rest = map(Fraction, factors)
        assert a * b == rounded + rest


@unhurried
@given(signed(), st.integers(0, 2**32 - 1), st.booleans())
def test_accurate_sum(x: Heights, seed: int, cancels: bool) -> None:
    parts = [x, np.random.default_rng(seed).permutation(x) / 3.0]
    if cancels:  # all but a millionth of the first part is taken away again
        parts.append(-x * 0.999999)
    terms = np.concatenate(parts).tolist()
    error = abs(accurate_sum(*parts) - math.fsum(terms))
    assert error <= max(math.ulp(math.fsum(terms)), 1e-28 * math.fsum(map(abs, terms)))


integers = st.integers(-(2**70), 2**70)


@st.composite
def pairs_of_integer_lists(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    n = draw(st.integers(1, 20))
    lists = st.lists(integers, min_size=n, max_size=n)
    return draw(lists), draw(lists)


@unhurried
@given(pairs_of_integer_lists(), st.booleans())
def test_exact_convolution_against_sums(
    pair: tuple[list[int], list[int]], without_gmpy2: bool
) -> None:
    x, y = pair
    n = len(x)
    expected = [sum(x[i] * y[k - i] for i in range(n) if 0 <= k - i < n) for k in range(2 * n - 1)]
    with pytest.MonkeyPatch.context() as patch:
        if without_gmpy2:
            patch.setitem(sys.modules, "gmpy2", None)
        assert exact.convolution(x, y) == expected
        assert exact.convolution(x, x)[0] == x[0] ** 2


@pytest.mark.parametrize("other", [[0, 0, 0], [1, -1, 0], [10**40, -(10**40), 7]])
def test_exact_convolution_with_zeros(other: list[int]) -> None:
    assert exact.convolution([0, 0, 0], other) == exact.convolution(other, [0, 0, 0]) == [0] * 5


@unhurried
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_doubles_are_fractions_of_one_power_of_two(heights: list[float]) -> None:
    numerators, exponent = exact.scaled_integers(np.array(heights))
    assert [Fraction(numerator, 1 << exponent) for numerator in numerators] == [
        Fraction(height) for height in heights
    ]
    assert exact.total(np.array(heights)) == sum(map(Fraction, heights))


def test_absurd_certificates_are_declined() -> None:
    with pytest.raises(Unavailable, match="bits"):
        exact.convolution([1 << 200_000] * 3000, [1 << 200_000] * 3000)


def test_exact_facts_are_rounded_only_at_the_end() -> None:
    facts = exact.facts("third", Fraction(1, 3))
    assert facts == {"third": "0.3333333333333333", "third_decimal": "0." + "3" * 40}
