"""How well predictions fit: errors normalised by the spread of the targets, and R2.

The spread is taken over the rows of all groups together, so a group's offset counts as explained.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tasks.ai_foundations.tables import Array

SMALLEST_SPREAD = 1e-9
"""Variance, or mean absolute deviation, up to which a target counts as constant."""


@dataclass(frozen=True)
class Goodness:
    """Errors over all rows, for each output dimension and averaged over them.

    Infinite errors (constant targets, overflowing squares) are honest values: ``r2`` is then
    ``-inf``.
    """

    nmse_per_dim: tuple[float, ...]
    nmae_per_dim: tuple[float, ...]

    @property
    def nmse(self) -> float:
        """Mean squared error over variance, averaged over the dimensions."""
        return float(np.mean(self.nmse_per_dim))

    @property
    def nmae(self) -> float:
        """Mean absolute error over mean absolute deviation, averaged over the dimensions."""
        return float(np.mean(self.nmae_per_dim))

    @property
    def r2(self) -> float:
        """Coefficient of determination, ``1 - nmse``; at most 1, without a lower bound."""
        return 1.0 - self.nmse

    @property
    def r2_per_dim(self) -> tuple[float, ...]:
        """Coefficient of determination of each output dimension."""
        return tuple(1.0 - value for value in self.nmse_per_dim)

    @property
    def reported(self) -> float:
        """R2 as the paper reports it: clipped to [-1, 1]."""
        return min(1.0, max(-1.0, self.r2))


def goodness(predictions: Array, targets: Array) -> Goodness:
    """Compare finite predictions (n, D) with targets (n, D), n > 0."""
    with np.errstate(over="ignore"):
        errors = predictions - targets
        squared = np.mean(errors**2, axis=0)
        absolute = np.mean(np.abs(errors), axis=0)
        deviations = np.abs(targets - np.mean(targets, axis=0))
        return Goodness(
            _ratios(squared, np.var(targets, axis=0)),
            _ratios(absolute, np.mean(deviations, axis=0)),
        )


def _ratios(errors: Array, spreads: Array) -> tuple[float, ...]:
    return tuple(
        float(error / spread) if spread > SMALLEST_SPREAD else math.inf
        for error, spread in zip(errors, spreads, strict=True)
    )
