"""Inputs of AHC058 from their seeds: capacities and base costs."""

from __future__ import annotations

from tasks.algorithm_engineering.random_stream import RandomStream, closed_scale

IDS, LEVELS, TURNS, APPLES = 10, 4, 500, 1

_LARGEST_EXPONENT = 2.0
_LEVEL_FACTOR = 500.0


def generate(seed: int) -> bytes:
    """The input file of a seed."""
    stream = RandomStream(seed)
    scale = closed_scale(_LARGEST_EXPONENT)

    def spread() -> float:
        """Log-uniform between 1 and 100."""
        return float(10.0 ** (stream.unit52() * scale))

    capacities = sorted([1, *(_round(spread()) for _ in range(IDS - 1))])
    costs = [
        [1 if level == number == 0 else _round(capacity * _LEVEL_FACTOR**level * spread())
         for number, capacity in enumerate(capacities)]
        for level in range(LEVELS)
    ]  # fmt: skip
    rows = [[IDS, LEVELS, TURNS, APPLES], capacities, *costs]
    return "".join(" ".join(map(str, row)) + "\n" for row in rows).encode()


def _round(value: float) -> int:
    """Nearest integer of a positive number, halves up; exact, unlike adding 0.5."""
    whole = int(value)
    return whole + (value - whole >= 0.5)
