"""Heights of step functions: what a program may return, and what a stored artifact may hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmark.candidates import type_name
from benchmark.evaluator import Invalid
from tasks.mathematics.autoconvolution import Heights

_BEYOND_DOUBLES = 2**1023


def listed_heights(items: Any) -> Heights:
    """A Python list of numbers as an array: elements are ``int``, ``float`` or ``numpy.float64``.

    Raises :class:`Invalid` for other containers (arrays and tuples too) and for any other element:
    booleans, other numpy scalars, text, lists, NaN and infinity.
    """
    if not isinstance(items, list):
        raise Invalid(f"the heights must be a Python list, not {type_name(items)}; use .tolist()")
    return _array_of_numbers(items)


def converted_heights(values: Any) -> Heights:
    """A list, tuple or array of real numbers as a float array of any shape.

    Raises :class:`Invalid` for what numpy does not convert to real numbers, ragged lists and text.
    """
    if not isinstance(values, list | tuple | np.ndarray):
        raise Invalid(f"the heights must be an array or a list, not {type_name(values)}")
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError):
        raise Invalid("the heights are ragged; give one number for each cell") from None
    if array.size == 0:
        raise Invalid("there are no heights; at least one cell is needed")
    if array.dtype.kind not in "biuf":
        raise Invalid("the heights must be real numbers of ordinary size, one for each cell")
    return array.astype(np.float64)


def stored_heights(construction: Any, most_cells: int) -> Heights:
    """The heights that an artifact holds, shape (n,), all finite, 1 <= n <= ``most_cells``.

    An artifact holds a list of integers and floats, or an array of them; raises :class:`Invalid`
    for anything else, booleans included.
    """
    if isinstance(construction, list):
        heights = _array_of_numbers(construction)
    elif isinstance(construction, np.ndarray) and construction.dtype.kind in "iuf":
        heights = construction.astype(np.float64)
    else:
        raise Invalid("the heights must be a list or an array of numbers, one for each cell")
    if heights.ndim != 1:
        raise Invalid(f"the heights have shape {heights.shape}; give one number for each cell")
    if not 1 <= len(heights) <= most_cells:
        raise Invalid(f"{len(heights)} heights; the number of cells is 1 to {most_cells}")
    if not np.isfinite(heights).all():
        raise Invalid("some heights are NaN or infinite")
    return heights


def _array_of_numbers(items: list[Any]) -> Heights:
    if not set(map(type, items)) <= {int, float, np.float64}:
        index, wrong = next(
            (index, item)
            for index, item in enumerate(items)
            if type(item) not in (int, float, np.float64)
        )
        raise Invalid(
            f"height {index} has type {type_name(wrong)}; heights must be int or float "
            "(bool and other numpy scalars do not count)"
        )
    try:
        heights = np.array(items, dtype=np.float64)
    except OverflowError:  # a finite integer beyond the doubles: any huge number stands for it
        heights = np.array([_within_doubles(item) for item in items])
    if not np.isfinite(heights).all():
        raise Invalid("some heights are NaN or infinite")
    return heights


def _within_doubles(number: int | float) -> float:
    if isinstance(number, int):
        number = max(-_BEYOND_DOUBLES, min(number, _BEYOND_DOUBLES))
    return float(number)


def cell_count(n_points: Any) -> int:
    """``n_points`` as an int; raises :class:`Invalid` unless it is an int or a numpy integer.

    A float is refused although it may be whole: a program that divided by 4096.9999 cells and
    reported the integer part once got a value that its heights do not have.
    """
    if isinstance(n_points, bool) or not isinstance(n_points, int | np.integer):
        raise Invalid(f"n_points has type {type_name(n_points)}; it must be an int")
    return int(n_points)


def check_cell_count(n_points: Any, heights: Heights) -> None:
    """Raise :class:`Invalid` unless ``n_points`` is missing or the number of heights."""
    if n_points is not None and cell_count(n_points) != len(heights):
        raise Invalid(f"n_points is {int(n_points)}, but there are {len(heights)} heights")
