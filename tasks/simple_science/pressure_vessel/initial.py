"""A roomy pressure vessel: every rule is kept with a margin, so steel is wasted."""


# EVOLVE-BLOCK-START
def solve(payload):
    """Shell thickness, head thickness, inner radius and length, in inches."""
    return [1.25, 0.625, 50.0, 150.0]


# EVOLVE-BLOCK-END
