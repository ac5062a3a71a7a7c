"""Chwirut2 regression: the far starting point, without any fitting."""

# EVOLVE-BLOCK-START


def solve(payload):
    """Parameters [b1, b2, b3] of y = exp(-b1 x) / (b2 + b3 x)."""
    return [0.1, 0.01, 0.02]


# EVOLVE-BLOCK-END
