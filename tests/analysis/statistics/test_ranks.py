"""Ranks, critical differences and stability by hand."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.statistics.ranks import compare, kendall, leave_out, ranking


def test_mean_ranks_share_ties() -> None:
    values = np.array([[3.0, 1.0], [2.0, 1.0], [1.0, 0.0]])
    found = ranking(("a", "b", "c"), values)
    assert found.mean_ranks.tolist() == [1.25, 1.75, 3.0]
    assert found.n_tasks == 2
    assert found.friedman_p == pytest.approx(0.1561, abs=1e-3)


def test_values_within_rounding_noise_tie() -> None:
    values = np.array([[1.0], [1.0 + 1e-13]])
    assert ranking(("a", "b"), values).mean_ranks.tolist() == [1.5, 1.5]


def test_critical_difference_of_the_literature() -> None:
    """Demšar (2006), section 3.2.2: four methods on fourteen data sets, 1.25 at the 5 % level."""
    rng = np.random.default_rng(0)
    found = ranking(tuple("abcd"), rng.random((4, 14)))
    assert found.critical_difference == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=2e-3)
    assert found.nemenyi_p is not None
    p = found.nemenyi_p
    apart = np.abs(found.mean_ranks[:, None] - found.mean_ranks) > found.critical_difference
    assert ((p < 0.05) == apart).all()
    assert np.diag(p).tolist() == [1.0] * 4


def test_against_scikit_posthocs() -> None:
    posthocs = pytest.importorskip("scikit_posthocs")
    values = np.random.default_rng(4).normal(size=(5, 20))
    found = ranking(tuple("abcde"), values)
    theirs = posthocs.posthoc_nemenyi_friedman(values.T).to_numpy()
    assert found.nemenyi_p == pytest.approx(theirs, abs=1e-6)


def test_two_methods_have_no_friedman_test() -> None:
    found = ranking(("a", "b"), np.array([[1.0, 2.0], [0.0, 3.0]]))
    assert found.friedman_p is None
    assert found.critical_difference is None


def test_methods_that_tie_everywhere() -> None:
    assert ranking(tuple("abc"), np.ones((3, 4))).friedman_p == 1.0


def test_kendall() -> None:
    assert kendall([1, 2, 3, 4], [10, 20, 30, 40]) == 1.0
    assert kendall([1, 2, 3, 4], [4, 3, 2, 1]) == -1.0
    assert kendall([1, 2, 3], [1, 3, 2]) == pytest.approx(1 / 3)
    assert kendall([1, 2], [5, 5]) is None
    assert kendall([1], [2]) is None


def test_leaving_out_the_task_that_decides() -> None:
    values = np.array([[0.0, 50.0, 50.0], [100.0, 45.0, 49.0]])
    found = {
        row.left_out: row for row in leave_out(values, {"t0": [0], "t1": [1], "all": [0, 1, 2]})
    }
    assert (found["t0"].tau, found["t0"].same_leader) == (-1.0, False)
    assert (found["t1"].tau, found["t1"].same_leader) == (1.0, True)
    assert "all" not in found
    assert compare("same", np.array([1.0, 2.0]), np.array([1.0, 3.0])).same_leader
