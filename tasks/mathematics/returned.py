"""What a mathematics program returned: which part is the construction, and what it claims.

Programs return ``(construction, claim, ...)`` or the bare construction. Nothing that a program
says about its own score is scored; a claim is at most compared with the value computed here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmark.candidates import type_name
from benchmark.evaluator import Invalid
from benchmark.sandbox.inside.wire import Opaque, OtherIterable

_CONTAINERS = (list, tuple, set, frozenset, dict, OtherIterable)


def split_tuple(returned: Any, rows: int | None = None) -> tuple[Any, tuple[Any, ...]]:
    """The construction, and what stands behind it: ``(claim, ...)``, empty for a bare one.

    A tuple of ``rows`` numeric rows of equal length is itself the construction (a matrix written
    as a tuple). Any other tuple whose first element is a container is ``(construction, claim,
    ...)``. Everything else, a list in particular, is the bare construction.
    """
    if not isinstance(returned, tuple) or not returned:
        return returned, ()
    if rows is not None and len(returned) == rows and _is_matrix(returned):
        return returned, ()
    if _is_container(returned[0]):
        return returned[0], returned[1:]
    return returned, ()


def _is_container(value: Any) -> bool:
    # A value that could not cross the border (an array of objects, bytes) counts too: naming its
    # type tells more than complaining about the tuple around it.
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, (*_CONTAINERS, Opaque))


def _is_matrix(rows: tuple[Any, ...]) -> bool:
    if not all(_is_row(row) for row in rows):
        return False
    return len({len(row) for row in rows}) == 1


def _is_row(row: Any) -> bool:
    if isinstance(row, np.ndarray):
        return row.ndim == 1 and row.dtype.kind in "biuf"
    return isinstance(row, list | tuple) and all(_is_numeric(entry) for entry in row)


def _is_numeric(entry: Any) -> bool:
    if isinstance(entry, np.generic):
        return entry.dtype.kind in "biuf"
    return isinstance(entry, bool | int | float)


def claimed_number(claim: Any, name: str) -> float | None:
    """A claimed value as a float; ``None`` stays ``None`` (no claim).

    Raises :class:`Invalid`, naming the quantity, for NaN, infinity and what is no real number.
    """
    if isinstance(claim, np.ndarray) and claim.ndim == 0:
        claim = claim[()]
    if claim is None:
        return None
    if isinstance(claim, bool) or not _is_numeric(claim):
        raise Invalid(f"the claimed {name} has type {type_name(claim)}; expected a number or None")
    try:
        value = float(claim)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise Invalid(f"the claimed {name} is {value}; a claim must be finite (or None)")
    return value


def check_claim(claim: Any, computed: float, tolerance: float, name: str) -> None:
    """Raise :class:`Invalid` unless the claim is missing or within ``tolerance`` (absolute)."""
    value = claimed_number(claim, name)
    if value is not None and abs(value - computed) > tolerance:
        raise Invalid(
            f"the claimed {name} {value!r} differs from the computed {computed!r} by "
            f"{abs(value - computed):.3g}; allowed is {tolerance:.0e} (or make no claim)"
        )
