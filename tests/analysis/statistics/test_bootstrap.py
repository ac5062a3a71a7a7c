"""Intervals: what is resampled, and that nothing depends on order."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap, norm

from analysis.statistics.aggregates import mean
from analysis.statistics.bootstrap import interval, percentile, resamples, seed_of, wilson
from analysis.statistics.scores import Array, Scores


def test_runs_stay_within_their_task() -> None:
    scores = Scores.of({"a": [1.0, 2.0], "b": [10.0], "c": [20.0, 30.0, 40.0]})
    for (part,) in resamples(scores, tasks=False, repeats=1500):
        assert part.shape[1:] == (3, 3)
        assert set(np.unique(part[:, 0, :2])) == {1.0, 2.0}
        assert np.isnan(part[:, 0, 2]).all()
        assert (part[:, 1, 0] == 10.0).all()
        assert set(np.unique(part[:, 2])) == {20.0, 30.0, 40.0}


def test_tasks_are_resampled_with_their_numbers_of_runs() -> None:
    scores = Scores.of({"a": [1.0, 2.0], "b": [10.0]})
    rows = np.concatenate([p for (p,) in resamples(scores, tasks=True, repeats=2000)])
    is_b = rows[:, :, 0] == 10.0
    assert 0.45 < is_b.mean() < 0.55
    assert np.isnan(rows[is_b][:, 1]).all()
    assert np.isin(rows[~is_b], (1.0, 2.0)).all()


def test_methods_see_the_same_tasks() -> None:
    one = Scores.of({"a": [1.0], "b": [2.0], "c": [3.0]})
    other = Scores.of({"a": [11.0], "b": [12.0], "c": [13.0]})
    for x, y in resamples(one, other, tasks=True, repeats=500):
        assert (y - x == 10.0).all()
    with pytest.raises(ValueError, match="same tasks"):
        next(resamples(one, Scores.of({"a": [1.0]}), tasks=True))


def test_against_scipy() -> None:
    values = np.random.default_rng(5).normal(50, 20, 40)
    ours = interval(mean, Scores.of({"a": values.tolist()}), tasks=False)
    theirs = bootstrap((values,), np.mean, n_resamples=10_000, method="percentile", rng=1)
    assert ours.lo == pytest.approx(theirs.confidence_interval.low, abs=0.3)
    assert ours.hi == pytest.approx(theirs.confidence_interval.high, abs=0.3)


def test_resampling_tasks_widens_the_interval() -> None:
    rng = np.random.default_rng(3)
    scores = Scores.of({f"t{i}": rng.normal(10 * i, 1, 4).tolist() for i in range(10)})
    runs, both = (interval(mean, scores, tasks=tasks, repeats=2000) for tasks in (False, True))
    assert both.hi - both.lo > 5 * (runs.hi - runs.lo)


def test_one_value_a_task_has_no_run_level_spread() -> None:
    found = interval(mean, Scores.of({"a": [1.0], "b": [2.0]}), tasks=False, repeats=50)
    assert (found.lo, found.hi) == (1.5, 1.5)


def test_order_does_not_matter_and_seeds_do() -> None:
    one = Scores.of({"a": [1.0, 5.0, 9.0], "b": [2.0, 7.0]})
    same = Scores.of({"b": [7.0, 2.0], "a": [9.0, 1.0, 5.0]})

    def found(scores: Scores, seed: int) -> tuple[float, float]:
        result = interval(mean, scores, tasks=True, repeats=300, seed=seed)
        return result.lo, result.hi

    assert found(one, 1) == found(same, 1)
    assert seed_of("x", 1) == seed_of("x", 1) != seed_of("x", 2)


def test_percentile_takes_the_middle() -> None:
    draws: Array = np.arange(1001, dtype=float)
    assert percentile(draws) == percentile(draws[::-1])
    assert (percentile(draws).lo, percentile(draws).hi) == pytest.approx((25.0, 975.0))


@pytest.mark.parametrize(("successes", "trials"), [(0, 6), (5, 6), (43, 82), (82, 82)])
def test_wilson_by_its_formula(successes: int, trials: int) -> None:
    z = norm.ppf(0.975)
    share, n = successes / trials, trials
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    found = wilson(successes, trials)
    assert found is not None
    assert (found.lo, found.hi) == pytest.approx((centre - half, centre + half), abs=1e-12)
    assert wilson(0, 0) is None
