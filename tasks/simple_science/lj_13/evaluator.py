"""Thirteen atoms that attract and repel by the Lennard-Jones potential (minimise the energy).

D. J. Wales, J. P. K. Doye, J. Phys. Chem. A 101 (1997) 5111; Cambridge Cluster Database. Lengths in
units of sigma, energies in units of epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from benchmark.artifact import Artifact, Plain
from benchmark.candidates import PayloadSolver
from benchmark.evaluator import Invalid, Score, Stage
from tasks.simple_science import answers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_ATOMS = 13
REFERENCE_ENERGY = -44.326801  # combined score 1; as printed in the cluster database

Point = Sequence[float]


class LennardJones(PayloadSolver):
    """``solve`` returns 13 rows ``[x, y, z]``; no box and no minimum distance."""

    def payload(self) -> dict[str, Plain]:
        return {"n_atoms": N_ATOMS, "epsilon": 1.0, "sigma": 1.0}

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        points = positions(artifact)
        pairs = pair_energies(points)
        energy = exact_sum(pairs.values())
        combined = min(1.0, max(0.0, -energy) / -REFERENCE_ENERGY)
        closest = min(math.dist(points[i], points[j]) for i, j in pairs)
        bonds = [
            exact_sum(term for pair, term in pairs.items() if i in pair) for i in range(N_ATOMS)
        ]
        weakest = max(range(N_ATOMS), key=bonds.__getitem__)
        feedback = (
            f"energy {energy:.9g}; closest pair {closest:.4g} apart; "
            f"atom {weakest} is bound most weakly ({bonds[weakest]:.5g})"
        )
        metrics = {"energy": energy, "minimum_distance": closest}
        return Score(combined, combined, metrics, feedback)

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        from tasks.simple_science.lj_13 import cluster

        points = positions(artifact)
        cluster.draw(points, exact_sum(pair_energies(points).values()), figure)


def positions(artifact: Artifact) -> list[list[float]]:
    """The coordinates; raises :class:`Invalid` unless they are 13 rows of 3 numbers."""
    return answers.rows(answers.answer(artifact), N_ATOMS, 3, "the answer")


def pair_energies(points: Sequence[Point]) -> dict[tuple[int, int], float]:
    """Energy of each pair of atoms; raises :class:`Invalid` where it is not a finite number."""
    energies = {}
    for i, j in combinations(range(len(points)), 2):
        square = sum((a - b) * (a - b) for a, b in zip(points[i], points[j], strict=True))
        if square == 0:
            raise Invalid(f"atoms {i} and {j} are at the same place")
        energies[i, j] = pair_energy(square)
        if not (math.isfinite(square) and math.isfinite(energies[i, j])):
            raise Invalid(f"the energy of atoms {i} and {j} overflows; they are too near or far")
    return energies


def pair_energy(square: float) -> float:
    """``4 (d^-12 - d^-6)`` from the squared distance; infinite or NaN where it overflows."""
    inverse = 1 / square
    attraction = inverse * inverse * inverse
    return 4 * (attraction * attraction - attraction)


def exact_sum(terms: Iterable[float]) -> float:
    """The sum rounded once; raises :class:`Invalid` when it overflows."""
    try:
        return math.fsum(terms)
    except OverflowError:
        raise Invalid("the energy overflows; some atoms are too near each other") from None


EVALUATOR = LennardJones
