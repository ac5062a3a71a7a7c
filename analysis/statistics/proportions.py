"""Shares with their intervals, as columns of tables."""

from __future__ import annotations

from analysis.statistics.bootstrap import wilson


def share(k: int, n: int) -> float | None:
    """``k / n``, ``None`` of nothing."""
    return k / n if n else None


def bounds(k: int, n: int) -> tuple[float | None, float | None]:
    """Ends of the 95 % Wilson interval of ``k`` of ``n``; ``None`` of nothing.

    It takes the n for independent. Iterations of one run are not, so for them it is too narrow.
    """
    found = wilson(k, n)
    return (None, None) if found is None else (found.lo, found.hi)
