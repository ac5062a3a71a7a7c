"""Improvement rates, correlations and dynamics of traces that can be counted by hand."""

from __future__ import annotations

import pytest
from published_copy import read_csv
from synthetic_traces import Made, SyntheticRuns, candidate, counted, gate_of, page, slot

PROMISING, OTHER = "retrieve_promising", "retrieve_other"


def retrieve(parent: float, child: float | None, *predicted: float, **more: object) -> Made:
    pages = [page(str(i), predicted=p) for i, p in enumerate(predicted)]
    return slot("retrieve", parent=parent, child=child, documents=pages, **more)  # type: ignore[arg-type]


def test_rates_by_hand(synthetic: SyntheticRuns) -> None:
    synthetic.run("a", [                              # best before
        slot("no-op", parent=0.5, child=0.6),         # 0.5  beats both
        slot("no-op", parent=0.5, child=0.55),        # 0.6  beats its parent
        slot("no-op", parent=0.5, child=0.5),         # 0.6  equal is no improvement
        slot("no-op", parent=0.5, child=None),        # no child: not in the denominator
        slot("look-up", parent=0.6, child=0.6),       # a tie with the best is no new best
        retrieve(0.6, 0.7, 0.65, 0.1),                # promising, new best
        retrieve(0.6, 0.65, 0.61),                    # promising, beats parent
        retrieve(0.7, 0.5, 0.8),                      # promising, worse
        retrieve(0.6, None, 0.8),                     # promising, no child
        retrieve(0.6, 0.8, 0.6),                      # prediction equal to the parent: other
        retrieve(0.6, 0.5),                           # nothing found: other
        slot("missing", parent=0.5, child=0.9),       # nobody decided
        None,
    ])  # fmt: skip
    found = counted(synthetic)
    assert read_csv(found["fig8_rates"]) == [
        {"group": "no-op", "n": "3", "parent_improved": "2", "new_best": "1",
         "rate_parent": str(2 / 3), "rate_best": str(1 / 3)},
        {"group": "look-up", "n": "1", "parent_improved": "0", "new_best": "0",
         "rate_parent": "0", "rate_best": "0"},
        {"group": PROMISING, "n": "3", "parent_improved": "2", "new_best": "1",
         "rate_parent": str(2 / 3), "rate_best": str(1 / 3)},
        {"group": OTHER, "n": "2", "parent_improved": "1", "new_best": "1",
         "rate_parent": "0.5", "rate_best": "0.5"},
    ]  # fmt: skip
    slots = {row["group"]: row for row in read_csv(found["fig8_rates_all_slots"])}
    assert {group: row["n"] for group, row in slots.items()} == {
        "no-op": "4", "look-up": "1", PROMISING: "4", OTHER: "2",
    }  # fmt: skip
    assert slots["no-op"]["rate_parent"] == "0.5"
    summary = {row["key"]: row["value"] for row in read_csv(found["fig8_summary"])}
    assert summary["retrievals"] == "6"
    assert summary["retrievals_without_promising"] == "2"
    assert summary["share_without_promising"] == str(2 / 6)
    assert summary["promising_with_worse_child"] == "1"
    assert summary["share_promising_with_worse_child"] == str(1 / 3)
    assert summary["runs_with_search_miss_and_new_best"] == "1"
    interval = read_csv(found["fig8_intervals"])[0]
    assert (interval["k"], interval["n"]) == ("2", "3")
    assert (float(interval["lo"]), float(interval["hi"])) == pytest.approx(
        (0.20765960080204776, 0.9385080552796037)
    )


def test_a_malformed_answer_is_a_no_op_and_an_excluded_slot_stays(synthetic: SyntheticRuns) -> None:
    synthetic.run("a", [
        slot("no-op", child=0.6, gate=gate_of("no-op", malformed=True)),
        slot("no-op", child=0.6, errors=["retrieval_error: down"]),
    ])  # fmt: skip
    rates = read_csv(counted(synthetic)["fig8_rates"])
    assert (rates[0]["group"], rates[0]["n"]) == ("no-op", "2")


def test_tasks_are_compared_where_both_groups_occur(synthetic: SyntheticRuns) -> None:
    good, bad = {"parent": 0.5, "child": 0.6}, {"parent": 0.5, "child": 0.4}
    synthetic.run("a", [slot("no-op", **bad), retrieve(0.5, 0.6, 0.7)], task="cp26")
    synthetic.run("b", [slot("no-op", **good), retrieve(0.5, 0.4, 0.7)], task="cp32")
    synthetic.run("c", [slot("no-op", **good), retrieve(0.5, 0.6, 0.7)], task="erdos")
    synthetic.run("d", [slot("no-op", **good)], task="ac1")
    summary = {r["key"]: r["value"] for r in read_csv(counted(synthetic)["fig8_summary"])}
    assert summary["tasks_compared"] == "3"
    assert summary["tasks_promising_above_no_op"] == "1"
    assert summary["tasks_promising_below_no_op"] == "1"
    assert (summary["median_task_rate_promising"], summary["median_task_rate_no_op"]) == ("1", "1")


def test_parents_of_like_rank_are_compared(synthetic: SyntheticRuns) -> None:
    synthetic.run("a", [
        slot("no-op", parent=0.5, child=0.6),    # x0 alone: the best
        slot("no-op", parent=0.6, child=0.5),    # the better of two
        slot("no-op", parent=0.5, child=0.7),    # one of two others is better: second quarter
        retrieve(0.5, 0.55, 0.9),                # two of three others: lower half
        retrieve(0.7, 0.6, 0.9),                 # the best of five
        slot("no-op", parent=0.55, child=0.5),   # three of five others: lower half
    ])  # fmt: skip
    rows = read_csv(counted(synthetic)["fig8_parent_rank"])
    found = {(row["parent_rank"], row["group"]): (row["n"], row["parent_improved"]) for row in rows
             if row["n"] != "0"}  # fmt: skip
    assert found == {
        ("best", "no-op"): ("2", "1"),
        ("best", PROMISING): ("1", "0"),
        ("second quarter", "no-op"): ("1", "1"),
        ("lower half", PROMISING): ("1", "1"),
        ("lower half", "no-op"): ("1", "0"),
        ("standardised", "no-op"): ("3", "1"),
        ("standardised", PROMISING): ("2", "1"),
    }
    rates = {row["group"]: row["rate_parent"] for row in rows if row["parent_rank"][0] == "s"
             and row["parent_rank"] == "standardised"}  # fmt: skip
    # both strata where both groups occur: the best (3 iterations) and the lower half (2)
    assert float(rates["no-op"]) == pytest.approx((3 * 0.5 + 2 * 0.0) / 5)
    assert float(rates[PROMISING]) == pytest.approx((3 * 0.0 + 2 * 1.0) / 5)


def test_correlations_by_hand(synthetic: SyntheticRuns) -> None:
    # cp26: largest predictions 1, 2, 3 against children 10, 30, 20 -> rho 1/2;
    # means 1, 1.5, 1.4 against 10, 30, 20 -> rho 1
    synthetic.run("a", [
        retrieve(0.5, 10.0, 1.0), retrieve(0.5, 30.0, 1.0, 2.0),
        retrieve(0.5, 20.0, 0.6, 3.0, 0.6),
        retrieve(0.5, None, 9.0), retrieve(0.5, 5.0), slot("look-up", child=7.0, documents=[
            page("p", predicted=8.0, first_t=1)]),
    ], task="cp26")  # fmt: skip
    synthetic.run("b", [retrieve(0.5, 300.0, 0.1), retrieve(0.5, 100.0, 0.3)], task="cp32")
    synthetic.run("c", [retrieve(0.5, 1.0, 0.1), retrieve(0.5, 1.0, 0.3)], task="erdos")
    found = counted(synthetic)
    assert [
        (row["task_id"], row["n"], row["spearman"] and round(float(row["spearman"]), 9))
        for row in read_csv(found["fig8_corr"])
    ] == [("cp26", "3", 0.5), ("cp32", "2", -1.0), ("erdos", "2", "")]
    pooled = {row["prediction"]: row for row in read_csv(found["fig8_corr_pooled"])
              if not row["model"]}  # fmt: skip
    assert (pooled["max"]["n"], pooled["max"]["tasks"]) == ("5", "2")
    assert float(pooled["max"]["median_of_tasks"]) == pytest.approx(-0.25)
    assert pooled["max"]["tasks_positive"] == "1"
    assert float(pooled["mean"]["median_of_tasks"]) == pytest.approx(0.0)
    # scaled x 0, .5, 1, 0, 1 against y 0, 1, .5, 1, 0: ranks 1.5 3 4.5 1.5 4.5, 1.5 4.5 3 4.5 1.5
    assert float(pooled["max"]["spearman_pooled"]) == pytest.approx(-1 / 4)


def test_percentiles_clip_outliers(synthetic: SyntheticRuns) -> None:
    from analysis.behaviour.evidence import evidence
    from analysis.reading import read_traces
    from analysis.runs import read_study

    values = [*range(1, 100), 10_000]
    synthetic.run("a", [retrieve(0.5, float(v), float(v)) for v in values])
    found = evidence(read_traces(read_study(synthetic.folder)).runs)
    # linear interpolation: the 2nd percentile of 100 values is the 2.98th smallest
    assert found.x[1] == 0.0
    assert found.x[2] == pytest.approx((3 - 2.98) / (98.02 - 2.98))
    assert found.x[98] == found.x[99] == 1.0
    assert found.known == [pytest.approx(1.0)]


def test_dynamics_count_every_scheduled_slot(synthetic: SyntheticRuns) -> None:
    # two runs of 12 slots: 20 slots in 1-10, 4 in 11-20
    synthetic.run("a", [slot("retrieve"), slot("retrieve"), slot("look-up"), slot("missing"), None,
                        *[slot("no-op")] * 5, slot("retrieve"), None])  # fmt: skip
    malformed = slot("no-op", gate=gate_of("no-op", malformed=True))
    synthetic.run("b", [malformed, *[slot("look-up")] * 9, slot("look-up")], iterations=12)
    found = read_csv(counted(synthetic)["fig13"])
    assert found == [
        {"domain": "Mathematics", "model": "Luna", "bin": "1-10", "retrieve": "0.1",
         "lookup": "0.5", "missing": "0.1"},
        {"domain": "Mathematics", "model": "Luna", "bin": "11-20", "retrieve": "0.25",
         "lookup": "0.25", "missing": "0.5"},
    ]  # fmt: skip


def test_dynamics_end_with_iteration_100(synthetic: SyntheticRuns) -> None:
    synthetic.run("a", [slot("retrieve")] * 120)
    bins = [row["bin"] for row in read_csv(counted(synthetic)["fig13"])]
    assert len(bins) == 10
    assert bins[-1] == "91-100"


def test_a_slot_that_lacks_a_gate_is_missing(synthetic: SyntheticRuns) -> None:
    synthetic.run("a", [slot("retrieve"), slot(None, candidates=[candidate(0.1)])])
    (row,) = read_csv(counted(synthetic)["fig13"])
    assert (row["retrieve"], row["missing"]) == ("0.5", "0.5")
