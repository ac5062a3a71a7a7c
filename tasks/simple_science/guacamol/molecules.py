"""From SMILES strings to distinct molecules and their atom counts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rdkit import Chem, rdBase

from tasks.simple_science.guacamol import formula

rdBase.DisableLog("rdApp.*")

_REFUSALS = (ValueError, RuntimeError, TypeError)
"""What RDKit raises instead of returning None: text it cannot take, broken invariants."""


@dataclass(frozen=True)
class Molecule:
    """A molecule by its canonical SMILES; atoms counted with all hydrogens."""

    smiles: str
    carbons: int
    hydrogens: int
    atoms: int
    alkane: str
    """Which connected, neutral, closed-shell, acyclic alkane it is; empty: none.

    Unlike ``smiles`` it is the same for molecules that differ by labels of their atoms alone.
    """

    @property
    def exact(self) -> bool:
        """Whether it has exactly the target formula."""
        return formula.is_exact(self.carbons, self.hydrogens, self.atoms)

    @property
    def score(self) -> float:
        """How near its formula is to the target, in [0, 1]."""
        return formula.closeness(self.carbons, self.hydrogens, self.atoms)


def distinct_molecules(strings: Iterable[str]) -> list[Molecule]:
    """Molecules without stereo and isotopes, each once, in the order of first appearance."""
    canonical = dict.fromkeys(canonical_smiles(text) for text in strings)
    measured = [_measured(smiles) for smiles in canonical if smiles is not None]
    return [molecule for molecule in measured if molecule is not None]


def canonical_smiles(text: str) -> str | None:
    """Canonical form without stereo and isotopes; ``None`` for what is no molecule."""
    try:
        parsed = Chem.MolFromSmiles(text)
        return None if parsed is None else Chem.MolToSmiles(parsed, isomericSmiles=False)
    except _REFUSALS:
        return None


def _measured(smiles: str) -> Molecule | None:
    """A canonical form read again; ``None`` where that fails."""
    try:
        parsed = Chem.MolFromSmiles(smiles)
        if parsed is None:
            return None
        full = Chem.AddHs(parsed)
        numbers = [atom.GetAtomicNum() for atom in full.GetAtoms()]
        return Molecule(
            smiles=smiles,
            carbons=numbers.count(6),
            hydrogens=numbers.count(1),
            atoms=len(numbers),
            alkane=_plain_smiles(full) if _is_alkane(full) else "",
        )
    except _REFUSALS:
        return None


def _plain_smiles(full: Chem.Mol) -> str:
    """Canonical form without the numbers that a SMILES can give to atoms."""
    for atom in full.GetAtoms():
        atom.SetAtomMapNum(0)
    return Chem.MolToSmiles(Chem.RemoveHs(full), isomericSmiles=False)


def _is_alkane(full: Chem.Mol) -> bool:
    """Whether a molecule with explicit hydrogens is one connected, neutral, acyclic alkane."""
    atoms, bonds = list(full.GetAtoms()), list(full.GetBonds())
    return (
        len(Chem.GetMolFrags(full)) == 1
        and len(bonds) == len(atoms) - 1
        and all(bond.GetBondType() == Chem.BondType.SINGLE for bond in bonds)
        and all(
            atom.GetFormalCharge() == 0
            and atom.GetNumRadicalElectrons() == 0
            and atom.GetDegree() == {1: 1, 6: 4}.get(atom.GetAtomicNum())
            for atom in atoms
        )
    )
