"""Sums and differences: parity cases, element and claim rules, certificates, anchors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from shared_data import evaluator_for, parity_files, read_case, through_the_wire, typed_value

from benchmark import Artifact, Invalid, Score, evaluate
from benchmark.artifact import load, save
from benchmark.catalogue import find_task

CONWAY = [0, 2, 3, 4, 7, 11, 12, 14]
CONWAY_C = 1.0344212156259982


def score(returned: Any) -> Score:
    evaluator = evaluator_for("sums_diffs")
    return evaluator.score(evaluator.convert(through_the_wire(returned)), "search")


@pytest.mark.parametrize("path", parity_files("sums_diffs"))
def test_parity(path: Path) -> None:
    case = read_case(path)
    values = typed_value(case["input"]["return"]["values"])
    claim = case["input"]["return"]["claimed_c"]
    expected = case["expected"]
    returns = [(values, claim)] if claim is not None else [values, (values,), (values, None)]
    for returned in returns:
        if not expected["valid"]:
            with pytest.raises(Invalid):
                score(returned)
            continue
        found = score(returned)
        for name in ("set_size", "sumset_size", "diffset_size"):
            assert found.metrics[name] == expected[name]
        assert found.objective == pytest.approx(expected["c_value"], rel=1e-10)
        assert found.search == pytest.approx(expected["search_score"], rel=1e-10)
        assert found.metrics["c_value"] == found.objective


def test_initial_program_gives_x0() -> None:
    task = find_task("sums_diffs")
    evaluation = evaluate(task, task.initial_program, exact=True)
    assert evaluation.status == "valid", evaluation.reason
    x0 = task.declared.anchors.initial.value
    assert evaluation.objective == pytest.approx(x0, abs=1e-12)
    assert evaluation.ndg == pytest.approx(0.0, abs=1e-9)
    assert evaluation.artifact is not None
    assert evaluation.artifact.get("claim") == pytest.approx(x0, abs=1e-12)
    assert evaluation.certificate["sumset_size"] == "59"
    assert evaluation.certificate["diffset_size"] == "55"


def test_fixed_part_of_the_initial_program_cuts_a_set_down(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    text = find_task("sums_diffs").initial_program.read_text()
    start, end = text.index("def construct_set"), text.index("# EVOLVE-BLOCK-END")
    candidate = "def construct_set():\n    return [2.0, -7e9, *range(600), 0.9999999999]\n\n\n"
    program.write_text(text[:start] + candidate + text[end:])
    evaluation = evaluate("sums_diffs", program)
    assert evaluation.status == "valid", evaluation.reason
    assert evaluation.artifact is not None
    assert evaluation.artifact.construction == [-1_000_000, *range(511)]


def test_released_set_is_the_sota(shared: Path) -> None:
    path = shared / "data/sums_diffs/released_506.json"
    evaluation = evaluate("sums_diffs", artifact=path, exact=True)
    sota = find_task("sums_diffs").declared.anchors.sota.value
    assert evaluation.objective == pytest.approx(sota, abs=1e-12)
    assert evaluation.ndg == pytest.approx(100.0, abs=1e-9)
    facts = evaluation.certificate
    counts = [facts[name] for name in ("set_size", "sumset_size", "diffset_size")]
    assert counts == ["506", "3551", "2775"]
    text, _, value = facts["c_value"].rpartition(" = ")
    assert text == "log(3551/506) / log(2775/506)"
    assert float(value) == pytest.approx(sota, abs=1e-15)
    assert len(value.replace(".", "")) == 30


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_stored_artifact_scores_alike(suffix: str, tmp_path: Path) -> None:
    evaluator = evaluator_for("sums_diffs")
    for returned in (CONWAY, (CONWAY, CONWAY_C)):
        artifact = evaluator.convert(through_the_wire(returned))
        save(artifact, tmp_path / f"set{suffix}")
        stored = load(tmp_path / f"set{suffix}")
        assert stored.get("claim") == artifact.get("claim")
        assert evaluator.score(stored, "search") == evaluator.score(artifact, "search")


@pytest.mark.parametrize(
    "values",
    [
        set(CONWAY),
        frozenset(CONWAY),
        dict.fromkeys(CONWAY),
        range(0, 15, 2),
        iter(CONWAY),
        tuple(CONWAY),
        np.array(CONWAY, dtype=np.uint8),
        np.array(CONWAY, dtype=np.float32).reshape(2, 2, 2),
        np.array(list(map(str, CONWAY))),
        [np.int16(value) for value in CONWAY],
        [np.array(value) for value in CONWAY],
        [f" {value}.0 " for value in CONWAY],
    ],
)
def test_any_iterable_of_integers(values: Any) -> None:
    reference = range(0, 15, 2) if isinstance(values, range) else CONWAY
    evaluator = evaluator_for("sums_diffs")
    converted = evaluator.convert(through_the_wire(values))
    assert converted.construction == sorted(reference)
    assert all(type(value) is int for value in converted.construction)
    assert evaluator.convert(through_the_wire((values, 1.0))).construction in (
        sorted(reference),
        [],  # an iterator is used up by now
    )


@pytest.mark.parametrize(
    ("element", "integer"),
    [
        (True, 1),
        (np.True_, 1),
        ("1e3", 1000),
        ("-0", 0),
        (-0.0, 0),
        (5 + 9e-10, 5),
        (5 - 9e-10, 5),
        (1e6 + 1e-10, 1_000_000),
        (-1_000_000, -1_000_000),
        (np.float32(7), 7),
        (np.uint64(9), 9),
    ],
)
def test_elements_that_convert(element: Any, integer: int) -> None:
    evaluator = evaluator_for("sums_diffs")
    converted = evaluator.convert(through_the_wire([100, element]))
    assert converted.construction == sorted([100, integer])


@pytest.mark.parametrize(
    ("element", "reason"),
    [
        (5 + 1.1e-9, "not within 1e-9"),
        (0.5, "not within 1e-9"),
        ("2.5", "not within 1e-9"),
        ("two", "the text 'two'"),
        ("", "the text ''"),
        ("nan", " nan"),
        (float("nan"), " nan"),
        (float("-inf"), " -inf"),
        (1_000_001, "1000001; allowed are -1000000 to 1000000"),
        (-1e6 - 1, "-1000001"),
        (2**53 + 1, "9007199254740993; allowed"),
        (10**300, "too large"),
        (10**400, "too large"),
        (-(10**2000), "too large"),
        (10**3000, "int of 9966 bits"),
        (1e300, "too large"),
        ("1e999", " inf"),
        (np.uint64(2**64 - 1), "18446744073709551615"),
        (1 + 0j, "complex"),
        (np.complex64(1), "complex"),
        (None, "NoneType"),
        (b"1", "bytes"),
        ([1], "list"),
        ((1, 2), "tuple"),
        (np.array([1, 2]), "ndarray"),
        (object(), "object"),
    ],
)
def test_elements_that_do_not(element: Any, reason: str) -> None:
    with pytest.raises(Invalid, match=f"element 2 .*{reason}"):
        score([0, 1, element])


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (None, "type NoneType"),
        (7, "type int"),
        (object(), "type object"),
        ((None, 1.0), "element 0 has type NoneType"),
        ([CONWAY, CONWAY_C], "element 0 has type list"),
        ([], "0 distinct"),
        (([], 1.0), "0 distinct"),
        (np.array(3), "1 distinct"),
        (np.array([0.5, 1.0]), "element 0"),
        (np.zeros(3, dtype=complex), "complex"),
        (np.zeros(2_000_002, dtype=np.int8), "at most 2000001"),
        (range(513), "513 distinct"),
    ],
)
def test_other_values_are_invalid(returned: Any, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        score(returned)


@pytest.mark.parametrize("construction", [None, 1, "0123", {"0": 1, "1": 2}, [[0, 1], [2, 3]]])
def test_stored_nonsense_is_invalid(construction: Any) -> None:
    with pytest.raises(Invalid):
        evaluator_for("sums_diffs").score(Artifact(construction), "search")


def test_largest_sets() -> None:
    assert score(range(512)).metrics["set_size"] == 512
    assert score(np.arange(-1_000_000, 1_000_001, 3921)).metrics["diffset_size"] == 1021


@pytest.mark.parametrize(
    "claim", [CONWAY_C, CONWAY_C + 9e-10, CONWAY_C - 9e-10, np.float64(CONWAY_C), None]
)
def test_honest_claims(claim: Any) -> None:
    assert score((CONWAY, claim, "more")) == score(CONWAY)
    assert score((CONWAY, claim)).objective == pytest.approx(CONWAY_C, abs=1e-15)


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        (CONWAY_C + 1.1e-9, "differs"),
        (1.2, "differs"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (10**400, "inf"),
        ("best", "type str"),
        ([CONWAY_C], "type list"),
    ],
)
def test_other_claims_are_invalid(claim: Any, reason: str) -> None:
    with pytest.raises(Invalid, match=rf"the claimed C\(A\) .*{reason}"):
        score((CONWAY, claim))
    stored = Artifact({"construction": CONWAY, "claim": claim})
    with pytest.raises(Invalid, match=r"the claimed C\(A\)"):
        evaluator_for("sums_diffs").score(stored, "search")


def test_feedback_counts_what_is_missing() -> None:
    feedback = score(CONWAY).feedback
    assert "from 0 to 14" in feedback
    assert "A+A lacks 3 and A-A lacks 4 of 29 integers" in feedback


def test_picture() -> None:
    figure = Figure()
    evaluator_for("sums_diffs").draw(Artifact(CONWAY), figure)
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert labels == [
        "the set A: 8 integers",
        "26 sums a + b; 3 integers missing (ticks)",
        "25 differences a - b, 0 not drawn; 4 integers missing (ticks)",
    ]


def test_released_style_program_with_warm_start(tmp_path: Path) -> None:
    save(Artifact(CONWAY), tmp_path / "best.json")
    program = tmp_path / "program.py"
    program.write_text(
        "def run_code():\n"
        "    if GLOBAL_BEST_CONSTRUCTION is None:\n"
        "        return {0, 1}, 1.0\n"
        "    return [10 * value + 3 for value in GLOBAL_BEST_CONSTRUCTION]\n"
    )
    warm = evaluate("sums_diffs", program, options={"warm_start": str(tmp_path / "best.json")})
    assert warm.objective == pytest.approx(CONWAY_C, abs=1e-15)
    assert evaluate("sums_diffs", program).objective == 1.0
