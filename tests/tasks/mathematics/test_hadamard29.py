"""Maximal determinant of order 29: parity cases, entry rules, exact certificates, anchors."""

from __future__ import annotations

import json
import runpy
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from shared_data import evaluator_for, parity_files, read_case, through_the_wire, typed_value

from benchmark import Artifact, Invalid, Score, evaluate
from benchmark.artifact import load, save, to_json
from benchmark.catalogue import find_task

BOUND = 1270698346568170340352


def score(returned: Any) -> Score:
    evaluator = evaluator_for("hadamard29")
    return evaluator.score(evaluator.convert(through_the_wire(returned)), "search")


def residues() -> np.ndarray:
    """The circulant of quadratic residues; abs(det) = 28^14."""
    squares = {k * k % 29 for k in range(1, 29)}
    return np.array([[1 if (i - j) % 29 in squares else -1 for j in range(29)] for i in range(29)])


@pytest.mark.parametrize("path", parity_files("hadamard29"))
def test_parity(path: Path) -> None:
    case = read_case(path)
    matrix = typed_value(case["input"]["return"]["matrix"])
    expected = case["expected"]
    evaluator = evaluator_for("hadamard29")
    for returned in (matrix, (matrix,)):
        if not expected["valid"]:
            with pytest.raises(Invalid):
                score(returned)
            continue
        found = score(returned)
        assert found.objective == expected["score"]
        assert found.search == expected["search_score"]
        assert found.metrics["determinant_ratio"] == found.objective
        assert int(found.metrics["abs_det"]) == int(expected["abs_det"])
    if expected["valid"]:
        stored = Artifact(to_json(np.asarray(matrix)))
        assert evaluator.score(stored, "search") == found
        assert abs(int(evaluator.certify(stored)["determinant"])) == int(expected["abs_det"])


def test_bound_is_the_stated_product() -> None:
    evaluator = evaluator_for("hadamard29")
    assert BOUND == 2**28 * 7**12 * 342
    found = evaluator.score(Artifact(residues()), "search")
    assert found.objective == 28**14 / BOUND == 49 / 342


def test_initial_program_gives_x0() -> None:
    task = find_task("hadamard29")
    evaluation = evaluate(task, task.initial_program, exact=True)
    assert evaluation.status == "valid", evaluation.reason
    assert evaluation.objective == task.declared.anchors.initial.value == 49 / 342
    assert evaluation.ndg == 0.0
    assert evaluation.artifact is not None
    np.testing.assert_array_equal(np.asarray(evaluation.artifact.construction), residues())
    assert evaluation.certificate["determinant_ratio"].endswith("= 49/342")


@pytest.mark.slow
def test_initial_program_finds_nothing_better_in_2000_steps() -> None:
    program = runpy.run_path(str(find_task("hadamard29").initial_program))
    program["anneal"].__globals__["STEPS"] = 2000  # as many as the public start program makes
    np.testing.assert_array_equal(program["construct_hadamard_matrix"](), residues())


def test_initial_construction_is_the_described_one(shared: Path) -> None:
    stored = json.loads((shared / "data/hadamard29/initial.json").read_text())
    np.testing.assert_array_equal(stored, residues())


def test_released_matrix_is_the_sota(shared: Path) -> None:
    evaluation = evaluate(
        "hadamard29", artifact=shared / "data/hadamard29/released.json", exact=True
    )
    assert evaluation.objective == find_task("hadamard29").declared.anchors.sota.value == 160 / 171
    assert evaluation.ndg == 100.0
    facts = evaluation.certificate
    assert abs(int(facts["determinant"])) == 2**28 * 320 * 7**12
    assert facts["abs_det"] == f"{320 * 7**12} * 2^28"
    assert facts["determinant_ratio"] == f"{320 * 7**12}/(342 * 7^12) = 160/171"


def test_score_is_the_nearest_double_of_the_exact_ratio() -> None:
    generator = np.random.default_rng(29)
    evaluator = evaluator_for("hadamard29")
    for _ in range(20):
        artifact = Artifact(generator.choice([-1, 1], size=(29, 29)))
        determinant = int(evaluator.certify(artifact)["determinant"])
        found = evaluator.score(artifact, "search")
        assert found.objective == float(Fraction(abs(determinant), BOUND))
        assert found.metrics["abs_det"] == abs(determinant)  # exact although a double


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_stored_artifact_scores_alike(suffix: str, tmp_path: Path) -> None:
    save(Artifact(residues()), tmp_path / f"matrix{suffix}")
    stored = evaluator_for("hadamard29").score(load(tmp_path / f"matrix{suffix}"), "search")
    assert stored == score((residues().astype(float), "any claim"))


def test_rows_of_other_numbers_are_read() -> None:
    expected = score(residues())
    rows = residues().tolist()
    for returned in (
        rows,
        tuple(map(tuple, rows)),
        (tuple(map(tuple, rows)),),
        [np.array(row) for row in rows],
        residues().astype(np.int8),
        residues().astype(np.float16),
        [[True if entry == 1 else -1.0 for entry in row] for row in rows],
    ):
        assert score(returned) == expected


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (0, r"entry \(3, 4\) is 0"),
        (False, r"entry \(3, 4\) is 0"),
        (1 + 2**-52, "1.0000000000000002"),
        (float("nan"), "nan"),
        (float("-inf"), "inf"),
        (10**30, "dtype object"),
        ("1", "real numbers"),
        (1 + 0j, "real numbers"),
        (None, "real numbers"),
        ([1], "not 29 rows"),
    ],
)
def test_other_entries_are_invalid(entry: Any, reason: str) -> None:
    rows = residues().tolist()
    rows[3][4] = entry
    for returned in (rows, (rows,)):
        with pytest.raises(Invalid, match=reason):
            score(returned)
    with pytest.raises(Invalid):
        score(tuple(map(tuple, rows)))


def test_unsigned_bytes_do_not_wrap_around() -> None:
    with pytest.raises(Invalid, match="255"):
        score(residues().astype(np.int8).view(np.uint8))


@pytest.mark.parametrize("returned", [None, 1, "matrix", {}, set(), (), [], object()])
def test_other_values_are_invalid(returned: Any) -> None:
    with pytest.raises(Invalid):
        score(returned)
    with pytest.raises(Invalid):
        evaluator_for("hadamard29").score(Artifact(None), "search")


def test_feedback_tells_the_spread_of_scalar_products() -> None:
    # the Gram matrix of the residue circulant has -3 and 1 off the diagonal, half each
    assert "1: 203, 3: 203" in score(residues()).feedback


def test_picture() -> None:
    figure = Figure()
    evaluator_for("hadamard29").draw(Artifact(residues()), figure)
    left, right, *_ = figure.axes
    assert left.get_title() == "matrix: +1 white, -1 black"
    assert right.get_title() == "Gram matrix (diagonal 29 left out)"


def test_released_style_program_with_warm_start(tmp_path: Path) -> None:
    save(Artifact(residues()), tmp_path / "best.npz")
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\n"
        "def run_code():\n"
        "    best = GLOBAL_BEST_CONSTRUCTION\n"
        "    return (np.ones((29, 29)) if best is None else np.array(best),)\n"
    )
    warm = evaluate("hadamard29", program, options={"warm_start": str(tmp_path / "best.npz")})
    assert warm.objective == 49 / 342
    cold = evaluate("hadamard29", program)
    assert (cold.status, cold.objective) == ("valid", 0.0)
