"""Isomers of C11H24: undecane and its chain with one methyl branch."""

# EVOLVE-BLOCK-START


def solve(payload):
    """SMILES strings of molecules with the formula payload["molecular_formula"]."""
    carbons = payload["target_atom_counts"]["C"]
    backbone = carbons - 1
    branched = [
        "C" * position + "(C)" + "C" * (backbone - position) for position in range(2, backbone)
    ]
    return ["C" * carbons, *branched]


# EVOLVE-BLOCK-END
