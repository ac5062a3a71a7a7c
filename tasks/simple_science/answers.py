"""Checks that the answers of all ten tasks share: containers, keys, lengths and numbers.

An answer is a bare JSON value. A number has exactly the type int or float: a bool is no number, and
neither is a text such as "1.5"; numbers are finite. Objects have exactly the keys that the task
names. Every function raises :class:`~benchmark.evaluator.Invalid` with the place and the rule;
``name`` is how the message calls the value, as in ``"temperature"`` or ``"row 3"``.
"""

from __future__ import annotations

import math
import reprlib
from typing import Any

from benchmark.artifact import Artifact
from benchmark.candidates import json_value
from benchmark.evaluator import Invalid


def answer(artifact: Artifact) -> Any:
    """The artifact's data as JSON values with finite numbers; arrays count as lists."""
    try:
        return json_value(artifact.data)
    except RecursionError:
        raise Invalid("the answer is nested too deeply") from None


def number(value: Any, name: str) -> float:
    """A finite int or float as a float."""
    if type(value) not in (int, float):
        raise Invalid(f"{name} must be a number; got {shown(value)}")
    try:
        real = float(value)
    except OverflowError:
        raise Invalid(f"{name} is an integer too large for a double") from None
    if not math.isfinite(real):
        raise Invalid(f"{name} must be finite; got {real}")
    return real


def items(value: Any, length: int, name: str) -> list[Any]:
    """A list of exactly ``length`` entries of any type."""
    if not isinstance(value, list):
        raise Invalid(f"{name} must be a list of {length} entries; got {shown(value)}")
    if len(value) != length:
        raise Invalid(f"{name} must have {length} entries; got {len(value)}")
    return value


def numbers(value: Any, length: int, name: str) -> list[float]:
    """A list of exactly ``length`` numbers, as floats."""
    entries = items(value, length, name)
    return [number(entry, f"entry {index} of {name}") for index, entry in enumerate(entries)]


def rows(value: Any, count: int, width: int, name: str) -> list[list[float]]:
    """A list of exactly ``count`` lists of ``width`` numbers, as floats."""
    lists = items(value, count, name)
    return [numbers(row, width, f"row {index} of {name}") for index, row in enumerate(lists)]


def fields(value: Any, *names: str) -> list[Any]:
    """The values of an object that has exactly the keys ``names``, in that order."""
    if not isinstance(value, dict):
        raise Invalid(f"the answer must be a dictionary with {_keys(names)}; got {shown(value)}")
    missing = [name for name in names if name not in value]
    if missing:
        raise Invalid(f"the answer lacks {_keys(missing)}")
    extra = [key for key in value if key not in names]
    if extra:
        raise Invalid(f"the answer must have only {_keys(names)}; got also {shown(extra[0])}")
    return [value[name] for name in names]


def text(value: Any, name: str) -> str:
    """A string."""
    if not isinstance(value, str):
        raise Invalid(f"{name} must be text; got {shown(value)}")
    return value


def shown(value: Any) -> str:
    """Type and beginning of a value, short enough for a one-line reason."""
    return f"{type(value).__name__} {reprlib.repr(value)}"


def _keys(names: list[str] | tuple[str, ...]) -> str:
    return f"the key{'s' if len(names) > 1 else ''} {', '.join(names)}"
