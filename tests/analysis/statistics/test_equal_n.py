"""Best-of-n against counting all draws."""

from __future__ import annotations

from itertools import combinations
from statistics import fmean

import numpy as np
import pytest

from analysis.statistics.equal_n import equal_n, expected_best
from analysis.statistics.scores import Scores

RUNS = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0]


@pytest.mark.parametrize("n", range(1, 7))
def test_expected_best_is_the_mean_over_all_draws(n: int) -> None:
    counted = fmean(max(draw) for draw in combinations(RUNS, n))
    assert expected_best(np.array(RUNS), n) == pytest.approx(counted)


def test_more_than_there_is_cannot_be_drawn() -> None:
    for n in (0, 7):
        with pytest.raises(ValueError, match="not defined"):
            expected_best(np.array(RUNS), n)


def test_the_smallest_number_of_runs_limits_n() -> None:
    ours = Scores.of({"a": RUNS, "b": [1.0, 2.0, 3.0], "only ours": [0.0]})
    theirs = Scores.of({"a": [4.0, 4.0], "b": [2.0, 2.0, 2.0, 2.0]})
    found = equal_n(ours, theirs)
    assert [row.n for row in found] == [1, 2]
    assert [row.n_tasks for row in found] == [2, 2]
    assert found[0].ours == pytest.approx((fmean(RUNS) + 2) / 2)
    assert found[1].theirs == pytest.approx(3.0)
    best = (fmean(max(d) for d in combinations(RUNS, 2)) + fmean([2, 3, 3])) / 2
    assert found[1].ours == pytest.approx(best)
    assert found[1].delta == pytest.approx(best - 3.0)
    assert found[1].difference.lo <= found[1].delta <= found[1].difference.hi


def test_best_of_more_runs_looks_better_and_equal_n_does_not() -> None:
    """Two runs against six of the same method: best is higher, best of two is not."""
    rng = np.random.default_rng(8)
    six = {f"t{i}": rng.normal(0, 1, 6).tolist() for i in range(200)}
    two = {task: rng.normal(0, 1, 2).tolist() for task in six}
    naive = fmean(max(six[t]) - max(two[t]) for t in six)
    (_, row) = equal_n(Scores.of(six), Scores.of(two))
    assert naive > 0.5
    assert abs(row.delta) < 0.15


def test_no_common_task_no_comparison() -> None:
    assert equal_n(Scores.of({"a": [1.0]}), Scores.of({"b": [1.0]})) == []
