"""Isomers of C11H24 (maximise GuacaMol's isomer score).

N. Brown, M. Fiscato, M. H. S. Segler, A. C. Vaucher, J. Chem. Inf. Model. 59 (2019) 1096,
arXiv:1811.09621; benchmark "C11H24" of suite v2. As there, connectivity, charge and valence do not
count, so mixtures with the right total formula score like isomers, and so does one isomer under
several atom labels; ``genuine_isomers`` tells.
"""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING

from benchmark.artifact import Artifact, Plain
from benchmark.candidates import PayloadSolver
from benchmark.evaluator import Invalid, Score, Stage
from tasks.simple_science import answers
from tasks.simple_science.guacamol import formula

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_MOLECULES = 159
MAX_STRINGS = 10000
MAX_CHARACTERS = 4096


class Isomers(PayloadSolver):
    """``solve`` returns a list of SMILES strings."""

    score_in_process = True

    def payload(self) -> dict[str, Plain]:
        return {
            "molecular_formula": "C11H24",
            "target_atom_counts": dict(formula.TARGET_COUNTS),
            "target_total_atoms": formula.TARGET_ATOMS,
            "element_count_sigma": formula.COUNT_SIGMA,
            "total_atom_count_sigma": formula.ATOMS_SIGMA,
            "number_molecules": N_MOLECULES,
            "include_stereocenters": False,
            "max_submitted_smiles": MAX_STRINGS,
            "max_smiles_chars": MAX_CHARACTERS,
        }

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        # RDKit is imported where it is used, which is in the scoring process.
        from tasks.simple_science.guacamol.molecules import distinct_molecules

        strings = valid_strings(artifact)
        found = distinct_molecules(strings)
        if not found:
            raise Invalid("no entry of the answer is a molecule that RDKit can read")
        best = heapq.nlargest(N_MOLECULES, (molecule.score for molecule in found))
        total = math.fsum(best) / N_MOLECULES
        exact = [molecule for molecule in found if molecule.exact]
        genuine = len({molecule.alkane for molecule in exact} - {""})
        metrics = {
            "submitted": float(len(strings)),
            "unique": float(len(found)),
            "exact_formula": float(len(exact)),
            "genuine_isomers": float(genuine),
        }
        feedback = (
            f"{len(strings)} strings, {len(found)} different molecules, "
            f"{len(exact)} of {N_MOLECULES} with the formula C11H24"
        )
        if genuine < len(exact):
            feedback += (
                f"\nwarning: only {genuine} of them are genuine isomers; the others are mixtures, "
                "rings, charged or open-shell species that merely share the formula, or label the "
                "atoms of one isomer in several ways"
            )
        return Score(total, total, metrics, feedback)

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        from tasks.simple_science.guacamol import picture
        from tasks.simple_science.guacamol.molecules import distinct_molecules

        picture.draw(distinct_molecules(valid_strings(artifact)), figure)


def valid_strings(artifact: Artifact) -> list[str]:
    """The SMILES strings; raises :class:`Invalid` for other entries, too many or too long ones."""
    value = answers.answer(artifact)
    if not isinstance(value, list):
        raise Invalid(f"the answer must be a list of SMILES; got {answers.shown(value)}")
    if len(value) > MAX_STRINGS:
        raise Invalid(f"the answer must have at most {MAX_STRINGS} entries; got {len(value)}")
    strings = [answers.text(entry, f"entry {i} of the answer") for i, entry in enumerate(value)]
    for index, text in enumerate(strings):
        if len(text) > MAX_CHARACTERS:
            raise Invalid(
                f"entry {index} of the answer has {len(text)} characters, at most {MAX_CHARACTERS}"
            )
    return strings


EVALUATOR = Isomers
