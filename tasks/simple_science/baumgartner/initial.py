"""Reaction conditions: first catalyst, first base, the middle of every range."""

# EVOLVE-BLOCK-START


def solve(payload):
    """Conditions {"catalyst", "base", "base_equivalents", "temperature", "t_res"}."""
    conditions = {"catalyst": payload["catalysts"][0], "base": payload["bases"][0]}
    for name, (low, high) in payload["bounds"].items():
        conditions[name] = (low + high) / 2
    return conditions


# EVOLVE-BLOCK-END
