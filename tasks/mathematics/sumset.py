"""Sizes of sum sets and difference sets of finite sets of integers.

Two exact ways, which :func:`sumset_sizes` chooses between by the span of the set: bits of one
long integer, whose work grows with elements times span, and tables of booleans, whose work grows
with the number of pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.candidates import type_name
from benchmark.evaluator import Invalid

LARGEST = 1_000_000
"""Elements lie in [-LARGEST, LARGEST]."""

MOST_VALUES = 2 * LARGEST + 1
"""Longest input, repeated values included: as many as there are integers to choose from."""

INTEGER_TOLERANCE = 1e-9

BITSET_SPAN = 50_000
"""Sets with a smaller span are counted with bits."""


def integer_set(values: Any) -> list[int]:
    """The distinct elements of any iterable of numbers or numeric texts, in increasing order.

    Arrays are flattened. Raises :class:`Invalid`, naming the first offender, unless every element
    is within 1e-9 of an integer in [-1000000, 1000000].
    """
    if not isinstance(values, Iterable):
        raise Invalid(f"got a value of type {type_name(values)}; expected an iterable of integers")
    if isinstance(values, np.ndarray):
        if values.size > MOST_VALUES:
            raise Invalid(f"got {values.size} values; at most {MOST_VALUES} are read")
        values = values.ravel().tolist()
    return sorted({_integer(value, place) for place, value in enumerate(values)})


def _integer(value: Any, place: int) -> int:
    if isinstance(value, np.generic | np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, str):
        value = _parsed(value, place)
    if isinstance(value, int):
        nearest = int(value)
    elif not isinstance(value, float):
        raise Invalid(f"element {place} has type {type_name(value)}; expected an integer")
    elif not math.isfinite(value):
        raise Invalid(f"element {place} is {value}; expected an integer")
    else:
        nearest = round(value)
        if abs(value - nearest) > INTEGER_TOLERANCE:
            raise Invalid(f"element {place} is {value!r}, not within 1e-9 of an integer")
    if not -LARGEST <= nearest <= LARGEST:
        shown = str(nearest) if nearest.bit_length() < 100 else "too large"
        raise Invalid(f"element {place} is {shown}; allowed are -{LARGEST} to {LARGEST}")
    return nearest


def _parsed(text: str, place: int) -> float:
    try:
        return float(text)
    except ValueError:
        raise Invalid(f"element {place} is the text {text[:40]!r}; expected an integer") from None


def sumset_sizes(elements: list[int]) -> tuple[int, int]:
    """``(|A + A|, |A - A|)`` of a non-empty set given as distinct integers."""
    span = max(elements) - min(elements)
    return (bitset_sizes if span < BITSET_SPAN else table_sizes)(elements)


def bitset_sizes(elements: list[int]) -> tuple[int, int]:
    """As :func:`sumset_sizes`: bit a of a long integer stands for the element a."""
    least, span = min(elements), max(elements) - min(elements)
    shifts = [element - least for element in elements]
    bits = 0
    for shift in shifts:
        bits |= 1 << shift
    sums = differences = 0
    for shift in shifts:
        sums |= bits << shift
        differences |= bits << (span - shift)
    return sums.bit_count(), differences.bit_count()


def table_sizes(elements: list[int]) -> tuple[int, int]:
    """As :func:`sumset_sizes`: one boolean for each possible sum and each possible distance."""
    shifts = np.array(elements, dtype=np.int64) - min(elements)
    span = int(shifts.max())
    sums = _marked(shifts[:, None] + shifts, 2 * span + 1)
    distances = _marked(np.abs(shifts[:, None] - shifts), span + 1)
    return sums, 2 * distances - 1


def _marked(places: NDArray[np.int64], length: int) -> int:
    table = np.zeros(length, dtype=bool)
    table[places.ravel()] = True
    return int(np.count_nonzero(table))


def listed_sizes(elements: list[int]) -> tuple[int, int]:
    """As :func:`sumset_sizes` by listing all pairs: the check of the certificate."""
    sums = {a + b for a in elements for b in elements}
    differences = {a - b for a in elements for b in elements}
    return len(sums), len(differences)
