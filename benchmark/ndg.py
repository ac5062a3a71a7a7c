"""Normalised discovery gain: how much of the gap from initial to best known score is closed.

NDG = max(0, 100 (E - x0) / (SOTA - x0)), on the reporting metric in its own direction: for a
metric to be minimised both differences are negative. It is floored at 0 per run, never capped
above, and an invalid run counts 0. The floor hides regressions, so ``raw`` is kept beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Ndg:
    """``value`` is the NDG in percent; ``raw`` the same without the floor, ``None`` if invalid."""

    value: float
    raw: float | None


def ndg(objective: float | None, x0: float, sota: float) -> Ndg:
    """NDG of one run whose reporting metric is ``objective`` (``None``: no valid candidate).

    Raises ``ValueError`` for anchors that are equal or not finite, or an objective that is not
    finite: infinities must never enter a mean.
    """
    if not (math.isfinite(x0) and math.isfinite(sota)) or x0 == sota:
        raise ValueError(f"anchors x0 = {x0} and SOTA = {sota} must be finite and different")
    if objective is None:
        return Ndg(0.0, None)
    if not math.isfinite(objective):
        raise ValueError(f"objective {objective} is not finite; an invalid run has none (None)")
    raw = 100.0 * ((objective - x0) / (sota - x0))
    return Ndg(max(0.0, raw), raw)
