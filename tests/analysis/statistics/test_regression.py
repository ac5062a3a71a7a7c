"""Least squares with clustered errors, against the formula written out and against simulation."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.statistics.regression import least_squares


def test_a_line_by_hand() -> None:
    found = least_squares({"one": [1, 1, 1, 1], "x": [0, 1, 2, 3]}, [1, 3, 5, 7], list("abcd"))
    assert found["one"].value == pytest.approx(1)
    assert found["x"].value == pytest.approx(2)


def test_two_groups_by_hand() -> None:
    """Difference of means; the sandwich of four clusters with one value each is HC1-like."""
    y, x = [0.0, 1.0, 3.0, 6.0], [0.0, 0.0, 1.0, 1.0]
    found = least_squares({"one": [1.0] * 4, "x": x}, y, list("abcd"))
    assert found["x"].value == pytest.approx(4.0)
    # residuals -.5, .5, -1.5, 1.5: variances of the means .125 and 1.125; factor 4/3 * 3/2
    assert found["x"].error == pytest.approx(np.sqrt(2 * (0.125 + 1.125)))
    assert found["x"].lo is not None
    assert found["x"].lo < 4 < (found["x"].hi or 0)


def test_copies_of_a_run_are_no_new_evidence() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.random(12), rng.random(12)
    clusters = list(range(12))
    once = least_squares({"one": np.ones(12), "x": x}, y, clusters)
    many = least_squares(
        {"one": np.ones(120), "x": np.tile(x, 10)}, np.tile(y, 10), clusters * 10
    )  # fmt: skip
    assert many["x"].value == pytest.approx(once["x"].value)
    small = np.sqrt((11 / 10) / (119 / 118))
    assert once["x"].error == pytest.approx(small * many["x"].error)


def test_coverage_with_dependence_within_clusters() -> None:
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(200):
        shared = rng.normal(size=30)
        treated = rng.integers(0, 2, size=30)
        x = np.repeat(treated, 8).astype(float)
        y = 0.5 * x + np.repeat(shared, 8) + rng.normal(size=240)
        found = least_squares(
            {"one": np.ones(240), "x": x}, y, np.repeat(np.arange(30), 8).tolist()
        )
        hits += (found["x"].lo or 0) < 0.5 < (found["x"].hi or 0)
    assert hits / 200 > 0.88


def test_what_cannot_be_told_apart_is_left_out() -> None:
    found = least_squares(
        {"one": [1, 1, 1], "never": [0, 0, 0], "x": [0, 1, 2], "again": [0, 2, 4]},
        [0, 1, 2], ["a", "a", "a"],
    )  # fmt: skip
    assert list(found) == ["one", "x"]
    assert found["x"].error is None
    assert least_squares({}, [], []) == {}
