"""The rules that a denoised matrix must keep before its losses are computed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmark.evaluator import Invalid
from tasks.scientific_algorithms.denoising.datasets import Dataset
from tasks.scientific_algorithms.denoising.metric import Matrix


def checked(answer: Any, dataset: Dataset, *, strict: bool) -> Matrix:
    """The denoised matrix, cells x genes; raises :class:`Invalid` for a broken rule.

    ``strict`` also refuses a cell of zeros where the training counts have molecules.
    """
    try:
        matrix = np.asarray(answer)
    except ValueError:
        raise Invalid("the answer is ragged; it must be a matrix, cells x genes") from None
    if matrix.dtype.kind not in "biuf":
        raise Invalid(f"the answer has dtype {matrix.dtype}; it must hold real numbers")
    if matrix.shape != dataset.train.shape:
        raise Invalid(f"the answer has shape {matrix.shape}; expected {dataset.train.shape}")
    smallest, largest = float(matrix.min()), float(matrix.max())  # NaN where there is one
    if not (math.isfinite(smallest) and math.isfinite(largest)):
        raise Invalid("the answer holds NaN or infinity")
    if smallest < 0:
        raise Invalid(f"the answer holds negative expression ({smallest:.6g})")
    if largest > dataset.train_total:
        raise Invalid(
            f"the answer's largest entry, {largest:.6g}, exceeds the number of all training "
            f"molecules, {dataset.train_total:.0f}"
        )
    if strict:
        empty = matrix.max(axis=1) == 0
        if (empty & (np.asarray(dataset.train.sum(axis=1)).ravel() > 0)).any():
            raise Invalid("the answer empties a cell that has training molecules")
    return matrix
