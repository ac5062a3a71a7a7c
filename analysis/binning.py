"""Gains by the level from which they start (Figures 3(b) and 6(c))."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

EDGES = (0.0, 5.0, 20.0, 40.0, 60.0, 80.0, math.inf)
"""Bins of the baseline NDG, in percent; each holds its lower edge."""

LOW, SATURATED = EDGES[1], EDGES[-2]
"""Below the first nearly nothing was found; from the second on little is left to gain."""


@dataclass(frozen=True)
class Bin:
    """Comparisons whose baseline NDG lies in [lo, hi), and the median of their gains."""

    lo: float
    hi: float
    n: int
    median: float | None

    @property
    def label(self) -> str:
        """The bin as text."""
        if self.hi == math.inf:
            return f"≥ {self.lo:g}"
        return f"< {self.hi:g}" if self.lo == 0 else f"{self.lo:g}–{self.hi:g}"


def bins(points: Iterable[tuple[float, float]]) -> list[Bin]:
    """Bins of (baseline NDG, gain) pairs; the median of an empty bin is ``None``."""
    pairs = list(points)
    return list(_bins(pairs))


def _bins(pairs: list[tuple[float, float]]) -> Iterator[Bin]:
    for lo, hi in pairwise(EDGES):
        gains = [gain for level, gain in pairs if lo <= level < hi]
        yield Bin(lo, hi, len(gains), statistics.median(gains) if gains else None)
