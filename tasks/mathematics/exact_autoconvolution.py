"""Autoconvolution and overlap of step functions in exact arithmetic, for certificates.

Every double is an integer over a power of two, so the values that the scores are made of are
fractions of integers. Notation as in :mod:`tasks.mathematics.autoconvolution`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from benchmark.evaluator import Unavailable
from tasks.mathematics.autoconvolution import Heights

MAX_PACKED_BITS = 2**31
"""Longest integer that the exact product multiplies (256 MB)."""

_DIGITS = Context(prec=40)


def scaled_integers(a: Heights) -> tuple[list[int], int]:
    """Integers A_i and an exponent K >= 0 with a_i = A_i / 2^K exactly."""
    ratios = [value.as_integer_ratio() for value in a.tolist()]
    exponent = max(denominator.bit_length() - 1 for _, denominator in ratios)
    numerators = [
        numerator << (exponent - denominator.bit_length() + 1) for numerator, denominator in ratios
    ]
    return numerators, exponent


def convolution(x: Sequence[int], y: Sequence[int]) -> list[int]:
    """sum_i x_i y_{k-i} for k = 0 ... 2n-2 in exact integers, by Kronecker substitution.

    Both polynomials are evaluated at a power of two so large that no coefficient of the product
    can reach its neighbour; one big multiplication (by gmpy2 where installed) gives all of them.
    Raises :class:`Unavailable` when the numbers span too many orders of magnitude.
    """
    n = len(x)
    largest = max(1, *map(abs, x)) * max(1, *map(abs, y)) * n
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


def autoconvolution(a: Heights) -> tuple[list[int], int]:
    """Integers C_k and an exponent K with (a*a)_k = C_k / 2^K exactly, k = 0 ... 2n-2."""
    numerators, exponent = scaled_integers(a)
    return convolution(numerators, numerators), 2 * exponent


def total(a: Heights) -> Fraction:
    """sum_i a_i as a fraction."""
    numerators, exponent = scaled_integers(a)
    return Fraction(sum(numerators), 1 << exponent)


def overlap_peak(numerators: Sequence[int], denominator: int) -> Fraction:
    """max_k M_k for h_i = numerators[i] / denominator."""
    complements = [denominator - numerator for numerator in numerators]
    overlaps = convolution(complements, numerators[::-1])
    return Fraction(max(overlaps), denominator**2)


def facts(name: str, value: Fraction) -> dict[str, str]:
    """An exact number as text: the nearest double, and 40 significant decimal digits."""
    quotient = _DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))
    return {name: repr(float(value)), f"{name}_decimal": str(quotient)}
