"""Table 1: records, ties, and what is derived from the small tables."""

from __future__ import annotations

from decimal import Decimal

import pytest
from published_copy import PublishedCopy

from analysis.published import Published
from analysis.records import derived, improvement, non_dominated, outcome, outcome_of
from analysis.rows import DataProblem


def test_what_the_paper_derives(data: Published) -> None:
    found = derived(data)
    assert (found["n_records"], found["n_ties"], found["n_record_domains"]) == (8, 3, 5)
    assert found["mean_cost_usd"] == pytest.approx(45.56, abs=0.005)
    assert found["swap_reduction_pct"] == pytest.approx(2.31, abs=0.005)
    assert found["rosetta_reduction_pct"] == pytest.approx(10.1, abs=0.05)
    assert found["denoising_record_ndg"] == pytest.approx(100.27, abs=0.005)
    assert found["denoising_cost_ratio"] == pytest.approx(6.9, abs=0.05)
    assert found["gate_advantage_denoising"] == pytest.approx(23.9, abs=1e-9)


def test_table_13_repeats_table_1a(data: Published) -> None:
    columns = ("task_id", "simpletes", "evoduet", "direction", "delta", "matches_reference_1e-9")
    records = {cell.task_id: cell for cell in data.records}
    for row in data.rows("table13_best_programs", columns):
        cell, printed = records[row.text("task_id")], row.text("delta")
        theirs, ours = row.number("simpletes").exact, row.number("evoduet").exact
        assert (cell.previous.exact, cell.found.exact) == (theirs, ours)
        tie = outcome(improvement(theirs, ours, row.text("direction"))) == "tie"
        assert tie == (row.text("matches_reference_1e-9") == "yes") == (printed in ("0", "~0"))
        assert tie or ours - theirs == Decimal(printed)


@pytest.mark.parametrize(
    ("gain", "verdict"),
    [("1.1e-9", "record"), ("1e-9", "tie"), ("-1e-9", "tie"), ("-1.1e-9", "loss"), ("0", "tie")],
)
def test_scores_within_a_billionth_match(gain: str, verdict: str) -> None:
    assert outcome(Decimal(gain)) == verdict


def test_a_worse_score_is_neither_record_nor_tie(copy: PublishedCopy) -> None:
    copy.set("table1a_records", {"task_id": "rosetta"}, evoduet="1.552970", cost_usd="0.12")
    found = derived(copy.read())
    assert (found["n_records"], found["n_ties"], found["n_record_domains"]) == (7, 3, 5)
    assert found["rosetta_reduction_pct"] == pytest.approx(100 * 0.000002 / 1.552968)
    assert found["mean_cost_usd"] == pytest.approx(45.556363636 - 4, abs=1e-6)
    (rosetta,) = (cell for cell in copy.read().records if cell.task_id == "rosetta")
    assert outcome_of(rosetta) == "loss"


def test_every_key_follows_its_input(copy: PublishedCopy) -> None:
    copy.set("table1e_pareto", {"method": "EvoDuet"}, cost_usd="26.539")
    copy.set("table1b_gating", {"gating": "stagnation_heuristic"}, denoising_ndg_pct="80.0")
    copy.set("anchors_derived", {"task_id": "denoising"}, replay_x0="0.7")
    copy.set("table3_tasks", {"task_id": "swap_reduction"}, domain="Mathematics")
    found = derived(copy.read())
    assert found["denoising_cost_ratio"] == pytest.approx(10.0)
    assert found["gate_advantage_denoising"] == pytest.approx(4.5)
    assert found["denoising_record_ndg"] == pytest.approx(100 * 0.022906 / 0.02269)
    assert found["n_record_domains"] == 4


def test_what_is_missing_is_empty_or_named(copy: PublishedCopy) -> None:
    copy.change("table1e_pareto", lambda row: None if row["method"] == "SimpleTES" else row)
    copy.change("table1b_gating", lambda row: None if row["gating"] == "knowledge_gap" else row)
    found = derived(copy.read())
    assert found["denoising_cost_ratio"] is None
    assert found["gate_advantage_denoising"] is None
    copy.change("table3_tasks", lambda row: None if row["task_id"] == "rosetta" else row)
    with pytest.raises(DataProblem, match=r"table3_tasks\.csv: no row for rosetta"):
        derived(copy.read())


def test_points_that_nothing_beats() -> None:
    points = [(38.45, 100.27), (265.39, 100.0), (0.58, 88.35), (10.7, 86.3), (0.58, 88.35)]
    assert non_dominated(points) == [True, False, True, False, True]
    assert non_dominated([]) == []
