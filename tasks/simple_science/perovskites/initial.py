"""Perovskite composition: the first option of each choice."""

# EVOLVE-BLOCK-START


def solve(payload):
    """A composition {"organic": ..., "cation": ..., "anion": ...} out of the payload's options."""
    return {parameter["name"]: parameter["options"][0] for parameter in payload["parameters"]}


# EVOLVE-BLOCK-END
