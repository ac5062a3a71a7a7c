"""The harness in one call, on a toy task."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from toy_task import write_toy_task

from benchmark import Artifact, Harness, evaluate
from benchmark.artifact import ArtifactError
from benchmark.catalogue import UnknownTask
from benchmark.evaluator import Score
from benchmark.task import TaskError


@pytest.fixture
def task(tmp_path: Path) -> str:
    return str(write_toy_task(tmp_path))


def program(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "program.py"
    path.write_text(text)
    return path


def test_a_score_of_numpy_numbers_holds_plain_ones() -> None:
    score = Score(np.float64(0.5), np.int64(3), {"share": np.float32(0.25), "n": 2})
    assert json.dumps([score.search, score.objective, score.metrics]) == (
        '[0.5, 3, {"share": 0.25, "n": 2}]'
    )
    assert type(score.search > 0) is bool


def test_a_valid_program(task: str, tmp_path: Path) -> None:
    result = evaluate(
        task, program(tmp_path, "def run_code():\n    print('hi')\n    return [1, 1]\n")
    )
    assert result.status == "valid"
    assert (result.search, result.objective, result.ndg) == (2.0, 2.0, 50.0)
    assert result.metrics == {"n": 2.0}
    assert result.stdout_tail == "hi\n"
    assert result.wall_s > 0
    assert result.peak_mb > 1
    assert result.isolation != "none"
    assert result.artifact == Artifact([1, 1])
    record = result.to_json()
    assert json.loads(json.dumps(record, allow_nan=False))["ndg"] == 50.0
    assert set(record["provenance"]) >= {"task_version", "evaluator_digest", "versions", "machine"}


@pytest.mark.parametrize(
    ("text", "status", "reason"),
    [
        ("def run_code():\n    return [2.0]\n", "invalid", r"outside \[0, 1\]"),
        ("def run_code():\n    return 'abc'\n", "invalid", "not a vector"),
        ("def run_code():\n    return [float('nan')]\n", "invalid", r"outside \[0, 1\]"),
        ("def other():\n    return [1.0]\n", "invalid", r"defines no function run_code\(\)"),
        ("run_code = 3\n", "invalid", "defines no function"),
        ("def run_code(:\n", "crashed", r"SyntaxError: .* \(line 1\)"),
        ("def run_code():\n    return 1 / 0\n", "crashed", r"ZeroDivisionError: .* \(line 2\)"),
        ("import sys\nsys.exit(0)\n", "crashed", "exited before returning"),
        ("import os\nos._exit(0)\n", "crashed", "exited with status 0 before it returned"),
        ("import os\nos.abort()\n", "crashed", "killed by SIGABRT"),
        ("def run_code():\n    return bytearray(10**11)\n", "out_of_memory", "MemoryError"),
        ("while True: pass\n", "timeout", "took more than 1 s"),
    ],
)
def test_a_failure_is_a_verdict(
    task: str, tmp_path: Path, text: str, status: str, reason: str
) -> None:
    result = evaluate(task, program(tmp_path, text), wall_s=1.0 if status == "timeout" else None)
    assert result.status == status
    assert (result.search, result.objective, result.ndg, result.ndg_raw) == (None, None, 0.0, None)
    assert re.search(reason, result.reason), result.reason
    assert "\n" not in result.reason


def test_stages_are_joined(task: str) -> None:
    artifact = Artifact([0.5, 0.25])
    assert "reported" not in evaluate(task, artifact=artifact).metrics
    both = evaluate(task, artifact=artifact, stage="both")
    assert both.stage == "both"
    assert both.metrics == {"n": 2.0, "reported": 1.0}
    with pytest.raises(ValueError, match="use search, report or both"):
        evaluate(task, artifact=artifact, stage="final")


def test_options_and_repeats(task: str, tmp_path: Path) -> None:
    doubled = evaluate(task, artifact=Artifact([0.5]), options={"mode": "doubled"})
    assert doubled.search == 1.0
    assert doubled.provenance["options"]["mode"] == "doubled"
    text = "import random\ndef run_code():\n    return [random.SystemRandom().random()]\n"
    repeated = evaluate(task, program(tmp_path, text), repeats=3)
    values = [row["search"] for row in repeated.repeats]
    assert len(set(values)) == 3
    assert repeated.search == pytest.approx(sum(values) / 3)
    assert repeated.metrics["search_stdev"] > 0


def test_one_failed_repeat_fails_all(task: str, tmp_path: Path) -> None:
    text = (
        "import random\ndef run_code():\n"
        "    assert random.SystemRandom().random() < 0.3\n    return [1.0]\n"
    )
    repeated = evaluate(task, program(tmp_path, text), repeats=12)
    assert repeated.status == "crashed"
    assert repeated.search is None
    assert len(repeated.repeats) == 12


def test_bad_arguments_are_exceptions(task: str, tmp_path: Path) -> None:
    good = program(tmp_path, "def run_code():\n    return [1.0]\n")
    with pytest.raises(ValueError, match="either a program or an artifact"):
        evaluate(task)
    with pytest.raises(ValueError, match="repeats"):
        evaluate(task, good, repeats=0)
    with pytest.raises(FileNotFoundError, match="missing"):
        evaluate(task, tmp_path / "missing.py")
    with pytest.raises(UnknownTask):
        evaluate("no/such", good)
    with pytest.raises(TaskError, match="--variant embedded: toys/vector has official"):
        evaluate(task, good, variant="embedded")
    with pytest.raises(ArtifactError):
        evaluate(task, artifact=good)


def test_an_evaluators_bug_is_never_a_score(tmp_path: Path) -> None:
    folder = write_toy_task(tmp_path)
    source = (folder / "evaluator.py").read_text()
    (folder / "evaluator.py").write_text(source.replace("math.fsum(vector)", "math.nan"))
    result = evaluate(str(folder), artifact=Artifact([1.0]))
    assert result.status == "unavailable"
    assert result.reason.startswith("infrastructure: ValueError")
    assert result.ndg is None


def test_evaluator_without_the_name_is_explained(tmp_path: Path) -> None:
    folder = write_toy_task(tmp_path)
    (folder / "evaluator.py").write_text("x = 1\n")
    with pytest.raises(TaskError, match="defines no EVALUATOR"):
        evaluate(str(folder), artifact=Artifact([1.0]))


def test_missing_tools_make_a_task_unavailable(tmp_path: Path) -> None:
    folder = write_toy_task(tmp_path)
    text = (folder / "task.toml").read_text()
    (folder / "task.toml").write_text('toolchain = ["no-such-compiler"]\n' + text)
    result = evaluate(str(folder), program(tmp_path, "def run_code(): return [1.0]\n"))
    assert result.status == "unavailable"
    assert "no-such-compiler" in result.reason
    assert evaluate(str(folder), artifact=Artifact([1.0])).valid  # nothing to build


def test_scoring_in_its_own_process(tmp_path: Path) -> None:
    folder = write_toy_task(tmp_path)
    in_its_own_process(folder)
    assert evaluate(str(folder), artifact=Artifact([1.0])).search == 1.0
    assert evaluate(str(folder), artifact=Artifact([3.0])).status == "invalid"


def test_prewarmed_sandboxes_serve_one_candidate_each(task: str, tmp_path: Path) -> None:
    text = (
        "import sys, os\nfirst = not hasattr(os, 'seen')\nos.seen = True\n"
        "def run_code():\n    return [1.0 if first and 'scipy' in sys.modules else 0.0]\n"
    )
    path = program(tmp_path, text)
    with Harness(prewarm=True) as harness:
        for _ in range(3):
            assert evaluate(task, path, harness=harness).search == 1.0


def test_failed_repeats_can_count_with_a_value(tmp_path: Path) -> None:
    folder = write_toy_task(tmp_path)
    source = (folder / "evaluator.py").read_text()
    head = "class VectorSum(PythonConstruction):\n"
    (folder / "evaluator.py").write_text(source.replace(head, head + "    failed_repeat = 0.0\n"))
    text = (
        "import random\ndef run_code():\n"
        "    assert random.SystemRandom().random() < 0.6\n    return [1.0, 1.0]\n"
    )
    repeated = evaluate(str(folder), program(tmp_path, text), repeats=12)
    statuses = [row["status"] for row in repeated.repeats]
    assert set(statuses) == {"valid", "crashed"}
    assert repeated.search == pytest.approx(2.0 * statuses.count("valid") / 12)
    assert repeated.ndg_raw == pytest.approx(100 * (repeated.search - 1) / 2)


def in_its_own_process(folder: Path, *changes: tuple[str, str]) -> None:
    head = "class VectorSum(PythonConstruction):\n"
    source = (folder / "evaluator.py").read_text()
    for old, new in ((head, head + "    score_in_process = True\n"), *changes):
        assert old in source
        source = source.replace(old, new, 1)
    (folder / "evaluator.py").write_text(source)


def test_a_scorer_that_explodes_makes_the_artifact_invalid(tmp_path: Path) -> None:
    folder = write_toy_task(tmp_path)
    bomb = (
        "        if vector.size == 1:\n            np.zeros(10**10)\n"
        "        if vector.size == 2:\n            import os; os._exit(3)\n"
    )
    in_its_own_process(folder, ("        total =", bomb + "        total ="))
    assert "more than 2048 MB" in evaluate(str(folder), artifact=Artifact([1.0])).reason
    assert "broke its process" in evaluate(str(folder), artifact=Artifact([1.0, 0.0])).reason
    assert evaluate(str(folder), artifact=Artifact([1.0, 0.0, 0.0])).valid


def test_a_scorer_that_does_not_start_is_our_fault(tmp_path: Path) -> None:
    folder = write_toy_task(tmp_path)
    failing = "if 'scoring' in __import__('sys').argv[0]:\n    raise OSError('broken')\n"
    in_its_own_process(folder, ("import math\n", failing + "import math\n"))
    result = evaluate(str(folder), artifact=Artifact([1.0]))
    assert result.status == "unavailable"
    assert "the scorer does not start: OSError: broken" in result.reason
