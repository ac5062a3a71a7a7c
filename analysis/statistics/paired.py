"""Tests of two methods on the same tasks, and Holm's correction over settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class PairedTest:
    """Task-level differences: how many of either sign, and two-sided p values.

    The Wilcoxon signed-rank test uses the sizes, the sign test the signs alone; both leave out
    tasks without a difference. Without any difference p is 1.
    """

    n_up: int
    n_down: int
    n_equal: int
    wilcoxon_p: float
    sign_p: float


def paired_test(differences: Sequence[float], equal: float = 1e-9) -> PairedTest:
    """Test the tasks' differences; those not larger than ``equal`` count as none."""
    from scipy.stats import binomtest, wilcoxon

    # Rounding noise must neither be a difference nor break a tie between two of them.
    sizes = np.array([round(d, 9) for d in sorted(differences) if abs(d) > equal])
    up, down = int((sizes > 0).sum()), int((sizes < 0).sum())
    same = len(differences) - up - down
    if not len(sizes):
        return PairedTest(0, 0, same, 1.0, 1.0)
    return PairedTest(
        up, down, same, float(wilcoxon(sizes).pvalue), float(binomtest(up, up + down).pvalue)
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment, in the order given (Holm, 1979)."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, largest = [math.nan] * len(p_values), 0.0
    for place, index in enumerate(order):
        largest = max(largest, (len(p_values) - place) * p_values[index])
        adjusted[index] = min(1.0, largest)
    return adjusted
