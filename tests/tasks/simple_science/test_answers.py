"""The checks that all ten tasks share: exact types, keys, lengths, and reasons that name them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import through_the_wire

from benchmark.artifact import Artifact
from benchmark.candidates import json_value
from benchmark.evaluator import Invalid
from tasks.simple_science import answers

REALS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**300), 10**300)


@settings(deadline=None)
@given(REALS)
def test_finite_numbers_become_floats(value: float) -> None:
    number = answers.number(value, "x")
    assert type(number) is float
    assert number == float(value)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (True, "bool True"),
        ("1.5", "str '1.5'"),
        (None, "NoneType"),
        ([1.0], "list"),
        (1 + 0j, "complex"),
        (np.float64(1.0), "float64"),  # arrays and numpy scalars are converted before
        (float("nan"), "finite"),
        (float("-inf"), "finite"),
        (10**400, "too large"),
    ],
)
def test_other_values_are_no_numbers(value: Any, reason: str) -> None:
    with pytest.raises(Invalid, match=f"dose.*{reason}"):
        answers.number(value, "dose")


@pytest.mark.parametrize("value", [(1, 2), "12", {"0": 1, "1": 2}, None, 2, [1], [1, 2, 3], []])
def test_only_lists_of_the_right_length(value: Any) -> None:
    with pytest.raises(Invalid, match="the pair must"):
        answers.numbers(value, 2, "the pair")


def test_reasons_name_the_place() -> None:
    with pytest.raises(Invalid, match="entry 1 of row 2 of the table must be a number"):
        answers.rows([[0, 1], [2, 3], [4, "5"]], 3, 2, "the table")


@settings(deadline=None)
@given(st.lists(st.lists(REALS, min_size=3, max_size=3), min_size=4, max_size=4))
def test_rows_keep_every_number(table: list[list[float]]) -> None:
    doubles = [[float(value) for value in row] for row in table]
    assert answers.rows(table, 4, 3, "the table") == doubles


def test_fields_come_in_the_order_asked_for() -> None:
    assert answers.fields({"b": 2, "a": 1}, "a", "b") == [1, 2]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"a": 1}, "lacks the key b"),
        ({}, "lacks the keys a, b"),
        ({"a": 1, "b": 2, "score": 1.0}, "only the keys a, b; got also str 'score'"),
        ([1, 2], "must be a dictionary with the keys a, b; got list"),
    ],
)
def test_fields_are_exact(value: Any, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        answers.fields(value, "a", "b")


def test_text_is_text() -> None:
    assert answers.text("AlPhos", "catalyst") == "AlPhos"
    with pytest.raises(Invalid, match="catalyst must be text; got int 3"):
        answers.text(3, "catalyst")


def test_reasons_stay_short() -> None:
    with pytest.raises(Invalid) as failure:
        answers.fields({"a" * 100_000 + "\n": 1, "x": 2}, "x")
    assert len(str(failure.value)) < 200
    assert "\n" not in str(failure.value)


@settings(deadline=None)
@given(st.lists(st.floats(-1e9, 1e9), max_size=20))
def test_containers_of_numpy_and_tuples_count_as_lists(values: list[float]) -> None:
    for returned in (tuple(values), np.array(values, dtype=float), [np.float64(v) for v in values]):
        artifact = Artifact(json_value(through_the_wire(returned)))
        assert answers.answer(artifact) == values


def test_stored_arrays_count_as_lists() -> None:
    assert answers.answer(Artifact(np.array([[1, 2], [3, 4]]))) == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    "returned",
    [{1.0}, b"12", 1 + 2j, Decimal(1), np.array([None]), iter([1.0]), {1: 2}, [float("nan")]],
)
def test_what_json_cannot_hold_is_invalid(returned: Any) -> None:
    with pytest.raises(Invalid):
        json_value(through_the_wire(returned))


def test_absurd_nesting_is_invalid() -> None:
    nested: Any = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(Invalid, match="nested"):
        answers.answer(Artifact(nested))
