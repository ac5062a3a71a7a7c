"""Do the conclusions hold for all anchors that the printed digits allow?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from analysis.anchors import Range
from analysis.statistics.scores import Array

DRAWS = 1_500


def drawn_anchors(
    ranges: Mapping[str, Range], tasks: Sequence[str], *, draws: int = DRAWS, seed: int = 0
) -> tuple[Array, Array]:
    """x0 and SOTA of each task, uniform in its ranges and independent; shapes (draws, tasks)."""
    rng = np.random.default_rng(seed)
    low = np.array([[ranges[task].x0[0], ranges[task].sota[0]] for task in tasks])
    high = np.array([[ranges[task].x0[1], ranges[task].sota[1]] for task in tasks])
    drawn = low + (high - low) * rng.random((draws, len(tasks), 2))
    return drawn[..., 0], drawn[..., 1]


def gains(native: Array, x0: Array, sota: Array) -> Array:
    """Floored NDG of native scores, shape (tasks, runs), for drawn anchors (draws, tasks)."""
    start, span = x0[..., np.newaxis], (sota - x0)[..., np.newaxis]
    result: Array = np.maximum(0.0, 100.0 * (native - start) / span)
    return result
