"""Lens law: parity, the rebuilt data set, the grammar at its limits, attacks by expression."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _pytest.mark.structures import ParameterSet
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from shared_data import evaluator_for, parity_files, read_case
from simple_science_cases import Vector, drawn, program_returning, scored, vectors, verdict

from benchmark import evaluate
from benchmark.artifact import Artifact
from benchmark.catalogue import find_task
from benchmark.data import data_store
from benchmark.evaluator import Invalid, Score
from tasks.simple_science.feynman_i_27_6 import dataset, similarity
from tasks.simple_science.feynman_i_27_6.evaluator import LensLaw
from tasks.simple_science.feynman_i_27_6.expression import parse, predict
from tasks.simple_science.feynman_i_27_6.trees import Tree, distance

TASK = "feynman_i_27_6"
LAW = "1/(1/x0+x1/x2)"
pytestmark = pytest.mark.usefixtures("fresh_cache")

PUBLISHED = {
    "train": "56ca1898e4d8446e6d4f0853c6759e6cff7bfeecaa34d90c22b8f15454483914",
    "val": "e74e94bf1a355205069923aca8fb5d6db701cdd10716e4fd651c44c632c395f6",
    "test": "cf587f4827e0cf8e4365c83618d694aef58e7ef825ad37d7fa8c6829aa0777be",
}

LEAST_SQUARES = """
import numpy as np

def solve(payload):
    x, y = np.array(payload["x_train"]), np.array(payload["y_train"])
    columns = np.stack([1 / x[:, 0], x[:, 1] / x[:, 2]], axis=1)
    a, b = np.linalg.lstsq(columns, 1 / y, rcond=None)[0]
    a, b = (round(c) if abs(c - round(c)) < 1e-10 else c for c in (a, b))
    return {"expression": f"1/({a}/x0+{b}*x1/x2)"}
"""


def formula(text: Any) -> dict[str, Any]:
    return {"expression": text}


def lens_law() -> LensLaw:
    evaluator = evaluator_for(TASK)
    assert isinstance(evaluator, LensLaw)
    return evaluator


def reported(text: str) -> Score:
    return lens_law().score(Artifact(formula(text)), "report")


def values(text: str, *rows: tuple[float, float, float]) -> list[float]:
    result: list[float] = predict(parse(text), np.array(rows, dtype=float)).tolist()
    return result


def final_vectors() -> list[ParameterSet]:
    """The parity cases with values of the final stage."""
    (file,) = parity_files(TASK, "cases.json")
    if not isinstance(file.values[0], Path):
        return [pytest.param(None, None, id=file.id, marks=file.marks)]
    cases = read_case(file.values[0])["cases"]
    return [
        pytest.param(case["input"]["expression"], case["expected"]["final"], id=case["case"])
        for case in cases
        if "final" in case["expected"]
    ]


# --- parity and anchors ---------------------------------------------------------------------------


@pytest.mark.parametrize("vector", vectors(TASK))
def test_parity(vector: Vector) -> None:
    vector.check(verdict(TASK, vector.answer))


@pytest.mark.parametrize(("text", "final"), final_vectors())
def test_parity_of_the_final_stage(text: str, final: dict[str, float]) -> None:
    metrics = reported(text).metrics
    found = {name: metrics[name] for name in ("test_score", "test_msre", "ned")}
    expected = {"test_score": final["score"], "test_msre": final["msre"], "ned": final["ned"]}
    assert found == pytest.approx(expected, abs=1e-9, rel=1e-9)


@pytest.mark.parametrize("vector", vectors(TASK, "doubled", "underflow", "call", "long_chain"))
def test_parity_of_programs(vector: Vector, tmp_path: Path) -> None:
    result = evaluate(TASK, program_returning(tmp_path, repr(vector.answer)))
    assert result.status == ("valid" if vector.valid else "invalid")
    assert result.search == (pytest.approx(vector.score, rel=1e-9) if vector.valid else None)


def test_initial_program_is_x0() -> None:
    result = evaluate(TASK, find_task(TASK).initial_program, "both")
    assert result.search == result.objective == pytest.approx(0.5248806157206705, rel=1e-9)
    expected = {
        "msre": 0.9051951435222695,
        "test_msre": 0.9175254705904884,
        "test_score": 0.5215054586430381,
        "ned": 0.8,
    }
    assert result.metrics == pytest.approx(expected, rel=1e-9)
    assert result.ndg == pytest.approx(0, abs=1e-6)


def test_least_squares_for_the_reciprocal_is_the_sota(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(LEAST_SQUARES)
    result = evaluate(TASK, program, "report")
    assert result.search == 1.0
    assert result.metrics == {"msre": 0.0, "test_msre": 0.0, "test_score": 1.0, "ned": 0.0}
    assert result.ndg == pytest.approx(100)


def test_search_shows_no_test_row(tmp_path: Path) -> None:
    result = evaluate(TASK, program_returning(tmp_path, repr(formula("x0"))))
    assert result.metrics.keys() == {"msre"}
    assert "test" not in result.feedback


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x0*x2/(x0+x2)", 0.2786),
        ("x0*x2/(x1*x2+x0)", 0.4287),
        ("0.2*sqrt(x0*x2/x1)", 0.7411),
        ("0.134336*x0**0.488399*x1**-0.517884*x2**0.453030", 0.743),
    ],
)
def test_measured_scores_of_near_misses(text: str, expected: float) -> None:
    assert scored(TASK, formula(text)).search == pytest.approx(expected, abs=5e-4)


def test_power_law_on_the_common_scale(tmp_path: Path) -> None:
    text = "0.134336*x0**0.488399*x1**-0.517884*x2**0.453030"
    result = evaluate(TASK, program_returning(tmp_path, repr(formula(text))))
    assert f"{result.ndg:.1f}" == "45.8"


# --- data -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", PUBLISHED)
def test_rebuilt_files_are_the_published_ones(part: str, tmp_path: Path) -> None:
    target = tmp_path / f"{part}.txt"
    getattr(dataset, f"rebuild_{part}")(target)
    assert hashlib.sha256(target.read_bytes()).hexdigest() == PUBLISHED[part]
    inputs, targets = dataset.read(target)
    assert inputs.shape == ((8000 if part == "train" else 1000), 3)
    np.testing.assert_allclose(1 / targets, 1 / inputs[:, 0] + inputs[:, 1] / inputs[:, 2])
    for column, (low, high) in zip(inputs.T, dataset.LOG10_RANGES, strict=True):
        assert 10.0**low <= column.min() < column.max() <= 10.0**high


def test_the_mirror_holds_the_same_files(official_data: Path) -> None:
    for part, digest in PUBLISHED.items():
        path = data_store().path(find_task(TASK), f"{part}.txt")
        assert path.is_relative_to(official_data)
        assert hashlib.sha256(path.read_bytes()).hexdigest() == digest


def test_payload_holds_training_rows_alone() -> None:
    payload: Any = lens_law().payload()
    assert payload.keys() == {"x_train", "y_train", "variables", "variable_descriptions"}
    assert payload["variables"] == ["x0", "x1", "x2"]
    x, y = np.array(payload["x_train"]), np.array(payload["y_train"])
    assert (x.shape, y.shape) == ((8000, 3), (8000,))
    assert all(type(entry) is float for row in payload["x_train"] for entry in row)
    task = find_task(TASK)
    for part in ("val", "test"):
        inputs, targets = dataset.read(data_store().path(task, f"{part}.txt"))
        assert not np.isin(targets, y).any()
        assert not np.isin(inputs, x).any()


# --- grammar --------------------------------------------------------------------------------------


def chain(terms: int) -> str:
    return "+".join(["x0"] * terms)


def balanced(leaves: int, leaf: str = "x0") -> str:
    if leaves == 1:
        return leaf
    return f"({balanced(leaves // 2, leaf)}+{balanced(leaves - leaves // 2, leaf)})"


@pytest.mark.parametrize(
    "text",
    [
        "x0",
        "+x0",
        "--x0",
        "x0*pi",
        "x0 + 1e100",
        "x0 + 10**8",
        "x0+0x10+1_000",
        "x0**8",
        "x0**-8",
        "x0**0.5 + x1**-0.5",
        "x0**8.0",
        "(x0)**(-2)",
        "sin(x0)+cos(x1)+exp(x2)+log(x0)+sqrt(x1)",
        "x0\n",
        "x0 # comment",
        "x0 ",
        chain(16),
        balanced(40),  # 79 nodes
        "-" + balanced(40),  # 80 nodes
        "-" * 15 + "x0",  # depth 16
        "x0 " + " " * 1997,  # 2000 characters
    ],
)
def test_the_grammar_allows(text: str) -> None:
    assert verdict(TASK, formula(text)) is not None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "has 0 characters"),
        ("x0" + " " * 1999, "has 2001 characters"),
        (" x0", "syntax error"),
        ("\tx0", "syntax error"),
        ("x0 x1", "syntax error"),
        ("x0 +", "syntax error"),
        ("y = x0", "syntax error"),
        ("x0; x1", "syntax error"),
        ("x0\x00", "syntax error"),
        ("\ud800", "syntax error"),
        ("x0\nx1", "syntax error"),
        (chain(17), "more than 16 levels"),
        ("-" * 16 + "x0", "more than 16 levels"),
        (balanced(41), "81 nodes"),
        ("--" + balanced(40), "81 nodes"),
        ("x0**x1", "exponent of \\*\\* must be a literal"),
        ("x0**(1/2)", "exponent of \\*\\* must be a literal"),
        ("x0**pi", "exponent of \\*\\* must be a literal"),
        ("x0**+2", "exponent of \\*\\* must be a literal"),
        ("x0**--2", "exponent of \\*\\* must be a literal"),
        ("x0**-+2", "exponent of \\*\\* must be a literal"),
        ("x0**True", "exponent of \\*\\* must be a literal"),
        ("x0**2**2", "exponent of \\*\\* must be a literal"),
        ("x0**8.0001", "exponents lie between -8 and 8"),
        ("x0**-9", "exponents lie between -8 and 8"),
        ("x0**1e999", "exponents lie between -8 and 8"),
        ("x0+1e101", "magnitudes of at most 1e\\+100"),
        ("x0+1e999", "magnitudes of at most 1e\\+100"),
        ("x0+" + "9" * 101, "magnitudes of at most 1e\\+100"),
        ("x0+True", "not bool"),
        ("x0+1j", "not complex"),
        ("x0+'a'", "not str"),
        ("x0+b'a'", "not bytes"),
        ("x0+None", "not NoneType"),
        ("x0+...", "not ellipsis"),
        ("d1", "unknown name 'd1'"),
        ("e*x0", "unknown name 'e'"),
        ("sin", "unknown name 'sin'"),
        ("tan(x0)", "the only functions are sin"),
        ("abs(x0)", "the only functions are sin"),
        ("pi(x0)", "the only functions are sin"),
        ("sin(x0)(x1)", "the only functions are sin"),
        ("sin()", "sin takes exactly one argument"),
        ("sin(x0, x1)", "sin takes exactly one argument"),
        ("sin(*x0)", "sin takes exactly one argument"),
        ("sin(x0, out=x1)", "sin takes exactly one argument"),
        ("sin(**x0)", "sin takes exactly one argument"),
        ("x0 // x1", "BinOp is not allowed"),
        ("x0 % x1", "BinOp is not allowed"),
        ("x0 @ x1", "BinOp is not allowed"),
        ("x0 ^ x1", "BinOp is not allowed"),
        ("~x0", "UnaryOp is not allowed"),
        ("not x0", "UnaryOp is not allowed"),
        ("x0 < x1", "Compare is not allowed"),
        ("x0 and x1", "BoolOp is not allowed"),
        ("x0 if x1 else x2", "IfExp is not allowed"),
        ("lambda: x0", "Lambda is not allowed"),
        ("(y := x0)", "NamedExpr is not allowed"),
        ("[x0]", "List is not allowed"),
        ("x0, x1", "Tuple is not allowed"),
        ("x0[0]", "Subscript is not allowed"),
        ("x0.real", "Attribute is not allowed"),
        ("f'{x0}'", "JoinedStr is not allowed"),
        ("(yield x0)", "Yield is not allowed"),
        ("[x0 for x0 in x1]", "ListComp is not allowed"),
        ("{**x0}", "Dict is not allowed"),
    ],
)  # fmt: skip
def test_the_grammar_refuses(text: str, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        scored(TASK, formula(text))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x0/(x1-x1)", "divide by zero"),
        ("0/(x1-x1)*x0", "invalid value"),
        ("log(x0-x0)+x0", "divide by zero"),
        ("x0+1/0", "divide by zero"),
        ("x0+(x1-x1)**-1", "divide by zero"),
        ("sqrt(x0-x1)", "invalid value"),
        ("log(-x0)", "invalid value"),
        ("(-x0)**0.5", "invalid value"),
        ("x0+0*(-1)**0.5", "invalid value"),
        ("exp(1/x0)", "overflow"),
        ("x0+1e100**4", "overflow"),
        ("x0*1e100*1e100*1e100*1e100", "overflow"),
        ("x0*exp(-1/x0)", "underflow"),
        ("x0+exp(-1000)", "underflow"),
        ("x0+1e-300*1e-300", "underflow"),
        ("x0+(1e-100)**4", "underflow"),
        ("x0+1e-300**2", "underflow"),
    ],
)
def test_every_floating_point_event_is_invalid(text: str, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        scored(TASK, formula(text))


def test_an_error_that_overflows_is_invalid() -> None:
    with pytest.raises(Invalid, match="the relative error cannot be computed: overflow"):
        scored(TASK, formula("x0*1e100*1e80"))


@pytest.mark.parametrize(
    "text",
    ["0.0067", "pi", "x0-x0+3", "x0**0", "0*x0+1", "x0/x0", "x1*x2/(x2*x1)", "exp(x0-x0)"],
)
def test_constant_models_are_invalid(text: str) -> None:
    with pytest.raises(Invalid, match="depends on none of x0, x1, x2"):
        scored(TASK, formula(text))


@pytest.mark.parametrize(
    "answer",
    [{}, formula(3), formula(None), formula(["x0"]), {**formula("x0"), "score": 1}, "x0", ["x0"]],
)
def test_other_answers_are_invalid(answer: Any) -> None:
    assert verdict(TASK, answer) is None


def test_numpy_text_counts_as_text() -> None:
    assert scored(TASK, formula(np.str_("x0"))) == scored(TASK, formula("x0"))


ATOMS = st.one_of(
    st.sampled_from(["x0", "x1", "x2", "pi"]),
    st.integers(0, 9).map(str),
    st.floats(0.1, 10).map(repr),
)


def _compound(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    powers = st.sampled_from(["2", "-1", "0.5", "-0.5", "3"])
    functions = st.sampled_from(["sin", "cos", "exp", "log", "sqrt"])
    return st.one_of(
        st.tuples(parts, st.sampled_from("+-*/"), parts).map(lambda p: f"({p[0]}{p[1]}{p[2]})"),
        st.tuples(parts, powers).map(lambda p: f"({p[0]})**{p[1]}"),
        st.tuples(st.sampled_from("+-"), parts).map("".join),
        st.tuples(functions, parts).map(lambda p: f"{p[0]}({p[1]})"),
    )


@settings(deadline=None, max_examples=200)
@given(st.recursive(ATOMS, _compound, max_leaves=8))
def test_values_are_those_of_ordinary_arithmetic(text: str) -> None:
    rows = [(0.002, 0.3, 0.05), (0.09, 7.0, 0.004)]
    names = {name: getattr(math, name) for name in ("sin", "cos", "exp", "log", "sqrt", "pi")}
    try:
        expected = [eval(text, {**names, "x0": a, "x1": b, "x2": c}) for a, b, c in rows]
    except (ArithmeticError, ValueError):
        expected = None
    try:
        found = values(text, *rows)
    except Invalid:
        found = None
    if expected is None or any(isinstance(value, complex) for value in expected):
        assert found is None
    elif found is not None:  # else an underflow, which Python does not report
        scale = max(map(abs, expected))
        assume(1e-200 < scale < 1e200)
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-12 * scale)
    else:
        assert any(abs(value) < 1e-200 for value in expected) or "exp" in text or "**" in text


# --- attacks --------------------------------------------------------------------------------------

ATTACKS = {
    "attribute": "x0.__class__.__mro__",
    "import": "__import__('os').system('true')*x0",
    "call of a call": "(lambda: x0)()",
    "900 parentheses": "(" * 900 + "x0" + ")" * 900,
    "900 signs": "-" * 900 + "x0",
    "900 calls": "sin(" * 400 + "x0" + ")" * 400,
    "900 powers": "x0" + "**2" * 600,
    "huge powers": "x0+(((9**8)**8)**8)**8",
    "huge literal": "x0+" + "9" * 1990,
    "tower": "x0+9**9**9**9**9",
    "towers of exp": "x0+exp(exp(exp(exp(9))))",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_end_as_invalid(name: str, tmp_path: Path) -> None:
    result = evaluate(TASK, program_returning(tmp_path, repr(formula(ATTACKS[name]))))
    assert result.status == "invalid", result.reason


BIG = "1" + 100 * "0"


@pytest.mark.parametrize(
    "text",
    [
        "x0+((1/3)**8)**8",
        f"x0+((({BIG}+1)/({BIG}-1))**8)**8",
        f"x0+(((({BIG}/({BIG}-3))**8)**8)**8)**8",
        "x0+((((1/3)**8)**8)**2)**0.5",
        f"x0+sin({BIG})+cos(pi*{BIG}/7)+sqrt({BIG}+7)",
        "x0*((((9**8)**-8)**0.5)**-0.5)",
    ],
)
def test_huge_fractions_are_valid(text: str) -> None:
    """They neither fill the memory nor take long, or this test would."""
    assert verdict(TASK, formula(text)) is not None


# --- report ---------------------------------------------------------------------------------------


def test_a_distance_that_takes_too_long_costs_the_distance_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(similarity, "TIME_LIMIT_S", 2)
    hard = "((x0+x1+x2)**8+(x0-x1)**7+x2)**8+((x0+2*x1+3*x2)**8+x0)**8*(x1+sin(x0*x2))**8"
    score = reported(hard)
    assert "ned" not in score.metrics
    assert score.search == scored(TASK, formula(hard)).search
    assert {"msre", "test_msre", "test_score"} <= score.metrics.keys()


def test_test_rows_out_of_reach_leave_the_score_alone() -> None:
    """A formula that is defined on all validation rows, but not on all test rows."""
    task = find_task(TASK)
    val, test = (
        dataset.read(data_store().path(task, f"{part}.txt"))[0] for part in ("val", "test")
    )
    column = next(j for j in range(3) if test[:, j].min() < val[:, j].min())
    border = float(test[:, column].min() + val[:, column].min()) / 2
    score = reported(f"x0+sqrt(x{column}-{border!r})")
    assert "test_msre" not in score.metrics
    assert "no value on the test rows" in score.feedback
    assert score.search == pytest.approx(1 / (1 + score.metrics["msre"]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LAW, 0.0),
        ("x2*x0/(x0*x1+x2)", 0.0),
        ("1.0/(1.0/x0+1.0*x1/x2)", 0.0),
        ("x0/(1+x0*x1/x2)", 0.0),
        ("2/(1/x0+x1/x2)", 0.1),
        ("2.5/(1/x0+x1/x2)", 0.1),
        ("pi/(1/x0+x1/x2)", 0.1),
        ("x0", 0.9),
    ],
)
def test_distance_to_the_law(text: str, expected: float) -> None:
    assert similarity.edit_distance(text) == pytest.approx(expected)


TREES = st.recursive(
    st.sampled_from("ab").map(Tree),
    lambda below: st.builds(Tree, st.sampled_from("ab"), st.lists(below, max_size=3).map(tuple)),
    max_leaves=4,
)


def forest_distance(a: tuple[Tree, ...], b: tuple[Tree, ...]) -> int:
    """Edit distance by its plain recursion on the last tree of each forest."""
    if not a or not b:
        return sum(tree.size for tree in a + b)
    last_a, last_b = a[-1], b[-1]
    return min(
        forest_distance(a[:-1] + last_a.children, b) + 1,
        forest_distance(a, b[:-1] + last_b.children) + 1,
        forest_distance(a[:-1], b[:-1])
        + forest_distance(last_a.children, last_b.children)
        + (last_a.label != last_b.label),
    )


@settings(deadline=None)
@given(TREES, TREES)
def test_tree_distance_is_the_least_number_of_edits(a: Tree, b: Tree) -> None:
    assume(a.size <= 6 and b.size <= 6)
    assert distance(a, b) == distance(b, a) == forest_distance((a,), (b,))
    assert (distance(a, b) == 0) == (a == b)


def test_scoring_process_says_what_in_process_scoring_says(tmp_path: Path) -> None:
    text = "0.2*sqrt(x0*x2/x1)"
    result = evaluate(TASK, program_returning(tmp_path, repr(formula(text))), "report")
    assert result.metrics == reported(text).metrics


def test_picture_compares_formula_and_law() -> None:
    left, right = drawn(TASK, formula("0.2*sqrt(x0*x2/x1)")).axes
    assert len(left.lines[1].get_xdata()) == 1000
    assert sum(patch.get_height() for patch in right.patches) == 1000
