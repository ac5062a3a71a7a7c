"""The verdict that other systems read: always a finite score, texts where they look for them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from toy_task import DECLARATION, EVALUATOR, write_toy_task

from benchmark.evaluation import evaluate
from benchmark.evaluator import Unavailable
from benchmark.peers import peer_evaluate, require, verdict


def program(folder: Path, body: str) -> Path:
    path = folder / "program.py"
    path.write_text(body)
    return path


def test_a_valid_program_has_scores_metrics_and_feedback(toy: Path, tmp_path: Path) -> None:
    path = program(tmp_path, "def run_code(): return [0.1, 0.2]\n")
    told = peer_evaluate(str(toy), path)
    assert told == {
        "combined_score": 0.30000000000000004,
        "validity": 1.0,
        "objective": 0.30000000000000004,
        "n": 2.0,
        "feedback": "combined_score = 0.30000000000000004; sum = 0.30000000000000004"
        " (objective, maximise)\nsummed",
    }
    assert told["combined_score"] == evaluate(str(toy), path).search


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("def run_code(): return [2]\n", "invalid: a number lies outside [0, 1]"),
        ("def run_code(): return [float('nan')]\n", "invalid: a number lies outside [0, 1]"),
        ("def run_code(): return 'combined_score'\n", "invalid: not a vector of numbers"),
        ("def other(): pass\n", "invalid: the program defines no function run_code()"),
        ("def run_code(): return 1 / 0\n", "crashed: ZeroDivisionError: division by zero (line 1)"),
        ("def run_code() return\n", "crashed: SyntaxError: expected ':' (line 1)"),
        ("import os\ndef run_code(): os._exit(0)\n", "crashed: exited with status 0"),
    ],
)
def test_a_failed_program_scores_zero_and_says_why(
    toy: Path, tmp_path: Path, body: str, error: str
) -> None:
    told = peer_evaluate(str(toy), program(tmp_path, body))
    assert str(told.pop("error")).startswith(error)
    assert told == {"combined_score": 0.0, "validity": 0.0}


def test_a_hanging_program_is_ended_by_our_limit(toy: Path, tmp_path: Path) -> None:
    told = peer_evaluate(str(toy), program(tmp_path, "while True: pass\n"), wall_s=1)
    assert told["combined_score"] == 0.0
    assert str(told["error"]).startswith("timeout: ")


def test_options_and_variant_reach_the_task(toy: Path, tmp_path: Path) -> None:
    path = program(tmp_path, "def run_code(): return [1.0]\n")
    told = peer_evaluate(str(toy), path, options={"bonus": "0.5"}, variant="official", workers=2)
    assert told["combined_score"] == 1.5
    with pytest.raises(ValueError, match="--set speed"):
        peer_evaluate(str(toy), path, options={"speed": "1"})


def test_a_task_names_its_own_values_of_a_failure(tmp_path: Path) -> None:
    folder = write_toy_task(tmp_path, name="own_failure")
    values = '    peer_failure = {"combined_score": -1e6, "r2": -1e6, "objective": -1}\n'
    (folder / "evaluator.py").write_text(
        EVALUATOR.replace("class VectorSum(PythonConstruction):\n",
                          f"class VectorSum(PythonConstruction):\n{values}")
    )  # fmt: skip
    told = peer_evaluate(str(folder), program(tmp_path, "def run_code(): return []\n"))
    assert str(told.pop("error")).startswith("invalid: ")
    assert told == {"combined_score": -1e6, "validity": 0.0, "r2": -1e6, "objective": -1.0}


def test_a_metric_cannot_replace_what_is_ours(tmp_path: Path) -> None:
    folder = write_toy_task(tmp_path, name="own_metrics")
    text = EVALUATOR.replace(
        '{"n": float(vector.size)}', '{"combined_score": 9.0, "validity": 0.0, "error": 1.0}'
    )
    (folder / "evaluator.py").write_text(text)
    told = peer_evaluate(str(folder), program(tmp_path, "def run_code(): return [0.5]\n"))
    assert (told["combined_score"], told["validity"]) == (0.5, 1.0)
    assert "error" not in told


def test_a_held_out_objective_is_absent(tmp_path: Path) -> None:
    folder = write_toy_task(tmp_path, name="held_out")
    (folder / "evaluator.py").write_text(EVALUATOR.replace("objective=total", "objective=None"))
    told = peer_evaluate(str(folder), program(tmp_path, "def run_code(): return [0.5]\n"))
    assert "objective" not in told
    assert told["feedback"] == "combined_score = 0.5\nsummed"


def test_long_attachments_are_cut_and_named(tmp_path: Path) -> None:
    folder = write_toy_task(tmp_path, name="attached")
    text = EVALUATOR.replace(
        'raise Invalid("a number lies outside [0, 1]")',
        'raise Invalid("outside", attachments={"compiler": "x" * 5000})',
    )
    (folder / "evaluator.py").write_text(text)
    told = peer_evaluate(str(folder), program(tmp_path, "def run_code(): return [3]\n"))
    error = str(told["error"])
    assert error.startswith("invalid: outside\ncompiler:\nxxx")
    assert error.endswith("\n... (cut)")
    assert len(error) < verdict.TEXT_CHARS + 100


def test_a_failure_of_the_harness_is_logged_and_no_score(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = write_toy_task(tmp_path, name="broken_evaluator")
    (folder / "evaluator.py").write_text(
        EVALUATOR.replace("total = math.fsum(vector)", "total = math.no_such_function(vector)")
    )
    told = peer_evaluate(str(folder), program(tmp_path, "def run_code(): return [0.5]\n"))
    assert (told["combined_score"], told["validity"]) == (0.0, 0.0)
    assert str(told["error"]).startswith("unavailable: infrastructure: AttributeError")
    assert "was not evaluated" in caplog.text


def test_what_this_machine_lacks_ends_the_run(tmp_path: Path) -> None:
    declaration = 'requires = ["no_such_library"]\n' + DECLARATION
    folder = write_toy_task(tmp_path, declaration=declaration, name="unavailable")
    with pytest.raises(Unavailable, match="no_such_library"):
        require(str(folder))
    with pytest.raises(Unavailable, match="no_such_library"):
        peer_evaluate(str(folder), program(tmp_path, "def run_code(): return [0.5]\n"))


def test_a_missing_program_is_the_callers_mistake(toy: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        peer_evaluate(str(toy), tmp_path / "missing.py")


@pytest.mark.parametrize("task", ["cp26", "mathematics/sums_diffs"])
def test_real_tasks_tell_strict_json_and_finite_numbers(task: str, tmp_path: Path) -> None:
    require(task)
    good = peer_evaluate(task, verdict.find_task(task).initial_program)
    bad = peer_evaluate(task, program(tmp_path, "def run_code(): return None\n"))
    assert good["combined_score"] > bad["combined_score"] == 0.0  # type: ignore[operator]
    assert (good["validity"], bad["validity"]) == (1.0, 0.0)
    for told in (good, bad):
        json.dumps(told, allow_nan=False)
        numbers = [value for value in told.values() if not isinstance(value, str)]
        assert all(type(value) is float and math.isfinite(value) for value in numbers)
