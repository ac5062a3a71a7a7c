"""Rules of scoring: weights, failed cases, what an artifact must hold, the report."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import routing_policies as policies

from benchmark import Artifact, Invalid
from tasks.quantum_compilation.circuit import Circuit
from tasks.quantum_compilation.swap_reduction.embedded import (
    unseen_suite,
)
from tasks.quantum_compilation.swap_reduction.evaluator import SwapReduction
from tasks.quantum_compilation.swap_reduction.routing import Trials
from tasks.quantum_compilation.swap_reduction.scoring import judge
from tasks.quantum_compilation.swap_reduction.suite import official_suite
from tasks.quantum_compilation.topology import Topology


def test_the_score_is_the_weighted_sum_of_cnots_saved(
    small: tuple[SwapReduction, list[dict[str, Any]]],
) -> None:
    evaluator, records = small
    score = evaluator.score(Artifact({"cases": records}), "search")
    weights = {"q20": Fraction(1, 5), "willow": Fraction(2, 5), "heron_fez": Fraction(2, 5)}
    expected = Fraction(0)
    for case, record in zip(evaluator.suite.cases, records, strict=True):
        expected += weights[case.topology] * (case.orig_cnot - 3 * len(record["swaps"]))
    assert score.search == float(expected)
    assert score.objective == score.metrics["q20_swaps"] == len(records[0]["swaps"])
    assert evaluator.score(Artifact(records[::-1]), "search") == score
    assert not score.comparable


def test_swaps_beyond_need_count(small: tuple[SwapReduction, list[dict[str, Any]]]) -> None:
    evaluator, records = small
    before = evaluator.score(Artifact(records), "search")
    edge = list(evaluator.suite.topologies["q20"].edges[0])
    records[0]["swaps"] = [*records[0]["swaps"], edge, edge]
    after = evaluator.score(Artifact(records), "search")
    assert before.search is not None
    assert after.search == pytest.approx(before.search - 0.2 * 6)


def test_a_failed_case_gains_nothing_and_leaves_q20_undefined(
    small: tuple[SwapReduction, list[dict[str, Any]]],
) -> None:
    evaluator, records = small
    whole = judge(evaluator.suite, records)
    records[0] = {"id": records[0]["id"], "error": "panic"}
    score = evaluator.score(Artifact(records), "search")
    assert score.objective is None
    assert "q20_swaps" not in score.metrics
    assert "total_swaps" not in score.metrics
    reference = evaluator.suite.cases[0].orig_cnot
    assert score.metrics["q20_swaps_failed_at_baseline"] == reference / 3
    assert score.metrics["q20_cnot_delta"] == 0
    assert score.metrics["cases_failed"] == 1
    lost = evaluator.suite.cases[0].weight * whole.results[0].cnot_delta
    assert score.search == float(Fraction(str(whole.combined_score)) - lost)
    assert "panic" in score.feedback
    assert records[0]["id"] in score.attachments["failed cases"]


def test_the_count_of_the_release_with_failed_cases_at_the_baseline(
    small: tuple[SwapReduction, list[dict[str, Any]]],
) -> None:
    """(0.4 * cnot - weighted) / 0.6 / 3, from totals over all devices, is the same number."""
    evaluator, records = small
    records[0] = {"id": records[0]["id"], "error": "panic"}
    score = evaluator.score(Artifact(records), "search")
    assert score.search is not None
    cases = evaluator.suite.cases
    cnot = sum(case.orig_cnot for case in cases) - score.metrics["total_cnot_delta"]
    weighted = sum(float(case.weight) * case.orig_cnot for case in cases) - score.search
    found = (0.4 * cnot - weighted) / 0.2 / 3
    assert score.metrics["q20_swaps_failed_at_baseline"] == pytest.approx(found)


def test_a_forged_trace_is_a_failed_case(
    small: tuple[SwapReduction, list[dict[str, Any]]],
) -> None:
    evaluator, records = small
    records[1]["swaps"] = records[1]["swaps"][:-1]
    score = evaluator.score(Artifact(records), "search")
    assert score.metrics["willow_cnot_delta"] == 0
    assert "gates_left" in score.attachments["failed cases"]
    assert score.objective is not None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r[:-1], "missing cases: toffoli_5_heron_fez"),
        (lambda r: [*r, {"id": "other", "error": ""}], "unknown cases: other"),
        (lambda r: [*r, r[0]], "two records"),
        (lambda r: {"cases": "none"}, "list of records"),
        (lambda r: {"case": r}, "list of records"),
        (lambda r: [1], 'object with an "id"'),
        (lambda r: [{**record, "id": 3} for record in r], 'object with an "id"'),
        (lambda r: [{"id": record["id"], "error": "no"} for record in r], "every case failed.*no"),
        (lambda r: [{"id": record["id"]} for record in r], "every case failed.*layout_length"),
        (lambda r: 3.5, "list of records"),
    ],
)
def test_artifacts_that_are_no_answer(
    change: Any, said: str, small: tuple[SwapReduction, list[dict[str, Any]]]
) -> None:
    evaluator, records = small
    with pytest.raises(Invalid, match=said):
        evaluator.score(Artifact(change(records)), "search")


def test_invalid_programs_rank_below_valid_ones(
    small: tuple[SwapReduction, list[dict[str, Any]]],
) -> None:
    evaluator, records = small
    edge = list(evaluator.suite.topologies["q20"].edges[0])
    records[0]["swaps"] = [*records[0]["swaps"], *([edge] * 2000)]
    worst = evaluator.score(Artifact(records), "search")
    assert worst.search is not None
    assert evaluator.peer_failure["combined_score"] < worst.search < 0


def test_two_runs_that_differ_are_flagged(
    small: tuple[SwapReduction, list[dict[str, Any]]],
) -> None:
    evaluator, records = small
    same = evaluator.score(Artifact({"cases": records, "repeat": records}), "report")
    assert same.metrics["deterministic"] == 1.0
    edge = list(evaluator.suite.topologies["q20"].edges[0])
    other = [{**records[0], "swaps": [*records[0]["swaps"], edge]}, *records[1:]]
    score = evaluator.score(Artifact({"cases": records, "repeat": other}), "report")
    count = len(records[0]["swaps"])
    assert score.metrics["deterministic"] == 0.0
    assert score.metrics["second_run_q20_swaps"] == count + 1
    assert f"nondeterministic: {count} and {count + 1} SWAPs" in score.feedback
    quiet = evaluator.score(Artifact({"cases": records, "repeat": other}), "search")
    assert "deterministic" not in quiet.metrics


def test_a_router_made_for_the_suite_is_noticed(
    small: tuple[SwapReduction, list[dict[str, Any]]],
) -> None:
    evaluator, records = small
    suite = policies.shortened(unseen_suite(), {case.id for case in unseen_suite().cases})
    unseen = [policies.trivial_record(suite, case.id) for case in suite.cases]
    score = evaluator.score(Artifact({"cases": records, "unseen": unseen}), "report")
    assert score.metrics["unseen_gain_percent"] < 0 < score.metrics["suite_gain_percent"]
    assert "made for the suite?" in score.feedback
    failed = [{"id": record["id"], "error": "no"} for record in unseen]
    score = evaluator.score(Artifact({"cases": records, "unseen": failed}), "report")
    assert score.metrics["unseen_cases_failed"] == len(failed)
    assert "unseen_swaps" not in score.metrics


def test_other_trials_are_not_comparable(
    mirror: Path, circuits: dict[str, Circuit], topologies: dict[str, Topology]
) -> None:
    record = {"initial_layout": list(range(16)), "swaps": []}
    cases = policies.load_task("official").suite.cases
    assert len(cases) == 72
    artifact = Artifact([{"id": case.id, **record} for case in cases])
    for trials in ("4x4", "20x20"):
        score = policies.load_task("official", trials=trials).score(artifact, "search")
        assert score.comparable == (trials == "4x4")
    for text in ("4", "0x4", "4x4x4", "axb", "-1x4", "²x3"):
        with pytest.raises(ValueError, match="number of trials"):
            Trials.parse(text)


def test_the_suite_has_the_signature_of_the_release(circuits: dict[str, Circuit]) -> None:
    suite = official_suite(lambda: circuits)
    assert sum(case.orig_cnot for case in suite.cases) == 333_756
    assert sum(case.weight * case.orig_cnot for case in suite.cases) == 119_874
    assert {name: topology.num_qubits for name, topology in suite.topologies.items()} == {
        "q20": 20, "willow": 105, "heron_fez": 156,
    }  # fmt: skip
    assert [len(topology.edges) for topology in suite.topologies.values()] == [43, 182, 176]
