"""Sum of the radii of 32 disjoint circles in the unit square (maximise).

The total as returned is the objective, with the tolerance of 1e-12 that public results use; the
metric ``strict_sum`` is what remains without it.
"""

from tasks.mathematics.packing import CirclePacking


class CirclePacking32(CirclePacking):
    """32 circles; see :mod:`tasks.mathematics.packing` for the rules."""

    count = 32


EVALUATOR = CirclePacking32
