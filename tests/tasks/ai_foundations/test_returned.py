"""Which return values count as parameters and predictions, once out of the sandbox."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import through_the_wire

from benchmark.evaluator import Invalid
from tasks.ai_foundations.literals import literal_flags
from tasks.ai_foundations.returned import parameters, predictions


class Hidden:
    """An object that holds numbers where no one counts them."""

    values = (1.0, 2.0)


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ([1, 2.5, 3], 3),
        ((1.0, 2.0), 2),
        (np.ones((2, 3)), 6),
        ([[1, 2], [3, 4]], 4),
        (7.5, 1),
        (np.float32(2), 1),
        (np.arange(5), 5),
        ([np.float64(1), np.float64(2)], 2),
        (np.ones(0), 0),
    ],
)
def test_numeric_arrays_are_counted_and_kept(value: Any, count: int) -> None:
    found = parameters(through_the_wire(value), count, "g")
    assert found.size == count
    np.testing.assert_array_equal(found, np.asarray(value))
    if count > 1:
        with pytest.raises(Invalid, match=f"{count} parameters"):
            parameters(through_the_wire(value), count - 1, "g")


@pytest.mark.parametrize(
    "value",
    [
        {"a": 1.0},
        "1.0",
        "x" * 400,
        None,
        {1.0, 2.0},
        [[1.0, 2.0], [3.0]],
        [1.0, [2.0]],
        [1.0, "2.0"],
        [1.0, None],
        np.array([1.0, {"more": 1}], dtype=object),
        [Hidden()],
        Hidden(),
        b"packed numbers",
        iter([1.0, 2.0]),
        np.array([1 + 2j]),
        np.array([True, False]),
        np.array(["1", "2"]),
        [1.0, float("nan")],
        [float("inf")],
        [10**400],
    ],
    ids=lambda value: type(value).__name__,
)
def test_containers_and_other_types_are_refused(value: Any) -> None:
    with pytest.raises(Invalid):
        parameters(through_the_wire(value), 1000, "g")


@given(st.integers(1, 6), st.integers(1, 4))
def test_shapes_of_predictions(n_rows: int, n_targets: int) -> None:
    values = np.arange(n_rows * n_targets, dtype=float).reshape(n_rows, n_targets)
    np.testing.assert_array_equal(predictions(values, n_rows, n_targets, "g"), values)
    np.testing.assert_array_equal(predictions(values.tolist(), n_rows, n_targets, "g"), values)
    if n_rows != n_targets:
        with pytest.raises(Invalid, match="shape"):
            predictions(values.T, n_rows, n_targets, "g") if n_rows > 1 and n_targets > 1 else (
                predictions(values[:, :, None], n_rows + 1, n_targets, "g")
            )
    with pytest.raises(Invalid, match="shape"):
        predictions(np.vstack([values, values]), n_rows, n_targets, "g")
    if n_targets == 1:
        np.testing.assert_array_equal(predictions(values[:, 0], n_rows, 1, "g"), values)


@pytest.mark.parametrize("value", [None, "text", ["1.0", "2.0"], {"a": 1}, [1j, 2], [[1], [2, 3]]])
def test_predictions_are_numbers(value: Any) -> None:
    with pytest.raises(Invalid):
        predictions(through_the_wire(value), 2, 1, "g")


def test_tables_in_a_program_are_flagged() -> None:
    table = ", ".join(f"{-0.5 + 0.01 * i:.3f}" for i in range(100))
    assert "100 numeric literals" in literal_flags(f"T = [\n{table},  # rows\n]\n")[0]
    assert "characters" in literal_flags(f"T = {'A1' * 400!r}\n")[0]
    lines = "\n".join(f"x{i} = {i} * x{i - 1}" for i in range(1, 300))
    prose = '"""' + "a long explanation of the method " * 50 + '"""'
    assert literal_flags(f"{prose}\nx0 = 1\n{lines}\n") == ()
    assert literal_flags("def broken(:\n  '''") == ()
