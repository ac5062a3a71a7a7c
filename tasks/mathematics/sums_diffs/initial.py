"""A set of integers with more sums than differences."""

import math

LARGEST = 1_000_000
LARGEST_SET = 512

# EVOLVE-BLOCK-START


def construct_set():
    """A known set of 17 integers with 59 sums and 55 differences."""
    return [0, 1, 2, 4, 5, 9, 12, 13, 14, 16, 17, 21, 24, 25, 26, 28, 29]


# EVOLVE-BLOCK-END


def run_code():
    """Return the set, cut down to what is allowed, and its C(A)."""
    clamped = {max(-LARGEST, min(LARGEST, round(value))) for value in construct_set()}
    values = sorted(clamped)[:LARGEST_SET]
    return values, c_value(values)


def c_value(values):
    """log(|A+A| / |A|) / log(|A-A| / |A|), natural logarithms."""
    sums = {a + b for a in values for b in values}
    differences = {a - b for a in values for b in values}
    return math.log(len(sums) / len(values)) / math.log(len(differences) / len(values))
