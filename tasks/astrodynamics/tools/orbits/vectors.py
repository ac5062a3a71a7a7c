"""Plain-float vectors: for three numbers, Python's own floats are faster than numpy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Triple = tuple[float, float, float]
VectorLike = Sequence[float] | Vector


def triple(vector: VectorLike) -> Triple:
    """Three plain floats. Raises ``ValueError`` for another number of components."""
    if isinstance(vector, np.ndarray):
        x, y, z = vector.tolist()
    else:
        x, y, z = map(float, vector)
    return x, y, z


def rows(vectors: object) -> Vector:
    """Vectors as an array of shape (..., 3). Raises ``ValueError`` for another last axis."""
    array = np.asarray(vectors, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] != 3:
        raise ValueError(f"expected vectors of three components, got shape {array.shape}")
    return array
