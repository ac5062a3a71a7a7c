"""Autoconvolution and overlap of step functions, fast in floating point.

A step function on n equal cells has a piecewise linear autoconvolution (and overlap function) with
knots at whole cells, so the largest value over the 2n - 1 grid lags is the exact maximum.

Notation: heights a_0 ... a_{n-1}; (a*a)_k = sum_i a_i a_{k-i} for k = 0 ... 2n-2; overlap
M_k = sum_i h_i (1 - h_{i+k}) for k = -(n-1) ... n-1, both factors zero outside the n cells. Widths
of cells are left to the caller. :mod:`tasks.mathematics.exact_autoconvolution` is exact.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import scipy.fft
from numpy.typing import NDArray

Heights: TypeAlias = NDArray[np.float64]

DIRECT_UP_TO = 256
"""Cells up to which the direct sum is faster than the transform (measured)."""

CHECKED_LAGS = 10
"""How many of the highest lags are summed again, in twice the working precision."""

NEAR_MAXIMUM = 1e-9
"""Relative distance from the maximum within which a lag is summed again."""

CANCELLATION = 100.0
"""Ratio sum(a^2) / maximum from which the transform's error (about 1e-16 log2(n) sum(a^2)) is
worth a second look."""


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
    transform's relative error stays near 1e-16 log2(n) sqrt(2n); where that might come near
    1e-12 the highest lags are summed again.
    """
    sizes = np.abs(values)
    peak = float(sizes.max())
    if float(np.dot(a, a)) <= CANCELLATION * peak:
        return peak
    return max(abs(_sum_of_products(a, a[::-1], k - len(a) + 1)) for k in _highest(sizes))


def overlap_peak(h: Heights, values: Heights) -> float:
    """max_k M_k, given ``values = overlap(h)``; the highest shifts are summed again.

    Good functions have long plateaus, where the transform's errors would decide the last digits.
    """
    middle = len(h) - 1
    return max(_overlap_at(h, k - middle) for k in _highest(values))


def lags_near(values: Heights, peak: float) -> float:
    """How many ``values`` lie within one millionth of their peak: optima have long plateaus."""
    return float(np.count_nonzero(values >= peak * (1.0 - 1e-6)))


def _highest(values: Heights) -> list[int]:
    """Indices of the values near the largest one, at most ``CHECKED_LAGS`` of them."""
    peak = float(values.max())
    near = np.flatnonzero(values >= peak - NEAR_MAXIMUM * abs(peak))
    if len(near) > CHECKED_LAGS:
        order = np.argpartition(values[near], -CHECKED_LAGS)[-CHECKED_LAGS:]
        near = near[order]
    return [int(index) for index in near]


def _sum_of_products(x: Heights, y: Heights, shift: int) -> float:
    """sum_i x_i y_{i-shift} over the common cells."""
    first, last = max(0, shift), min(len(x), len(x) + shift)
    return accurate_sum(*two_products(x[first:last], y[first - shift : last - shift]))


def _overlap_at(h: Heights, shift: int) -> float:
    first, last = max(0, -shift), min(len(h), len(h) - shift)
    left, right = h[first:last], h[first + shift : last + shift]
    product, error = two_products(left, right)
    return accurate_sum(left, -product, -error)


def accurate_sum(*parts: Heights) -> float:
    """The sum of all terms of some arrays, as if added in twice the working precision.

    The terms are cut at one power of two, such that the upper parts add up without any rounding
    error (S. M. Rump, T. Ogita, S. Oishi, SIAM J. Sci. Comput. 31, 2008, ExtractVector).
    """
    terms = np.concatenate(parts)
    _, exponent = math.frexp(float(np.abs(terms).max()))
    cut = math.ldexp(1.0, exponent + (len(terms) + 1).bit_length())
    upper = (cut + terms) - cut
    return float(upper.sum() + (terms - upper).sum())


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
