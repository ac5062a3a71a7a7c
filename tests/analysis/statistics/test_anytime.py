"""Curves, areas, targets and waiting times by hand."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.statistics.anytime import (
    Curve,
    costs_up_to,
    mean_curve,
    runtime_distribution,
    wait,
)

RISING = Curve.of([0, 2, 5, 10], [0, 40, 40, 90])


def test_a_curve_is_a_step_function() -> None:
    where = np.array([0, 1.9, 2, 9.99, 10, 50])
    assert RISING.at(where).tolist() == [0, 0, 40, 40, 90, 90]
    assert RISING.spent == 10
    assert RISING.area() == pytest.approx((2 * 0 + 3 * 40 + 5 * 40) / 10)
    assert RISING.reaches(40) == 2
    assert RISING.reaches(40.1) == 10
    assert RISING.reaches(91) is None


def test_a_held_out_value_may_fall() -> None:
    curve = Curve.of([0, 1, 2], [0, 60, 30])
    assert curve.at(np.array([2.0])).tolist() == [30]
    assert curve.reaches(50) == 1


def test_a_run_without_iterations_has_its_start() -> None:
    assert Curve.of([0], [7]).area() == 7


@pytest.mark.parametrize(("cost", "value"), [([0, 2, 1], [1, 2, 3]), ([0, 1], [1]), ([], [])])
def test_costs_never_fall(cost: list[float], value: list[float]) -> None:
    with pytest.raises(ValueError, match="never fall"):
        Curve.of(cost, value)


def test_mean_curve_ends_where_the_first_run_ends() -> None:
    grid, values = mean_curve([RISING, Curve.of([0, 4], [0, 20])], whole=True)
    assert grid.tolist() == [0, 1, 2, 3, 4]
    assert values.tolist() == [0, 0, 20, 20, 30]
    grid, _ = mean_curve([RISING, Curve.of([0, 0.5], [0, 20])], whole=False)
    assert len(grid) == 101
    assert grid[-1] == 0.5


def test_long_axes_have_about_a_hundred_points() -> None:
    grid = costs_up_to(5000.0, whole=True)
    assert len(grid) == 101
    assert (grid == np.floor(grid)).all()
    assert grid[-1] == 5000
    assert costs_up_to(0.0, whole=True).tolist() == [0]


def test_runtime_distribution_counts_pairs() -> None:
    curves = [Curve.of([0, 3, 8], [0, 25, 55]), Curve.of([0, 5], [0, 15])]
    costs, shares = runtime_distribution(curves, (10.0, 20.0, 50.0))
    assert costs.tolist() == [0, 3, 5, 8]
    assert shares.tolist() == pytest.approx([0, 2 / 6, 3 / 6, 4 / 6])
    costs, shares = runtime_distribution([Curve.of([0, 9], [0, 1])])
    assert (costs.tolist(), shares.tolist()) == ([0], [0])


def test_waits_without_censoring_are_medians() -> None:
    curves = [Curve.of([0, cost, 100], [0, 80, 80]) for cost in (10, 20, 30)]
    found = wait(curves, 80)
    assert (found.n, found.reached, found.median) == (3, 3, 20)


def test_censored_runs_count_while_they_ran() -> None:
    """Reached at 10, censored at 15, reached at 30, censored at 40: S = 3/4, then 3/8 at 30."""
    curves = [
        Curve.of([0, 10, 50], [0, 80, 80]),
        Curve.of([0, 15], [0, 5]),
        Curve.of([0, 30, 50], [0, 80, 80]),
        Curve.of([0, 40], [0, 5]),
    ]
    found = wait(curves, 80)
    assert (found.n, found.reached, found.median) == (4, 2, 30)
    early = [*curves[:2], Curve.of([0, 30], [0, 5]), curves[3]]
    assert wait(early, 80).median is None
    assert wait(curves[1:2], 80).reached == 0


def test_half_exactly_counts() -> None:
    curves = [Curve.of([0, 10, 50], [0, 80, 80]), Curve.of([0, 40], [0, 5])]
    assert wait(curves, 80).median == 10
