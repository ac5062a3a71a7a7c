"""Perovskites: parity, the order of the compositions, what the payload tells, broken tables."""

from __future__ import annotations

import json
import statistics
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from shared_data import evaluator_for
from simple_science_cases import Vector, drawn, program_returning, scored, vectors, verdict

from benchmark import evaluate
from benchmark.catalogue import find_task
from benchmark.evaluator import Invalid
from tasks.simple_science.perovskites.evaluator import (
    PerovskiteComposition,
    read_gaps,
    read_options,
)

TASK = "perovskites"
pytestmark = pytest.mark.usefixtures("official_data")
ORGANICS = [
    "ethylammonium", "propylammonium", "butylammonium", "isopropylammonium", "dimethylammonium",
    "acetamidinium", "methylammonium", "guanidinium", "hydroxylammonium", "formamidinium",
    "tetramethylammonium", "hydrazinium", "ammonium", "trimethylammonium", "azetidinium",
    "imidazolium",
]  # fmt: skip


def composition(organic: str, cation: str = "Sn", anion: str = "I") -> dict[str, str]:
    return {"organic": organic, "cation": cation, "anion": anion}


def perovskites() -> PerovskiteComposition:
    evaluator = evaluator_for(TASK)
    assert isinstance(evaluator, PerovskiteComposition)
    return evaluator


@pytest.mark.parametrize("vector", vectors(TASK))
def test_parity(vector: Vector) -> None:
    vector.check(verdict(TASK, vector.answer))


@pytest.mark.parametrize("vector", vectors(TASK, "largest_gap", "unknown_case", "extra_key"))
def test_parity_of_programs(vector: Vector, tmp_path: Path) -> None:
    result = evaluate(TASK, program_returning(tmp_path, repr(vector.answer)))
    assert result.status == ("valid" if vector.valid else "invalid")
    assert result.search == (pytest.approx(vector.score, rel=1e-9) if vector.valid else None)


def test_initial_program_is_x0() -> None:
    result = evaluate(TASK, find_task(TASK).initial_program)
    assert result.search == result.objective == pytest.approx(0.2839453299568002, rel=1e-9)
    assert result.metrics == {"bandgap_ev": 5.3704}
    assert result.ndg == pytest.approx(0, abs=1e-6)


def test_smallest_gap_is_the_sota(tmp_path: Path) -> None:
    gaps = perovskites().gaps
    best = min(gaps, key=lambda chosen: gaps[chosen])
    assert best == ("hydrazinium", "Sn", "I")
    assert sorted(gaps.values())[:5] == [1.5249, 1.5456, 1.5618, 1.5849, 1.6399]
    result = evaluate(TASK, program_returning(tmp_path, repr(composition(*best))))
    assert result.search == 1.0
    assert result.ndg == pytest.approx(100)


@pytest.mark.parametrize(
    ("organic", "printed"), [("methylammonium", "98.1"), ("formamidinium", "96.7")]
)
def test_next_best_print_as_in_the_paper(organic: str, printed: str, tmp_path: Path) -> None:
    result = evaluate(TASK, program_returning(tmp_path, repr(composition(organic))))
    assert f"{result.ndg:.1f}" == printed


def test_two_runs_at_each_have_the_printed_spread(tmp_path: Path) -> None:
    gains = [
        evaluate(TASK, program_returning(tmp_path, repr(composition(organic)))).ndg or 0.0
        for organic in ("methylammonium", "formamidinium")
    ] * 2
    assert f"{statistics.mean(gains):.1f} {statistics.stdev(gains):.1f}" == "97.4 0.8"


def test_worst_composition_lies_below_the_initial_one(tmp_path: Path) -> None:
    worst = composition("tetramethylammonium", "Pb", "F")
    result = evaluate(TASK, program_returning(tmp_path, repr(worst)))
    assert result.search == pytest.approx(0.2411, abs=5e-5)
    assert (result.ndg, result.ndg_raw) == (0.0, pytest.approx(-6.0, abs=0.05))


def test_every_composition_scores_its_own_gap() -> None:
    evaluator = perovskites()
    choices = list(product(*evaluator.options.values()))
    assert len(choices) == len(evaluator.gaps) == 192
    for chosen in choices:
        score = scored(TASK, composition(*chosen))
        assert score.metrics["bandgap_ev"] == evaluator.gaps[chosen]
        assert score.search == 1.5249 / evaluator.gaps[chosen]


def test_payload_names_the_options_and_tells_no_gap() -> None:
    evaluator = perovskites()
    payload: Any = evaluator.payload()
    assert payload == {
        "parameters": [
            {"name": "organic", "options": ORGANICS},
            {"name": "cation", "options": ["Ge", "Sn", "Pb"]},
            {"name": "anion", "options": ["F", "Cl", "Br", "I"]},
        ],
        "objective": {"name": "hse_gap", "direction": "minimize", "units": "eV"},
    }
    text = json.dumps(payload)
    assert not any(repr(gap) in text for gap in evaluator.gaps.values())


def test_payload_is_fresh_each_time() -> None:
    evaluator = perovskites()
    first: Any = evaluator.payload()
    first["parameters"][0]["options"].clear()
    again: Any = evaluator.payload()
    assert again["parameters"][0]["options"] == ORGANICS


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (composition("hydrazinium", "sn"), "cation must be one of its options; got str 'sn'"),
        (composition("hydrazinium "), "organic must be one of its options"),
        (composition("Hydrazinium"), "organic must be one of its options"),
        (composition("Sn", "hydrazinium"), "organic must be one of its options"),
        ({"organic": 11, "cation": 1, "anion": 3}, "organic must be text; got int 11"),
        ({"organic": ["hydrazinium"], "cation": "Sn", "anion": "I"}, "must be text; got list"),
        ({"organic": None, "cation": "Sn", "anion": "I"}, "must be text; got NoneType"),
        ({"organic": "hydrazinium", "cation": "Sn"}, "lacks the key anion"),
        ({**composition("hydrazinium"), "gap": 1.0}, "only the keys organic, cation, anion"),
        ({**composition("hydrazinium"), 1: 1}, "keys must be text"),
        (["hydrazinium", "Sn", "I"], "must be a dictionary"),
        ("hydrazinium", "must be a dictionary"),
        ({}, "lacks the keys organic, cation, anion"),
        (None, "must be a dictionary"),
    ],
)
def test_reasons_name_the_broken_rule(answer: Any, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        scored(TASK, answer)


def test_numpy_text_counts_as_text(tmp_path: Path) -> None:
    expression = 'dict(zip(["organic", "cation", "anion"], np.array(["hydrazinium", "Sn", "I"])))'
    assert evaluate(TASK, program_returning(tmp_path, expression)).search == 1.0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda rows: rows[1:], "missing, unknown or given twice"),
        (lambda rows: [*rows[:-1], rows[0]], "missing, unknown or given twice"),
        (lambda rows: [*rows, rows[0]], "missing, unknown or given twice"),
        (lambda rows: [*rows[:-1], "water,Sn,I,2.0"], "missing, unknown or given twice"),
        (lambda rows: [rows[0].rpartition(",")[0] + ",-5.37", *rows[1:]], "not positive"),
        (lambda rows: [rows[0].rpartition(",")[0] + ",nan", *rows[1:]], "not positive"),
    ],
)
def test_a_broken_table_is_refused(
    change: Any, reason: str, official_data: Path, tmp_path: Path
) -> None:
    folder = official_data / "perovskites"
    options = read_options(folder / "config.json")
    table = tmp_path / "data.csv"
    rows = (folder / "data.csv").read_text().splitlines()
    table.write_text("\n".join(rows) + "\n")
    assert len(read_gaps(table, options)) == 192
    table.write_text("\n".join(change(rows)) + "\n")
    with pytest.raises(ValueError, match=reason):
        read_gaps(table, options)


def test_other_categories_are_refused(official_data: Path, tmp_path: Path) -> None:
    content = json.loads((official_data / "perovskites" / "config.json").read_text())
    content["parameters"][0]["options"][0] = content["parameters"][0]["options"][1]
    (tmp_path / "config.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="expected 16 organics, 3 cations and 4 anions"):
        read_options(tmp_path / "config.json")


def test_a_changed_table_makes_the_task_unavailable(
    official_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = tmp_path / "mirror" / "perovskites"
    mirror.mkdir(parents=True)
    for file in (official_data / "perovskites").iterdir():
        (mirror / file.name).write_bytes(file.read_bytes())
    monkeypatch.setenv("EVODUET_DATA_MIRROR", str(mirror.parent))
    monkeypatch.setenv("EVODUET_DATA", str(tmp_path / "cache"))
    program = find_task(TASK).initial_program
    assert evaluate(TASK, program).status == "valid"
    table = mirror / "data.csv"
    table.write_text(table.read_text().replace("5.3704", "1.5249"))
    result = evaluate(TASK, program)
    assert result.status == "unavailable"
    assert (result.search, result.objective, result.ndg) == (None, None, None)
    assert "the copy in the mirror has a wrong checksum" in result.reason
    assert "evoduet data fetch simple_science/perovskites" in result.reason


def test_picture_marks_the_composition() -> None:
    axes, _ = drawn(TASK, composition("hydrazinium")).axes
    assert axes.images[0].get_array().shape == (16, 12)
    (marker,) = axes.lines
    assert (list(marker.get_xdata()), list(marker.get_ydata())) == ([7], [11])
    assert "1.5249 eV" in axes.get_title()
