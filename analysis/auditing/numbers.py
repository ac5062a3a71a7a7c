"""Numbers in programs and pages, and when two printed numbers are the same.

A number counts by its *significant digits*: leading zeros do not count, and neither do trailing
ones, so that ``1000.0`` or ``0.50000`` says nothing about where it comes from. Signs are ignored:
``a-1.5`` and the many kinds of minus on web pages cannot be told apart reliably.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Context, Decimal
from functools import lru_cache

DIGITS = 5
"""Significant digits from which a number is telling."""
_LONGEST = 400
_LARGEST = 300
_NEAR = 1e-4  # five digits: half a unit of the shorter number is at most 5e-5 of it
_EXACT = Context(prec=1000, Emax=10_000, Emin=-10_000)

_PLAIN = re.compile(
    r"(?<![\w.])(\d[\d_]*+(?:\.[\d_]*+)?|\.\d[\d_]*+)(?:[eE]([+-]?\d{1,4}+))?"
    r"(?:_?[fiu](?:8|16|32|64|128|size)|[fFlLuUjJ]{1,3})?(?!\w|\.\d)"
)
_GROUPED = re.compile(r"(?<![\w.,])\d{1,3}+(?:,\d{3})++(?:\.\d++)?(?![\w,]|\.\d)")


@dataclass(frozen=True)
class Number:
    """A number as it is printed: its text, its value, and the exponent of its last digit.

    ``digits``: significant ones, without trailing zeros.
    """

    text: str
    value: Decimal
    unit: int
    digits: int


def numbers_in(text: str, digits: int = 0) -> Iterator[Number]:
    """All unsigned numbers of a text with at least so many significant digits.

    Those inside names, versions or dotted addresses are none.

    Understood are exponents, ``_`` between digits and the suffixes of C++ and Rust. Digits with
    commas are read in both ways: as a list, and as one number with separated thousands.
    """
    for match in _PLAIN.finditer(text):
        if len(match[1]) >= digits:
            number = _number(match[1].replace("_", ""), match[2])
            if number is not None and number.digits >= digits:
                yield number
    if "," in text:
        for match in _GROUPED.finditer(text):
            number = _number(match[0].replace(",", ""), None)
            if number is not None and number.digits >= digits:
                yield number


def telling(text: str, digits: int = DIGITS) -> dict[Decimal, Number]:
    """Numbers with at least ``digits`` significant digits, each value once, in order."""
    found: dict[Decimal, Number] = {}
    for number in numbers_in(text, digits):
        found.setdefault(number.value, number)
    return found


def same(one: Number, other: Number) -> bool:
    """Whether two printed numbers agree after rounding to the shorter precision.

    A last digit 5 may go either way: the longer one is itself rounded.
    """
    if one.value == other.value:
        return True
    short, long = (one, other) if one.unit >= other.unit else (other, one)
    if short.unit == long.unit:
        return False
    unit = Decimal(1).scaleb(short.unit)
    return any(
        long.value.quantize(unit, rounding=rounding, context=_EXACT) == short.value
        for rounding in (ROUND_HALF_DOWN, ROUND_HALF_UP)
    )


class NumberPage:
    """The telling numbers of a page, ready to be looked up."""

    def __init__(self, text: str) -> None:
        found = sorted(telling(text).values(), key=lambda number: number.value)
        self._numbers: Sequence[Number] = found
        self._places = [float(number.value) for number in found]

    def __len__(self) -> int:
        return len(self._numbers)

    def has_any(self, values: Set[Decimal]) -> bool:
        """Whether one of these values is printed here as it is."""
        return any(number.value in values for number in self._numbers)

    def shared_with(self, numbers: Iterable[Number]) -> list[tuple[Number, Number]]:
        """Pairs of a given number and the number here that it equals, each used at most once."""
        used: set[Decimal] = set()
        pairs = []
        for number in numbers:
            for here in self._near(number):
                if here.value not in used and same(number, here):
                    used.add(here.value)
                    pairs.append((number, here))
                    break
        return pairs

    def _near(self, number: Number) -> Iterator[Number]:
        place = float(number.value)
        index = bisect_left(self._places, place * (1 - _NEAR))
        while index < len(self._places) and self._places[index] <= place * (1 + _NEAR):
            yield self._numbers[index]
            index += 1


@lru_cache(maxsize=4096)
def _number(mantissa: str, exponent: str | None) -> Number | None:
    if len(mantissa) > _LONGEST:
        return None
    shift = int(exponent or 0)
    fraction = mantissa.partition(".")[2]
    unit = shift - len(fraction)
    value = Decimal(f"{mantissa}e{shift}")
    if abs(value.adjusted()) > _LARGEST:
        return None
    text = mantissa if exponent is None else f"{mantissa}e{exponent}"
    digits = len(mantissa.replace(".", "").strip("0"))
    return Number(text, value, unit, digits)
