"""Tables 4 and 5, Figures 3 and 4(a)."""

from __future__ import annotations

import pytest
from published_copy import PublishedCopy

from analysis.binning import bins
from analysis.oracle_study import (
    changes,
    nearly_solved,
    overall_oracle,
    overall_parallel,
    parallel_means,
)
from analysis.ordering import is_simple
from analysis.published import Published

LUNA, QWEN = "GPT-5.6-Luna", "Qwen3.5-9B"


def test_overall_rows_of_table_4(data: Published) -> None:
    found = {row.model: row for row in overall_oracle(data.oracle)}
    printed = data.rows("table4_overall", ("model", "n_tasks"))
    assert len(printed) == len(found) == 2
    for row in printed:
        ours = found[row.text("model")]
        for column in ("openevolve_mean", "openevolve_best", "oracle_mean", "oracle_best"):
            assert getattr(ours, column) == pytest.approx(float(row.number(column)), abs=0.05)
        for column in ("delta_mean", "delta_best"):
            assert getattr(ours, column) == pytest.approx(float(row.number(column)), abs=0.05)
        assert ours.n_tasks == row.integer("n_tasks") == 31


def test_overall_rows_of_table_5(data: Published) -> None:
    found = {(row.model, row.method): row for row in overall_parallel(data.parallel)}
    # Half a unit for the printed row, and half for the printed cells that it is computed from here.
    printed = data.rows("table5_overall", ("model", "method", "n_tasks"))
    assert len(printed) == len(found) == 4
    for row in printed:
        ours = found[row.text("model"), row.text("method")]
        for column in ("n1_mean", "n1_best", "n8_mean", "n8_best", "delta_mean", "delta_best"):
            assert getattr(ours, column) == pytest.approx(float(row.number(column)), abs=0.1)
        assert ours.n_tasks == row.integer("n_tasks") == {QWEN: 12, LUNA: 9}[ours.model]


def test_gains_of_parallel_candidates(data: Published) -> None:
    gains = {(r.model, r.method): r.delta_mean for r in overall_parallel(data.parallel)}
    assert gains[LUNA, "OpenEvolve+Oracle"] == pytest.approx(15.0, abs=0.05)
    assert gains[LUNA, "OpenEvolve"] == pytest.approx(9.8, abs=0.05)
    assert gains[QWEN, "OpenEvolve+Oracle"] == pytest.approx(2.2, abs=0.05)
    assert gains[QWEN, "OpenEvolve"] == pytest.approx(11.8, abs=0.05)


def test_printed_deltas_are_differences_of_printed_values(data: Published) -> None:
    cells = {(cell.model, cell.task_id): cell for cell in data.oracle}
    for row in data.rows("table4_oracle", ("model", "task_id", "delta_mean", "delta_best")):
        cell = cells[row.text("model"), row.text("task_id")]
        best = float(cell.oracle.best.exact - cell.baseline.best.exact)
        assert cell.delta == pytest.approx(float(row.number("delta_mean")), abs=0.15 + 1e-9)
        assert best == pytest.approx(float(row.number("delta_best")), abs=0.15 + 1e-9)


def test_figure_3(data: Published) -> None:
    means = {r.model: (r.openevolve_mean, r.oracle_mean) for r in overall_oracle(data.oracle)}
    assert means[QWEN] == pytest.approx((51.9, 62.2), abs=0.05)
    assert means[LUNA] == pytest.approx((74.2, 78.3), abs=0.05)
    rows = bins((float(cell.baseline.mean), cell.delta) for cell in data.oracle)
    assert [row.n for row in rows] == [3, 6, 10, 10, 7, 26]
    assert [row.median for row in rows] == pytest.approx([9.0, -0.5, 9.4, 10.9, 9.9, 0.0])
    counts = {row.model: (row.improved, row.degraded) for row in changes(data.oracle)}
    assert counts == {QWEN: (18, 8), LUNA: (10, 4)}
    solved = {row.model: row for row in nearly_solved(data.oracle)}
    assert solved[LUNA].n_tasks == 16
    assert solved[LUNA].mean_change == pytest.approx(0.1, abs=0.05)
    assert sum(is_simple(cell.domain) for cell in data.oracle) == 20


def test_a_change_of_exactly_one_point_is_no_change(data: Published) -> None:
    (u_shape,) = (c for c in data.oracle if (c.model, c.task_id) == (QWEN, "u_shape"))
    assert u_shape.delta == -1.0
    assert changes([u_shape])[0].degraded == 0


def test_single_deltas_of_the_text(data: Published) -> None:
    deltas = {(cell.model, cell.task_id): cell.delta for cell in data.oracle}
    assert deltas[QWEN, "swap_reduction"] == pytest.approx(6.1)
    assert deltas[LUNA, "swap_reduction"] == pytest.approx(41.5)
    assert deltas[QWEN, "rosetta"] == pytest.approx(-9.0)
    assert deltas[LUNA, "rosetta"] == pytest.approx(-23.3)


def test_figure_4a(data: Published) -> None:
    assert parallel_means(data.parallel, LUNA, "sums_diffs") == [
        (1, "OpenEvolve", 15.4),
        (1, "OpenEvolve+Oracle", 14.8),
        (8, "OpenEvolve", 25.8),
        (8, "OpenEvolve+Oracle", 40.7),
    ]


def test_changed_means_change_the_overall_rows(copy: PublishedCopy, data: Published) -> None:
    cell = {"model": LUNA, "task_id": "ac1"}  # 42.5 -> 51.1
    copy.set("table4_oracle", cell, openevolve_mean="73.5", oracle_best="93.3")
    before, after = ({r.model: r for r in overall_oracle(d.oracle)} for d in (data, copy.read()))
    assert after[LUNA].openevolve_mean - before[LUNA].openevolve_mean == pytest.approx(1.0)
    assert after[LUNA].oracle_best - before[LUNA].oracle_best == pytest.approx(1.0)
    assert after[LUNA].delta_mean - before[LUNA].delta_mean == pytest.approx(-1.0)
    assert after[QWEN] == before[QWEN]
    counts = {row.model: (row.improved, row.degraded) for row in changes(copy.read().oracle)}
    assert counts[LUNA] == (9, 5)
