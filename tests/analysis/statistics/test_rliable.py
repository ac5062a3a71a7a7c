"""Our aggregates against the library of Agarwal et al. (NeurIPS 2021), where it can be imported."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.statistics.aggregates import iqm, mean, median, optimality_gap
from analysis.statistics.aggregates import probability_of_improvement as ours
from analysis.statistics.bootstrap import interval
from analysis.statistics.profiles import profile
from analysis.statistics.scores import Scores

try:
    from rliable import library, metrics
except ImportError as error:  # also where it is installed and its own dependencies are too new
    pytest.skip(f"rliable: {error}", allow_module_level=True)

RUNS, TASKS = 4, 21


@pytest.fixture
def values() -> np.ndarray:
    """NDG of shape (runs, tasks), the layout of the library."""
    return np.random.default_rng(3).uniform(0, 110, size=(RUNS, TASKS))


def scores(values: np.ndarray) -> Scores:
    return Scores.of({f"t{i:02}": column.tolist() for i, column in enumerate(values.T)})


def test_aggregates(values: np.ndarray) -> None:
    mine = scores(values).values
    assert float(mean(mine)) == pytest.approx(metrics.aggregate_mean(values))
    assert float(median(mine)) == pytest.approx(metrics.aggregate_median(values))
    assert float(iqm(mine)) == pytest.approx(metrics.aggregate_iqm(values))
    gap = metrics.aggregate_optimality_gap(values, 100.0)
    assert float(optimality_gap(mine)) == pytest.approx(gap)


def test_probability_of_improvement(values: np.ndarray) -> None:
    other = np.random.default_rng(4).uniform(0, 110, size=(RUNS, TASKS)).round()
    same = values.round()
    theirs = metrics.probability_of_improvement(same, other)
    assert float(ours(scores(same).values, scores(other).values)) == pytest.approx(theirs)


def test_profile(values: np.ndarray) -> None:
    taus = [0.0, 20.0, 50.0, 99.0]
    theirs = [library.run_score_deviation(values, tau - 1e-9) for tau in taus]
    mine = profile(scores(values), taus, tasks=False, repeats=10)
    assert mine.share == pytest.approx(theirs)


def test_intervals_are_alike(values: np.ndarray) -> None:
    _, theirs = library.get_interval_estimates(
        {"a": values}, lambda x: np.array([metrics.aggregate_iqm(x)]), reps=2_000,
        random_state=np.random.RandomState(0),
    )  # fmt: skip
    mine = interval(iqm, scores(values), tasks=False, repeats=2_000)
    assert mine.lo == pytest.approx(float(theirs["a"][0, 0]), abs=1.0)
    assert mine.hi == pytest.approx(float(theirs["a"][1, 0]), abs=1.0)
