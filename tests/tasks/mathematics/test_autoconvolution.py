"""The arithmetic below the step-function tasks: transforms, careful sums, exact products."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from step_functions import ROUNDING, overlapping, signed, unhurried

from benchmark.evaluator import Unavailable
from tasks.mathematics import exact_autoconvolution as exact
from tasks.mathematics.autoconvolution import (
    Heights,
    accurate_sum,
    autoconvolution,
    autoconvolution_peak,
    overlap,
    overlap_peak,
    two_products,
)


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
