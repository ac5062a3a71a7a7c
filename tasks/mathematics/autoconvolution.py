"""Autoconvolution and overlap of step functions: fast in floating point, and exact.

A step function on n equal cells has a piecewise linear autoconvolution (and overlap function) with
knots at whole cells, so the largest value over the 2n - 1 grid lags is the exact maximum.

Notation: heights a_0 ... a_{n-1}; (a*a)_k = sum_i a_i a_{k-i} for k = 0 ... 2n-2; overlap
M_k = sum_i h_i (1 - h_{i+k}) for k = -(n-1) ... n-1, both factors zero outside the n cells. Widths
of cells are left to the caller.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from benchmark.evaluator import Unavailable

Heights: TypeAlias = NDArray[np.float64]

DIRECT_UP_TO = 256
"""Cells up to which the direct sum is faster than the transform (measured)."""

CHECKED_LAGS = 10
"""How many of the highest lags are summed again without rounding error."""

NEAR_MAXIMUM = 1e-9
"""Relative distance from the maximum within which a lag is summed again."""

CANCELLATION = 100.0
"""Ratio sum(a^2) / maximum from which the transform's error (about 1e-16 log2(n) sum(a^2)) is
worth a second look."""

MAX_PACKED_BITS = 2**31
"""Longest integer that the exact product multiplies (256 MB)."""


# --- floating point ----------------------------------------------------------------------------


def autoconvolution(a: Heights) -> Heights:
    """(a*a)_k for all lags, shape (2n-1,)."""
    return _convolve(a, a)


def overlap(h: Heights) -> Heights:
    """M_k for all shifts k = -(n-1) ... n-1, shape (2n-1,)."""
    # sum_i h_i g_{i+k} is the convolution of g with the mirrored h; entry 0 belongs to k = -(n-1).
    return _convolve(1.0 - h, h[::-1])


def _convolve(x: Heights, y: Heights) -> Heights:
    n = len(x)
    if n <= DIRECT_UP_TO:
        return np.convolve(x, y)
    lags = 2 * n - 1
    size = scipy.fft.next_fast_len(lags, real=True)
    spectrum = scipy.fft.rfft(x, size)
    spectrum *= spectrum if y is x else scipy.fft.rfft(y, size)
    full: Heights = scipy.fft.irfft(spectrum, size, overwrite_x=True)
    return full[:lags]


def autoconvolution_peak(a: Heights, values: Heights) -> float:
    """max_k |(a*a)_k|, given ``values = autoconvolution(a)``.

    By Cauchy-Schwarz and Parseval the maximum is at least sum(a^2) / sqrt(2n - 1), so the
    transform's relative error stays near 1e-16 log2(n) sqrt(2n); where it might exceed a few ulps
    the highest lags are summed again without rounding error.
    """
    sizes = np.abs(values)
    peak = float(sizes.max())
    if float(np.dot(a, a)) <= CANCELLATION * peak:
        return peak
    return max(abs(_exactly_summed(a, a[::-1], k - len(a) + 1)) for k in _highest(sizes))


def overlap_peak(h: Heights, values: Heights) -> float:
    """max_k M_k, given ``values = overlap(h)``; the highest lags are summed correctly rounded."""
    middle = len(h) - 1
    return max(_exact_overlap_at(h, k - middle) for k in _highest(values))


def _highest(values: Heights) -> list[int]:
    """Indices of the values near the largest one, at most ``CHECKED_LAGS`` of them."""
    peak = float(values.max())
    near = np.flatnonzero(values >= peak - NEAR_MAXIMUM * abs(peak))
    if len(near) > CHECKED_LAGS:
        order = np.argpartition(values[near], -CHECKED_LAGS)[-CHECKED_LAGS:]
        near = near[order]
    return [int(index) for index in near]


def _exactly_summed(x: Heights, y: Heights, shift: int) -> float:
    """sum_i x_i y_{i-shift} over the common cells, correctly rounded."""
    first, last = max(0, shift), min(len(x), len(x) + shift)
    products = two_products(x[first:last], y[first - shift : last - shift])
    return math.fsum(np.concatenate(products).tolist())


def _exact_overlap_at(h: Heights, shift: int) -> float:
    first, last = max(0, -shift), min(len(h), len(h) - shift)
    left, right = h[first:last], h[first + shift : last + shift]
    product, error = two_products(left, right)
    return math.fsum(np.concatenate([left, -product, -error]).tolist())


def two_products(x: Heights, y: Heights) -> tuple[Heights, Heights]:
    """Rounded products and their rounding errors: x y = product + error exactly.

    Dekker's product with Veltkamp's splitting (T. J. Dekker, Numer. Math. 18, 1971); exact unless
    an intermediate result over- or underflows (products outside about 1e-290 ... 1e290).
    """
    product = x * y
    x_high, x_low = _split(x)
    y_high, y_low = _split(y)
    error = x_low * y_low - (((product - x_high * y_high) - x_low * y_high) - x_high * y_low)
    return product, error


def _split(x: Heights) -> tuple[Heights, Heights]:
    scaled = 134217729.0 * x  # 2^27 + 1: halves of 26 bits
    high = scaled - (scaled - x)
    return high, x - high


# --- exact -------------------------------------------------------------------------------------


def scaled_integers(a: Heights) -> tuple[list[int], int]:
    """Integers A_i and an exponent K >= 0 with a_i = A_i / 2^K exactly."""
    ratios = [value.as_integer_ratio() for value in a.tolist()]
    exponent = max(denominator.bit_length() - 1 for _, denominator in ratios)
    numerators = [
        numerator << (exponent - denominator.bit_length() + 1) for numerator, denominator in ratios
    ]
    return numerators, exponent


def exact_convolution(x: Sequence[int], y: Sequence[int]) -> list[int]:
    """sum_i x_i y_{k-i} for k = 0 ... 2n-2 in exact integers, by Kronecker substitution.

    Both polynomials are evaluated at a power of two so large that no coefficient of the product
    can reach its neighbour; one big multiplication (by gmpy2 where installed) gives all of them.
    Raises :class:`Unavailable` when the numbers span too many orders of magnitude.
    """
    n = len(x)
    largest = max(map(abs, x)) * max(map(abs, y)) * n
    width = (largest.bit_length() + 2 + 7) // 8  # bytes of a slot, with room for the sign
    if 16 * width * n > MAX_PACKED_BITS:
        raise Unavailable(
            f"the exact certificate needs an integer of {16 * width * n} bits; "
            f"at most {MAX_PACKED_BITS} are multiplied"
        )
    packed = _pack(x, width)
    product = _multiply(packed, packed if y is x else _pack(y, width))
    lags = 2 * n - 1
    half = 1 << (8 * width - 1)
    # Lifting every slot by half its range makes all of them positive, so nothing borrows.
    lifted = product + int.from_bytes((b"\0" * (width - 1) + b"\x80") * lags, "little")
    content = lifted.to_bytes(width * lags, "little")
    return [
        int.from_bytes(content[start : start + width], "little") - half
        for start in range(0, width * lags, width)
    ]


def _pack(values: Sequence[int], width: int) -> int:
    def packed(part: Callable[[int], int]) -> int:
        slots = (part(value).to_bytes(width, "little") for value in values)
        return int.from_bytes(b"".join(slots), "little")

    positive = packed(lambda value: max(value, 0))
    if min(values) >= 0:
        return positive
    return positive - packed(lambda value: max(-value, 0))


def _multiply(x: int, y: int) -> int:
    try:
        gmpy2: Any = importlib.import_module("gmpy2")
    except ImportError:
        return x * y
    first = gmpy2.mpz(x)
    return int(first * (first if y is x else gmpy2.mpz(y)))


def exact_autoconvolution(a: Heights) -> tuple[list[int], int]:
    """Integers C_k and an exponent K with (a*a)_k = C_k / 2^K exactly, k = 0 ... 2n-2."""
    numerators, exponent = scaled_integers(a)
    return exact_convolution(numerators, numerators), 2 * exponent


def exact_sum(a: Heights) -> Fraction:
    """sum_i a_i as a fraction."""
    numerators, exponent = scaled_integers(a)
    return Fraction(sum(numerators), 1 << exponent)


def exact_overlap_peak(numerators: Sequence[int], denominator: int) -> Fraction:
    """max_k M_k for h_i = numerators[i] / denominator."""
    complements = [denominator - numerator for numerator in numerators]
    overlaps = exact_convolution(complements, numerators[::-1])
    return Fraction(max(overlaps), denominator**2)
