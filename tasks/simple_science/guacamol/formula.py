"""The target formula C11H24 and how near a molecule's atom counts come to it."""

from __future__ import annotations

import math

TARGET_COUNTS = {"C": 11, "H": 24}
TARGET_ATOMS = 35
COUNT_SIGMA = 1.0
ATOMS_SIGMA = 2.0


def closeness(carbons: int, hydrogens: int, atoms: int) -> float:
    """Geometric mean of three Gaussians, GuacaMol's isomer score; in [0, 1]."""
    carbon = _gaussian(carbons, TARGET_COUNTS["C"], COUNT_SIGMA)
    hydrogen = _gaussian(hydrogens, TARGET_COUNTS["H"], COUNT_SIGMA)
    total = _gaussian(atoms, TARGET_ATOMS, ATOMS_SIGMA)
    return (carbon * hydrogen * total) ** (1 / 3)


def is_exact(carbons: int, hydrogens: int, atoms: int) -> bool:
    """Whether the counts are the target's."""
    return (carbons, hydrogens) == tuple(TARGET_COUNTS.values()) and atoms == TARGET_ATOMS


def _gaussian(count: int, target: int, sigma: float) -> float:
    return math.exp(-(((count - target) / sigma) ** 2) / 2)
