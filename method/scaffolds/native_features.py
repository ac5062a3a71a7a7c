"""Where a program stands on the map of its island: how long it is, how unlike others (4.7)."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

BINS = 10
REFERENCES = 20
"""Programs that diversity is measured against."""


@dataclass
class Range:
    """Running minimum and maximum of a feature, and the bins between them."""

    low: float | None = None
    high: float | None = None

    def bin(self, value: float) -> int:
        """Take the value into the range, then tell its bin."""
        self.low = value if self.low is None else min(self.low, value)
        self.high = value if self.high is None else max(self.high, value)
        scaled = 0.5 if self.low == self.high else (value - self.low) / (self.high - self.low)
        return min(max(int(BINS * scaled), 0), BINS - 1)


Cell = tuple[int, int]


class Differences:
    """How unlike the reference programs a source is; a value once computed stays.

    The references are chosen anew while there are fewer than :data:`REFERENCES`, then never again.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._references: list[str] = []
        self._known: dict[str, float] = {}

    def of(self, code: str, sources: Callable[[], list[str]]) -> float:
        """Mean distance from the references that differ.

        ``sources`` gives the sources of the population in order.
        """
        if code not in self._known:
            if len(self._references) < REFERENCES:
                self._references = self._choose(sources())
            distances = [distance(code, other) for other in self._references if other != code]
            self._known[code] = sum(distances) / len(distances) if distances else 0.0
        return self._known[code]

    def _choose(self, sources: list[str]) -> list[str]:
        """All sources, or of more than enough those that are farthest from each other."""
        if len(sources) <= REFERENCES:
            return sources
        chosen = [self._rng.randint(0, len(sources) - 1)]
        nearest = [distance(source, sources[chosen[0]]) for source in sources]
        while len(chosen) < REFERENCES:
            rest = [index for index in range(len(sources)) if index not in chosen]
            farthest = max(rest, key=lambda index: nearest[index])
            chosen.append(farthest)
            nearest = [
                min(known, distance(source, sources[farthest]))
                for known, source in zip(nearest, sources, strict=True)
            ]
        return [sources[index] for index in chosen]


def distance(one: str, other: str) -> float:
    """How much two sources differ: length, lines and characters used."""
    return (
        0.1 * abs(len(one) - len(other))
        + 10 * abs(one.count("\n") - other.count("\n"))
        + 0.5 * len(set(one) ^ set(other))
    )
