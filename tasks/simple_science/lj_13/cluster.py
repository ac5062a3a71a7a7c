"""Picture of an atomic cluster: its shape and where its pairs lie on the potential."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from matplotlib.figure import Figure

from tasks.simple_science.lj_13.evaluator import pair_energy

CONTACT = 1.3  # sigma; between the first and the second shell of neighbours
LONGEST_SHOWN = 3.0  # sigma; the potential is flat beyond


def draw(points: Sequence[Sequence[float]], energy: float, figure: Figure) -> None:
    """Atoms with their contacts on the left, pair distances on the right."""
    figure.set_size_inches(11, 5)
    pairs = list(combinations(range(len(points)), 2))
    distances = {pair: math.dist(points[pair[0]], points[pair[1]]) for pair in pairs}
    space = figure.add_subplot(1, 2, 1, projection="3d")
    for (i, j), distance in distances.items():
        if distance < CONTACT:
            ends = np.array([points[i], points[j]])
            space.plot(*ends.T, color="0.55", linewidth=1)
    atoms = np.array(points)
    out = np.linalg.norm(atoms - atoms.mean(axis=0), axis=1)  # inner atoms get warm colours
    space.scatter(*atoms.T, s=180, c=-out, cmap="coolwarm", edgecolor="black", depthshade=False)
    half = max(float(np.ptp(atoms, axis=0).max()) / 2, 0.5)
    middle = (atoms.max(axis=0) + atoms.min(axis=0)) / 2
    for axis, centre in zip("xyz", middle, strict=True):
        space.set(**{f"{axis}lim": (centre - half, centre + half), f"{axis}label": axis})
        space.locator_params(axis=axis, nbins=4)
    space.set_box_aspect((1, 1, 1))
    space.set_title(f"{len(points)} atoms, energy {energy:.6g}")

    curve = figure.add_subplot(1, 2, 2)
    lengths = np.linspace(0.95, LONGEST_SHOWN, 400)
    curve.plot(lengths, [pair_energy(length**2) for length in lengths], color="0.6")
    shown = [distance for distance in distances.values() if 0.95 <= distance <= LONGEST_SHOWN]
    curve.plot(shown, [pair_energy(distance**2) for distance in shown], "o", alpha=0.5)
    contacts = sum(distance < CONTACT for distance in distances.values())
    curve.set_title(f"{len(pairs)} pairs, {contacts} nearer than {CONTACT:g}")
    curve.set(xlabel="distance (sigma)", ylabel="pair energy (epsilon)", ylim=(-1.15, 1.5))
