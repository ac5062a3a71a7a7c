"""What the two functions of a candidate return, as plain arrays: rules about types and sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmark.candidates import type_name
from benchmark.evaluator import Invalid
from tasks.ai_foundations.tables import Array


def parameters(returned: Any, budget: int, group: str) -> np.ndarray[Any, Any]:
    """The parameters of one group: a finite array of integers or floats, any shape.

    A container that hides numbers (dictionary, text, object, ragged list) is refused, because the
    budget counts ``numpy.asarray(params).size``. Raises :class:`Invalid`.
    """
    array = numeric(returned, f"fit_scaling_law returned parameters for {group} that are")
    if array.dtype.kind == "b":
        raise Invalid(f"the parameters for {group} are booleans; they must be integers or floats")
    if not np.isfinite(array).all():
        raise Invalid(f"the parameters for {group} hold NaN or infinity")
    if array.size > budget:
        raise Invalid(f"{array.size} parameters for {group}; at most {budget} are allowed")
    return array


def predictions(returned: Any, n_rows: int, n_targets: int, group: str) -> Array:
    """Predictions for ``n_rows`` rows as (n, D) float64; one dimension counts as a column.

    They may hold NaN or infinity, which scoring refuses. Raises :class:`Invalid`.
    """
    array = numeric(returned, f"the predictions for {group} are").astype(np.float64)
    if n_rows == 1 and array.size == n_targets:
        return array.reshape(1, n_targets)  # a program may squeeze; one row leaves no doubt
    column = array[:, np.newaxis] if array.ndim == 1 else array
    if column.shape != (n_rows, n_targets):
        expected = (n_rows,) if n_targets == 1 else (n_rows, n_targets)
        raise Invalid(f"the predictions for {group} have shape {array.shape}; expected {expected}")
    return column


def numeric(returned: Any, what: str) -> np.ndarray[Any, Any]:
    """A returned value as an array of booleans, integers or floats; raises :class:`Invalid`."""
    try:
        array = np.asarray(returned)
    except (ValueError, TypeError, OverflowError):
        raise Invalid(f"{what} ragged; a rectangular array of numbers is needed") from None
    if array.dtype.kind not in "biuf":
        found = type_name(returned) if array.ndim == 0 else f"an array of dtype {array.dtype}"
        raise Invalid(f"{what} no numbers ({found}); an array of integers or floats is needed")
    return array
