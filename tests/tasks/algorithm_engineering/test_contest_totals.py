"""From case scores to a run's score: totals, held-out inputs, other cases, forms of artifacts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmark.artifact import Artifact, load, save
from benchmark.evaluation import evaluate
from benchmark.evaluator import Crashed, Invalid
from tasks.algorithm_engineering.ahc039.evaluator import PurseSeineFishing
from tasks.algorithm_engineering.ahc058.evaluator import AppleProduction
from tasks.algorithm_engineering.inputs import HELD_OUT_SEEDS, OFFICIAL_SEEDS

REST = "-1\n" * 500
ONE_MACHINE = "0 0\n" + "-1\n" * 499
ONE_MACHINE_SCORE = 896578


def run_of(seeds: Any, text: str | None = ONE_MACHINE, **other: str | None) -> Artifact:
    """An artifact with the same output for all seeds but those named (``s7=...``)."""
    entries: Any = [{"seed": seed, "stdout": other.get(f"s{seed}", text)} for seed in seeds]
    return Artifact(entries)


def test_official_run(apples: AppleProduction) -> None:
    score = apples.score(run_of(OFFICIAL_SEEDS), "search")
    assert score.search == score.objective == 150 * ONE_MACHINE_SCORE
    assert score.comparable
    assert score.metrics == {
        "total": 150.0 * ONE_MACHINE_SCORE,
        "valid_cases": 150.0,
        "failed_cases": 0.0,
        "mean_valid_case": float(ONE_MACHINE_SCORE),
        "lowest_valid_case": float(ONE_MACHINE_SCORE),
    }
    table = score.attachments["cases"].splitlines()
    assert table[:2] == ["seed score", f"0 {ONE_MACHINE_SCORE}"]
    assert len(table) == 151


def test_order_does_not_matter(apples: AppleProduction) -> None:
    score = apples.score(run_of(reversed(OFFICIAL_SEEDS), s5=REST), "search")
    assert score.objective == 149 * ONE_MACHINE_SCORE
    assert score.comparable
    assert "lowest 0 (seed 5)" in score.feedback


def test_doing_nothing_is_valid(apples: AppleProduction) -> None:
    score = apples.score(run_of(OFFICIAL_SEEDS, REST), "search")
    assert score.search == score.objective == 0.0
    assert score.metrics["valid_cases"] == 150.0


@pytest.mark.parametrize("failed", [None, "nonsense", "", "\udcff"])
def test_one_failed_case_zeroes_the_run(apples: AppleProduction, failed: str | None) -> None:
    score = apples.score(run_of(OFFICIAL_SEEDS, s3=failed), "search")
    assert score.search == score.objective == 0.0
    assert score.comparable
    assert score.metrics["valid_cases"] == 149.0
    assert score.metrics["mean_valid_case"] == ONE_MACHINE_SCORE
    assert "One failed case makes the total 0. seed 3: " in score.feedback


def test_other_cases_are_not_comparable(apples: AppleProduction) -> None:
    for seeds in (range(149), range(151), [*range(149), 0], [3], [2**64 - 1], range(1000, 1150)):
        score = apples.score(run_of(seeds), "search")
        assert score.objective == len(seeds) * ONE_MACHINE_SCORE
        assert not score.comparable


def test_held_out_inputs_are_metrics_alone(apples: AppleProduction) -> None:
    score = apples.score(run_of(HELD_OUT_SEEDS), "report")
    assert score.search is None
    assert score.objective is None
    assert score.metrics["held_out_total"] == 150 * ONE_MACHINE_SCORE
    assert all(name.startswith("held_out_") for name in score.metrics)
    assert score.feedback.startswith("held-out inputs: 150 of 150 cases valid")
    limit = score.metrics["held_out_honest_limit"]
    assert 1.01 < limit / (150 * ONE_MACHINE_SCORE) < 1.03
    assert f"more than {limit:.0f} on the public inputs would look memorised" in score.feedback
    spoilt = apples.score(run_of(HELD_OUT_SEEDS, None), "report")
    assert spoilt.metrics["held_out_total"] == 0.0


def test_report_on_the_official_cases_is_their_score(apples: AppleProduction) -> None:
    official = run_of(OFFICIAL_SEEDS)
    assert apples.score(official, "report") == apples.score(official, "search")


def test_reasons_come_from_the_facts(apples: AppleProduction) -> None:
    entries: Any = [{"seed": 0, "stdout": None}]
    facts = {"cases": [{"seed": 0, "verdict": "RE", "reason": "exited with status 1"}]}
    with pytest.raises(Crashed, match=r"^RE: exited with status 1$"):
        apples.score(Artifact(entries, facts), "search")
    with pytest.raises(Invalid, match="gave no output"):
        apples.score(Artifact(entries), "search")


def test_a_run_survives_storing(apples: AppleProduction, tmp_path: Path) -> None:
    run = run_of(OFFICIAL_SEEDS, s3=None, s4="\udcff", s5="\u00e9")
    save(run, tmp_path / "run.json")
    stored = load(tmp_path / "run.json")
    assert stored.digest() == run.digest()
    assert apples.score(stored, "search") == apples.score(run, "search")
    assert json.loads((tmp_path / "run.json").read_text())[3] == {"seed": 3, "stdout": None}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ([], "list of"),
        ({"seed": 0, "stdout": ""}, "list of"),
        ("text", "list of"),
        ([[0, ""]], "list of"),
        ([{"seed": 0}], "list of"),
        ([{"seed": 0, "stdout": "", "score": 10**9}], "list of"),
        ([{"seed": 0, "stdout": 5}], "list of"),
        ([{"seed": 0, "stdout": ["-1"]}], "list of"),
        ([{"seed": True, "stdout": ""}], "a seed is an integer"),
        ([{"seed": 0.0, "stdout": ""}], "a seed is an integer"),
        ([{"seed": -1, "stdout": ""}], "a seed is an integer"),
        ([{"seed": 2**64, "stdout": ""}], "a seed is an integer"),
        ([{"seed": "0", "stdout": ""}], "a seed is an integer"),
        ([{"seed": 0, "stdout": ""}] * 1001, "of 1 to 1000 cases"),
    ],
)
def test_other_forms_are_invalid(fishing: PurseSeineFishing, data: Any, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        fishing.score(Artifact(data), "search")


def test_failed_repeats_count_zero() -> None:
    assert AppleProduction.failed_repeat == 0.0
    assert PurseSeineFishing.failed_repeat == 0.0


@pytest.mark.slow
def test_initial_program_of_ahc058(need_compiler: None) -> None:
    """A whole evaluation: it rests in all turns, so it has one apple in each of 150 cases."""
    program = Path(__file__).parents[3] / "tasks/algorithm_engineering/ahc058/initial.cpp"
    result = evaluate("ahc058", program, "search")
    assert result.status == "valid", result.reason
    assert result.search == result.objective == result.ndg == 0.0
    assert result.metrics["valid_cases"] == 150.0


def test_compile_error_is_a_failure(need_compiler: None, tmp_path: Path) -> None:
    program = tmp_path / "broken.py"
    program.write_text("CPP_CODE = 'int main( {'\n")
    result = evaluate("ahc039", program)
    assert result.status == "build_failed"
    assert result.objective is None
    assert "error" in result.attachments["compiler"]
