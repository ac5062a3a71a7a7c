"""Sum of the radii of 26 disjoint circles in the unit square (maximise).

The total as returned is the objective, with the tolerance of 1e-12 that public results use; the
metric ``strict_sum`` is what remains without it.
"""

from tasks.mathematics.packing import CirclePacking


class CirclePacking26(CirclePacking):
    """26 circles; see :mod:`tasks.mathematics.packing` for the rules."""

    count = 26


EVALUATOR = CirclePacking26
