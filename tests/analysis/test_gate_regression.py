"""The regression of improvement on the gate's decision, from traces with known answers."""

from __future__ import annotations

import pytest
from published_copy import read_csv
from synthetic_traces import SyntheticRuns, slot

from analysis import gate_regression
from analysis.reading import read_traces
from analysis.runs import read_study


def rows(synthetic: SyntheticRuns) -> dict[tuple[str, str, str], dict[str, str]]:
    study = read_study(synthetic.folder)
    text = gate_regression.section(study, read_traces(study).runs).table.text()
    return {(r["denominator"], r["outcome"], r["term"]): r for r in read_csv(text)}


def test_slots_by_hand(synthetic: SyntheticRuns) -> None:
    synthetic.run(
        "a",
        [
            slot("no-op", parent=0.5, child=0.6),
            slot("retrieve", parent=0.5, child=0.4),
            slot("look-up", parent=0.6, child=None),
            slot("missing", parent=0.6, child=0.7),
            None,
            slot("no-op", parent=0.4, child=0.5),
        ],
    )
    (run,) = read_study(synthetic.folder).runs
    (facts,) = read_traces(read_study(synthetic.folder)).runs
    found = list(gate_regression.slots(facts))
    assert [s.decision for s in found] == ["no-op", "retrieve", "look-up", "no-op"]
    assert [s.scored for s in found] == [True, True, False, True]
    assert [s.beats_parent for s in found] == [True, False, False, True]
    start = float(run.x0["search_score"])
    known = [start, 0.6, 0.4, 0.7]
    assert found[-1].parent_rank == sum(s > 0.4 for s in known) / 3
    assert [s.time for s in found] == [1 / 6, 2 / 6, 3 / 6, 1.0]


def test_a_difference_between_decisions_is_found(synthetic: SyntheticRuns) -> None:
    """Retrieving always wins, no-op never; parents alternate so that nothing else can explain it"""
    for name in ("a", "b", "c"):
        won, lost = slot("retrieve", child=0.6), slot("no-op", child=0.4)
        synthetic.run(name, [won if t % 2 else lost for t in range(20)])
    found = rows(synthetic)
    effect = found["scored_child", "beats_parent", "retrieve"]
    assert float(effect["estimate"]) == pytest.approx(1.0, abs=1e-9)
    assert (effect["n"], effect["n_runs"]) == ("60", "3")
    assert found["scored_child", "beats_parent", "look-up"]["estimate"] == ""


def test_slots_without_a_child_count_as_failures_where_said(synthetic: SyntheticRuns) -> None:
    synthetic.run(
        "a", [slot("retrieve", parent=0.5, child=None), slot("no-op", parent=0.5, child=0.6)]
    )
    found = rows(synthetic)
    assert found["scored_child", "new_best", "retrieve"]["n"] == "1"
    assert found["all_slots", "new_best", "retrieve"]["n"] == "2"


def test_it_says_what_it_is() -> None:
    assert "Observational" in gate_regression._SAYS
