"""Aggregates by hand and against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import trim_mean

from analysis.statistics.aggregates import (
    AGGREGATES,
    iqm,
    mean,
    median,
    optimality_gap,
    probability_of_improvement,
)
from analysis.statistics.scores import Scores

UNEVEN = Scores.of({"a": [0.0, 10.0], "b": [100.0], "c": [40.0, 50.0, 120.0]})


def test_scores_are_padded_and_sorted() -> None:
    assert UNEVEN.tasks == ("a", "b", "c")
    assert UNEVEN.counts.tolist() == [2, 1, 3]
    assert UNEVEN.of_task("c").tolist() == [40.0, 50.0, 120.0]
    assert UNEVEN.only(["c", "a"]).tasks == ("a", "c")


@pytest.mark.parametrize("bad", [{}, {"a": []}, {"a": [1.0], "b": []}])
def test_scores_need_runs(bad: dict[str, list[float]]) -> None:
    with pytest.raises(ValueError, match="at least one task"):
        Scores.of(bad)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_scores_need_finite_values(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        Scores.of({"a": [1.0, bad]})


def test_by_hand_with_unequal_numbers_of_runs() -> None:
    values = UNEVEN.values
    assert float(mean(values)) == pytest.approx((5 + 100 + 70) / 3)
    assert float(median(values)) == 70.0
    assert float(optimality_gap(values)) == pytest.approx((100 + 90 + 0 + 60 + 50 + 0) / 6)
    # Six values, the middle three: half of 10, 40, 50, half of 100.
    assert float(iqm(values)) == pytest.approx((0.5 * 10 + 40 + 50 + 0.5 * 100) / 3)


@pytest.mark.parametrize(("tasks", "runs"), [(21, 4), (4, 1), (2, 2), (31, 8)])
def test_iqm_is_the_trimmed_mean_for_whole_quarters(tasks: int, runs: int) -> None:
    values = np.random.default_rng(1).normal(60, 30, (tasks, runs))
    assert float(iqm(values)) == pytest.approx(trim_mean(values.ravel(), 0.25))


def test_iqm_of_few_values() -> None:
    assert float(iqm(np.array([[7.0]]))) == pytest.approx(7.0)
    assert float(iqm(np.array([[1.0, 3.0]]))) == pytest.approx(2.0)
    assert float(iqm(np.array([[0.0, 3.0, 90.0]]))) == pytest.approx(
        (0.25 * 0 + 3 + 0.25 * 90) / 1.5
    )


def test_a_stack_gives_what_each_gives_alone() -> None:
    stack = np.random.default_rng(2).normal(50, 40, (5, 6, 3))
    stack[:, 2, 1:] = np.nan
    for aggregate in AGGREGATES.values():
        together = aggregate(stack)
        assert together.shape == (5,)
        assert together.tolist() == pytest.approx([float(aggregate(part)) for part in stack])


def test_probability_of_improvement_counts_pairs_and_halves_ties() -> None:
    ours = Scores.of({"a": [1.0, 2.0], "b": [5.0]}).values
    theirs = Scores.of({"a": [1.0, 0.0, 3.0], "b": [5.0, 5.0, 5.0]}).values
    # Task a: 1 beats 0, ties 1; 2 beats 1 and 0: 3.5 of 6. Task b: all ties.
    assert float(probability_of_improvement(ours, theirs)) == pytest.approx((3.5 / 6 + 0.5) / 2)
    forth = float(probability_of_improvement(ours, theirs))
    assert forth + float(probability_of_improvement(theirs, ours)) == pytest.approx(1)
