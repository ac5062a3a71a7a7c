"""Candidates that break a rule of the scaling-law tasks, run as a method would run them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark import Evaluation, evaluate
from tasks.ai_foundations import rowwise
from tasks.ai_foundations.tables import Rows

Write = Callable[[str], Path]

FIT = """
import numpy as np
def logs(X):
    return np.column_stack([np.ones(len(X)), np.log(X)])
def fit_scaling_law(X, y):
    return np.linalg.lstsq(logs(X), y, rcond=None)[0]
"""
PREDICT = """
def scaling_law_func(X, params):
    return logs(X) @ np.asarray(params)
"""


def judge(source: str, write: Write, stage: str = "search", **options: str) -> Evaluation:
    return evaluate(
        "parallel", write(source), stage, variant="embedded", options=options, wall_s=20
    )


def test_plain_program_is_valid(write: Write) -> None:
    evaluation = judge(FIT + PREDICT, write, "both")
    assert evaluation.status == "valid", evaluation.reason
    assert evaluation.search is not None
    assert evaluation.search > 0.99
    assert "flagged" not in evaluation.feedback


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        ("np.ones(5)", "5 parameters for pile; at most 4"),
        ("np.ones((2, 3))", "6 parameters"),
        ("{'a': [1.0] * 50}", "no numbers"),
        ("'1.0 2.0 3.0'", "no numbers"),
        ("np.array([{'more': 1}], dtype=object)", "no numbers"),
        ("[[1.0, 2.0], [3.0]]", "ragged"),
        ("None", "no numbers"),
        ("[1.0, float('nan'), 2.0]", "NaN or infinity"),
    ],
)
def test_parameters(returned: str, reason: str, write: Write) -> None:
    source = f"import numpy as np\ndef fit_scaling_law(X, y):\n    return {returned}\n"
    evaluation = judge(source + PREDICT, write)
    assert (evaluation.status, evaluation.search, evaluation.objective) == ("invalid", None, None)
    assert reason in evaluation.reason


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        ("np.full(len(X), np.nan)", "NaN or infinity"),
        ("np.where(X[:, 1] > 1, np.inf, 2.0)", "NaN or infinity"),
        ("np.ones(len(X) + 1)", "shape"),
        ("np.ones((len(X), 2))", "shape"),
        ("1.5", "shape"),
        ("['1.5'] * len(X)", "no numbers"),
        ("None", "no numbers"),
    ],
)
def test_predictions(returned: str, reason: str, write: Write) -> None:
    source = f"{FIT}\ndef scaling_law_func(X, params):\n    return {returned}\n"
    for stage in ("search", "report"):
        evaluation = judge(source, write, stage)
        assert (evaluation.status, evaluation.objective) == ("invalid", None)
        assert reason in evaluation.reason


def test_column_of_predictions_counts_as_one_dimension(write: Write) -> None:
    column = FIT + "def scaling_law_func(X, params):\n    return (logs(X) @ params)[:, None]\n"
    squeezed = FIT + "def scaling_law_func(X, params):\n    return np.squeeze(logs(X) @ params)\n"
    plain = judge(FIT + PREDICT, write)
    for source in (column, squeezed):
        evaluation = judge(source, write)
        assert evaluation.status == "valid", evaluation.reason
        assert evaluation.search == pytest.approx(plain.search, abs=1e-12)


def test_missing_function(write: Write) -> None:
    evaluation = judge(FIT, write)
    assert evaluation.status == "invalid"
    assert "scaling_law_func" in evaluation.reason


def test_endless_fit_is_ended(write: Write) -> None:
    source = "def fit_scaling_law(X, y):\n    while True: pass\n" + PREDICT
    evaluation = evaluate("parallel", write(source), variant="embedded", wall_s=2)
    assert evaluation.status == "timeout"


BATCH_STATISTICS = {
    "mean": "return logs(X) @ params + 1e-3 * np.mean(X[:, 0]) / 1e9",
    "minimum": "return logs(X) @ params + 1e-3 * (X[:, 0] - X[:, 0].min()) / 1e9",
    "rank": "return logs(X) @ params + 1e-4 * np.argsort(np.argsort(X[:, 0]))",
    "number of rows": "return logs(X) @ params + 1e-4 * len(X)",
    "single rows": "return logs(X) @ params + 1e-4 * (len(X) == 1)",
    "whole batch": "return logs(X) @ params + 1e-4 * (len(X) == 18)",
    "order": "return logs(X) @ params + 1e-4 * (np.arange(len(X)) == 0)",
    "just above the tolerance": "return logs(X) @ params + 1e-8 * len(X)",
}


@pytest.mark.parametrize("body", BATCH_STATISTICS.values(), ids=BATCH_STATISTICS.keys())
def test_batch_statistics_are_refused(body: str, write: Write) -> None:
    source = f"{FIT}\ndef scaling_law_func(X, params):\n    {body}\n"
    evaluation = judge(source, write)
    assert evaluation.status == "invalid"
    assert "its own row" in evaluation.reason
    unchecked = judge(source, write, row_check="false")
    assert unchecked.status == "valid", unchecked.reason


def test_rounding_is_no_batch_statistic(write: Write) -> None:
    source = (
        f"{FIT}\ndef scaling_law_func(X, params):\n    return logs(X) @ params + 1e-12 * len(X)"
    )
    assert judge(source, write).status == "valid"


def test_refusal_of_single_rows_says_so(write: Write) -> None:
    predict = "def scaling_law_func(X, params):\n    assert len(X) > 1\n    return logs(X) @ params"
    source = f"{FIT}\n{predict}"
    evaluation = judge(source, write)
    assert evaluation.status == "crashed"
    assert "one row at a time" in evaluation.reason


def test_long_tables_are_flagged(write: Write) -> None:
    table = f"TABLE = {[round(0.1 * i, 3) for i in range(80)]}\n"
    evaluation = judge(FIT + PREDICT + table, write)
    assert evaluation.status == "valid"
    assert "flagged" in evaluation.feedback
    assert "80 numeric literals" in evaluation.feedback


def test_repeats_of_a_program_that_draws_fresh_entropy(write: Write) -> None:
    source = FIT.replace("[0]\n", "[0] + np.random.default_rng().normal(0, 1e-3, 3)\n") + PREDICT
    evaluation = evaluate("parallel", write(source), variant="embedded", repeats=3)
    values = [row["search"] for row in evaluation.repeats]
    assert len(set(values)) == 3
    assert evaluation.search == pytest.approx(np.mean(values))
    assert evaluation.metrics["search_stdev"] == pytest.approx(np.std(values, ddof=1))


def test_the_module_random_is_seeded(write: Write) -> None:
    source = FIT.replace("[0]\n", "[0] * (1 + 1e-4 * random.random())\n") + PREDICT
    first, second = (judge("import random\n" + source, write) for _ in range(2))
    assert first.search == second.search


def _rows(n: int, seed: int = 0) -> Rows:
    values = np.random.default_rng(seed).random((n, 3))
    return Rows(values[:, :2], values[:, 2:])


@given(st.integers(1, 60), st.integers(0, 5))
def test_halves_cover_a_group_once(n: int, seed: int) -> None:
    rows = _rows(n, seed)
    parts = rowwise.halves(rows)
    if n == 1:
        assert parts == []
        return
    assert all(0 < len(part) <= (n + 1) // 2 for part in parts)
    assert sorted(np.concatenate(parts)) == list(range(n))


@given(st.lists(st.integers(1, 300), min_size=1, max_size=12))
def test_single_rows_are_few_and_never_more_than_half(lengths: list[int]) -> None:
    table = {f"g{i}": _rows(n, i) for i, n in enumerate(lengths)}
    chosen = rowwise.single_rows(table)
    assert sum(map(len, chosen.values())) <= max(rowwise.SINGLE_ROWS, len(table))
    for group, rows in table.items():
        part = chosen.get(group, np.zeros(0, dtype=int))
        assert len(part) <= len(rows) / 2
        assert len(set(part)) == len(part)
        assert (len(part) > 0) == (len(rows) > 1)
