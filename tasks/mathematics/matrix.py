"""Matrices that a program returned or that an artifact holds, as arrays of doubles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmark.candidates import type_name
from benchmark.evaluator import Invalid


def real_matrix(value: Any, rows: int, columns: int, name: str) -> NDArray[np.float64]:
    """``value`` as a (rows, columns) array of doubles; entries may be NaN or infinite.

    Accepts numpy arrays of booleans, integers or floats, and lists or tuples of rows of such
    numbers. Raises :class:`Invalid`, calling the value ``name``, for other types or shapes.
    """
    if not isinstance(value, list | tuple | np.ndarray):
        raise Invalid(
            f"{name}: got a value of type {type_name(value)}; expected an array or rows of numbers"
        )
    try:
        array = np.asarray(value)
    except ValueError:  # rows of unequal length
        raise Invalid(f"{name}: not {rows} rows of {columns} numbers") from None
    if array.shape != (rows, columns):
        raise Invalid(f"{name}: shape is {array.shape}; expected ({rows}, {columns})")
    if array.dtype.kind not in "biuf":
        raise Invalid(f"{name}: entries of dtype {array.dtype}; expected real numbers")
    return array.astype(np.float64)
