"""Lennard-Jones cluster: a straight chain whose neighbours sit in each other's minimum."""


# EVOLVE-BLOCK-START
def solve(payload):
    """Coordinates [x, y, z] of each atom, in units of sigma, centred on the origin."""
    n_atoms = payload["n_atoms"]
    spacing = 2 ** (1 / 6) * payload["sigma"]
    return [[spacing * (i - (n_atoms - 1) / 2), 0.0, 0.0] for i in range(n_atoms)]


# EVOLVE-BLOCK-END
