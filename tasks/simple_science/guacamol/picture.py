"""Structural formulas of the molecules that count."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rdkit import Chem
from rdkit.Chem import rdDepictor

from tasks.simple_science.guacamol.molecules import Molecule

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = 160
_LINES = {1.0: (0.0,), 1.5: (-0.1, 0.1), 2.0: (-0.1, 0.1), 3.0: (-0.15, 0.0, 0.15)}


def draw(molecules: Sequence[Molecule], figure: Figure) -> None:
    """A grid of skeletal formulas, exact ones first; those without the right formula in grey."""
    ordered = sorted(molecules, key=lambda molecule: (-molecule.score, molecule.smiles))[:SHOWN]
    columns = max(1, math.ceil(math.sqrt(1.5 * len(ordered))))
    rows = math.ceil(len(ordered) / columns)
    axes = figure.subplots()
    for index, molecule in enumerate(ordered):
        place = index % columns, rows - 1 - index // columns
        _skeleton(molecule, place, axes, fontsize=max(4, min(12, 60 / columns)))
    exact = sum(molecule.exact for molecule in molecules)
    axes.set_title(f"{len(molecules)} molecules, {exact} with the formula C11H24")
    axes.set_xlim(-0.6, columns - 0.4)
    axes.set_ylim(-0.6, rows - 0.4)
    axes.set_aspect("equal")
    axes.axis("off")


def _skeleton(molecule: Molecule, cell: tuple[int, int], axes: Any, fontsize: float) -> None:
    """Bonds as lines, scaled into one cell (column, row) of the grid; other elements as text."""
    parsed = Chem.MolFromSmiles(molecule.smiles)
    if parsed.GetNumAtoms() == 0:
        return
    rdDepictor.Compute2DCoords(parsed)
    places = parsed.GetConformer().GetPositions()[:, :2]
    places = places - (places.max(axis=0) + places.min(axis=0)) / 2
    scale = 0.42 / max(float(abs(places).max()), 1.5)
    places = places * scale + cell
    colour = "black" if molecule.exact else "0.65"
    for bond in parsed.GetBonds():
        start, end = places[bond.GetBeginAtomIdx()], places[bond.GetEndAtomIdx()]
        along = end - start
        across = (-along[1], along[0])
        for offset in _LINES.get(bond.GetBondTypeAsDouble(), (0.0,)):
            x = [start[0] + offset * across[0], end[0] + offset * across[0]]
            y = [start[1] + offset * across[1], end[1] + offset * across[1]]
            axes.plot(x, y, color=colour, linewidth=1, solid_capstyle="round")
    for atom in parsed.GetAtoms():
        x, y = places[atom.GetIdx()]
        if atom.GetAtomicNum() != 6 or atom.GetDegree() == 0:
            look = {"fontsize": fontsize, "color": colour, "ha": "center", "va": "center"}
            axes.text(x, y, atom.GetSymbol(), bbox={"color": "white", "pad": 0.5}, **look)
