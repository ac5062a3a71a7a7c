"""Isomers: parity, all trees of degree four, doubles, mixtures, strings that trouble RDKit."""

from __future__ import annotations

import json
import math
from itertools import islice
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import evaluator_for
from simple_science_cases import Vector, drawn, program_returning, scored, vectors, verdict

from benchmark import evaluate, scoring
from benchmark.candidates import PayloadSolver
from benchmark.catalogue import find_task
from benchmark.evaluator import Invalid
from tasks.simple_science.guacamol import formula
from tasks.simple_science.guacamol.molecules import canonical_smiles, distinct_molecules

TASK = "guacamol"
UNDECANE = "C" * 11

ALL_TREES = """
import networkx as nx

def solve(payload):
    carbons = payload["target_atom_counts"]["C"]
    trees = nx.nonisomorphic_trees(carbons)
    return [smiles(tree, 0, None) for tree in trees if max(dict(tree.degree).values()) <= 4]

def smiles(tree, node, parent):
    branches = [smiles(tree, other, node) for other in tree[node] if other != parent]
    return "C" + "".join(f"({branch})" for branch in branches)
"""


def smiles(tree: Any, node: int = 0, parent: int | None = None, root: str = "C") -> str:
    """SMILES of a carbon skeleton, beginning with ``root``."""
    branches = [smiles(tree, other, node) for other in tree[node] if other != parent]
    return root + "".join(f"({branch})" for branch in branches)


def alkanes(carbons: int) -> list[str]:
    """All isomers of one alkane."""
    if carbons <= 2:
        return ["C" * carbons]
    trees = nx.nonisomorphic_trees(carbons)
    return [smiles(tree) for tree in trees if max(dict(tree.degree).values()) <= 4]


def mixtures() -> list[str]:
    """A linear alkene, or a ring with a tail, beside an alkane: C11H24 in all, no isomer."""
    found = []
    for carbons in range(2, 11):
        alkenes = ["C" * k + "=" + "C" * (carbons - k) for k in range(1, carbons // 2 + 1)]
        rings = [
            "C" * (carbons - size) + "C1" + "C" * (size - 1) + "1" for size in range(3, carbons + 1)
        ]
        found += [f"{a}.{b}" for a in alkenes + rings for b in alkanes(11 - carbons)]
    return found


@pytest.mark.parametrize("vector", vectors(TASK))
def test_parity(vector: Vector) -> None:
    vector.check(verdict(TASK, vector.answer))


@pytest.mark.parametrize(
    "vector", vectors(TASK, "stereo_duplicates", "with_unparsable", "all_unparsable", "null_entry")
)
def test_parity_of_programs(vector: Vector, tmp_path: Path) -> None:
    result = evaluate(TASK, program_returning(tmp_path, repr(vector.answer)))
    assert result.status == ("valid" if vector.valid else "invalid")
    assert result.search == (pytest.approx(vector.score, rel=1e-9) if vector.valid else None)


def test_initial_program_is_x0() -> None:
    result = evaluate(TASK, find_task(TASK).initial_program)
    assert result.search == result.objective == pytest.approx(5 / 159, rel=1e-12)
    expected = {"submitted": 9, "unique": 5, "exact_formula": 5, "genuine_isomers": 5}
    assert result.metrics == expected
    assert result.ndg == pytest.approx(0, abs=1e-6)


def test_all_trees_of_degree_four_are_the_sota(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(ALL_TREES)
    result = evaluate(TASK, program)
    assert result.search == pytest.approx(1.0, rel=1e-12)
    assert result.metrics == dict.fromkeys(
        ("submitted", "unique", "exact_formula", "genuine_isomers"), 159
    )
    assert "warning" not in result.feedback
    assert result.ndg == pytest.approx(100)


def test_stored_isomers_are_those_of_the_trees() -> None:
    stored = json.loads((find_task(TASK).folder / "data" / "c11h24_isomers.json").read_text())
    assert {canonical_smiles(text) for text in alkanes(11)} == set(stored)


@pytest.mark.parametrize("number", [1, 5, 6, 82, 158])
def test_each_isomer_is_one_step_of_the_scale(number: int, tmp_path: Path) -> None:
    answer = list(islice(reversed(alkanes(11)), number))
    result = evaluate(TASK, program_returning(tmp_path, repr(answer)))
    assert result.search == pytest.approx(number / 159)
    assert result.ndg_raw == pytest.approx(100 * (number - 5) / 154)


def test_mixtures_score_like_isomers_with_a_warning(tmp_path: Path) -> None:
    answer = mixtures()[:151]
    result = evaluate(TASK, program_returning(tmp_path, repr(answer)))
    assert result.search == pytest.approx(0.9497, abs=5e-5)
    assert (result.metrics["exact_formula"], result.metrics["genuine_isomers"]) == (151, 0)
    assert "warning: only 0 of them are genuine isomers" in result.feedback


@pytest.mark.parametrize(
    "text",
    [
        "C=C.CCCCCCCCC",
        "C1CC1.CCCCCCCC",
        "[H][H].C1CCCCCCCCCC1",
        "[H][H].CCCCCCCCCC=C",
        "[CH3].[CH2]CCCCCCCCC",
        "[CH3+].[CH2-]CCCCCCCCC",
        "[CH2].CCCCCCCCCC",
    ],
)
def test_what_merely_shares_the_formula_is_no_genuine_isomer(text: str) -> None:
    score = scored(TASK, [text, UNDECANE])
    assert score.search == pytest.approx(2 / 159)
    assert (score.metrics["exact_formula"], score.metrics["genuine_isomers"]) == (2, 1)
    assert "warning: only 1 of them are genuine" in score.feedback


@pytest.mark.parametrize(
    "texts",
    [
        [UNDECANE, "C(CCCCCCCCCC)", "CCCCCC(CCCCC)"],
        [UNDECANE, "[13CH3]" + "C" * 10, "[14CH3]CCCCC[13CH2]CCCC"],
        ["C[C@H](CC)CCCCCCC", "C[C@@H](CC)CCCCCCC", "CC(CC)CCCCCCC"],
        ["CC/C=C/CCCCCCC", "CC/C=C\\CCCCCCC", "CCC=CCCCCCCC"],
        ["C1=CC=CC=C1", "c1ccccc1"],
        [UNDECANE, UNDECANE + " a name", "[CH3]" + "C" * 10],
    ],
)
def test_doubles_count_once(texts: list[str]) -> None:
    score = scored(TASK, texts)
    assert score.metrics["unique"] == 1
    assert score.search == scored(TASK, texts[:1]).search


def test_labels_of_atoms_make_no_genuine_isomer() -> None:
    """Deuterium and atom numbers survive the removal of doubles, as in GuacaMol."""
    labelled = ["[2H]" + UNDECANE, *(f"[CH3:{number}]CCCCCCCCCC" for number in range(1, 159))]
    score = scored(TASK, [*labelled, "CC(C)CCCCCCCC"])
    assert score.search == pytest.approx(1.0)
    assert (score.metrics["exact_formula"], score.metrics["genuine_isomers"]) == (160, 2)
    assert "warning: only 2 of them" in score.feedback


def test_only_the_best_159_count() -> None:
    others = ["C" * number for number in range(1, 60) if number != 11]
    assert scored(TASK, [*others, *alkanes(11)]).search == pytest.approx(1.0, rel=1e-12)
    assert scored(TASK, alkanes(12)).search == pytest.approx(formula.closeness(12, 26, 38))


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 40))
def test_alkanes_score_by_their_counts(carbons: int) -> None:
    hydrogens, atoms = 2 * carbons + 2, 3 * carbons + 2
    exponent = (carbons - 11) ** 2 + (hydrogens - 24) ** 2 + ((atoms - 35) / 2) ** 2
    expected = math.exp(-exponent / 6) / 159
    assert scored(TASK, ["C" * carbons]).search == pytest.approx(expected, rel=1e-9, abs=1e-100)


def test_hydrogens_and_other_elements_are_counted() -> None:
    (water,) = distinct_molecules(["O"])
    assert (water.carbons, water.hydrogens, water.atoms) == (0, 2, 3)
    (salt,) = distinct_molecules(["[Na+].CC(=O)[O-]"])
    assert (salt.carbons, salt.hydrogens, salt.atoms) == (2, 3, 8)
    assert salt.alkane == ""


def test_the_empty_string_is_a_molecule_without_atoms() -> None:
    score = scored(TASK, [""])
    assert score.metrics["unique"] == 1
    assert score.search == pytest.approx(2.4e-73 / 159, rel=0.05, abs=0)


def test_payload_is_the_published_one() -> None:
    evaluator = evaluator_for(TASK)
    assert isinstance(evaluator, PayloadSolver)
    assert evaluator.payload() == {
        "molecular_formula": "C11H24",
        "target_atom_counts": {"C": 11, "H": 24},
        "target_total_atoms": 35,
        "element_count_sigma": 1.0,
        "total_atom_count_sigma": 2.0,
        "number_molecules": 159,
        "include_stereocenters": False,
        "max_submitted_smiles": 10000,
        "max_smiles_chars": 4096,
    }


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ([], "no entry of the answer is a molecule"),
        (["C1CC", "not a smiles"], "no entry of the answer is a molecule"),
        ([UNDECANE, 5], "entry 1 of the answer must be text; got int 5"),
        ([None], "entry 0 of the answer must be text; got NoneType"),
        ([[UNDECANE]], "entry 0 of the answer must be text; got list"),
        ([UNDECANE, True], "entry 1 of the answer must be text; got bool"),
        (UNDECANE, "must be a list of SMILES; got str"),
        ({"smiles": [UNDECANE]}, "must be a list of SMILES; got dict"),
        (None, "must be a list of SMILES; got NoneType"),
        ([UNDECANE, "C" * 4097], "entry 1 of the answer has 4097 characters, at most 4096"),
        ([UNDECANE] * 10001, "at most 10000 entries; got 10001"),
    ],
)
def test_reasons_name_the_broken_rule(answer: Any, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        scored(TASK, answer)


def test_limits_themselves_are_allowed() -> None:
    assert scored(TASK, [UNDECANE] * 10000).metrics["unique"] == 1
    assert scored(TASK, ["C" * 4096]).search == pytest.approx(0, abs=1e-100)


def test_tuples_and_arrays_of_text_score_like_lists(tmp_path: Path) -> None:
    answer = alkanes(11)[:7]
    result = evaluate(TASK, program_returning(tmp_path, f"np.array({answer})"))
    assert result.search == scored(TASK, answer).search
    assert scored(TASK, tuple(answer)) == scored(TASK, answer)
    assert verdict(TASK, set(answer)) is None
    assert verdict(TASK, [text.encode() for text in answer]) is None


STRANGE = {
    "open branches": "C" + "(" * 4095,
    "nested branches": "C" + "(C" * 2000,
    "nested and closed": "C(" * 1300 + "C" + ")" * 1300,
    "one atom with many branches": "C" + "(C)" * 1300,
    "many rings": "".join(f"C%{10 + i % 90}" for i in range(1000)),
    "fused cage": "".join(f"C{i % 9}" for i in range(2000)),
    "aromatic chain": "c" * 4096,
    "many fragments": ".".join("C" * 2048),
    "wildcards": "*" * 4096,
    "a null character": "CC\x00C",
    "a surrogate": "C\ud800",
    "other letters": "é" * 4096,
    "huge charge": "[C+999999999999]",
    "huge isotope": "[99999999999C]",
    "huge count": "[CH9999999999]",
    "huge ring number": "C%(99999999999)",
    "stereo without end": "[C@@](F)" * 500,
    "reaction": "C>>C",
    "extension": "CC |$a;b$,(0,0;1,1)|",
    "query": "[#6;R2]~[*]",
}  # fmt: skip


@pytest.mark.parametrize("name", STRANGE)
def test_strange_strings_are_dropped_or_scored(name: str) -> None:
    score = verdict(TASK, [UNDECANE, STRANGE[name]])
    assert score is not None
    assert score.search is not None
    assert 1 / 159 <= score.search < 1.01 / 159


def test_all_strange_strings_at_once_in_the_limited_process(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    answer = [UNDECANE, *STRANGE.values()]
    program.write_text(f"def solve(payload):\n    return {answer!a}\n")
    result = evaluate(TASK, program)
    assert result.status == "valid", result.reason
    assert result.metrics["submitted"] == len(answer)


def test_scoring_has_a_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "SCORER_WALL_S", 2.0)
    program = program_returning(tmp_path, '["C" * k + "C(C)" * 800 for k in range(1, 800)]')
    result = evaluate(TASK, program)
    assert (result.status, result.search) == ("invalid", None)
    assert result.reason == "scoring took more than 2 s"


def test_scoring_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    assert verdict(TASK, ["C1CC", "not a smiles", "CC(C)(C)(C)(C)C", UNDECANE]) is not None
    assert capfd.readouterr() == ("", "")


def test_picture_shows_every_molecule() -> None:
    (axes,) = drawn(TASK, [UNDECANE, "CC(C)CCCCCCCC", "C=C"]).axes
    assert len(axes.lines) == 10 + 10 + 2
    assert "3 molecules, 2 with the formula C11H24" in axes.get_title()


@pytest.mark.parametrize("text", ["", "[Na+].[Cl-]", "C", "c1ccccc1O"])
def test_picture_of_odd_molecules(text: str) -> None:
    (axes,) = drawn(TASK, [text]).axes
    assert "1 molecules, 0 with" in axes.get_title()
