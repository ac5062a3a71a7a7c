"""``evaluate.py`` called as ShinkaEvolve calls it, and the two files it leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from toy_task import DECLARATION, write_toy_task

from benchmark.catalogue import find_task
from benchmark.peers.folder import SYSTEMS, contents, write


def command(script: Path, program: Path, results: Path) -> list[str]:
    return [sys.executable, str(script), "--program_path", str(program),
            "--results_dir", str(results)]  # fmt: skip


def run(script: Path, program: Path, results: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(script, program, results),
        cwd=script.parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def read(results: Path) -> tuple[Any, Any]:
    assert sorted(path.name for path in results.iterdir()) == ["correct.json", "metrics.json"]
    return tuple(
        json.loads((results / name).read_text()) for name in ("metrics.json", "correct.json")
    )


@pytest.fixture
def script(toy: Path, tmp_path: Path) -> Path:
    write(contents(find_task(str(toy)), SYSTEMS["shinka"]), tmp_path / "shinka")
    return tmp_path / "shinka" / "evaluate.py"


def test_a_correct_program(script: Path, tmp_path: Path) -> None:
    results = tmp_path / "results" / "gen_0"
    answer = run(script, script.parent / "initial.py", results)
    assert answer.returncode == 0, answer.stderr
    metrics, correct = read(results)
    assert metrics["combined_score"] == 1.0
    assert metrics["public"] == {"validity": 1.0, "objective": 1.0, "n": 2.0}
    assert metrics["private"] == {}
    assert "combined_score = 1.0" in metrics["text_feedback"]
    assert correct == {"correct": True, "error": None}


def test_an_invalid_program_after_a_correct_one(script: Path, tmp_path: Path) -> None:
    results, bad = tmp_path / "results", tmp_path / "bad.py"
    bad.write_text("def run_code(): return [7]\n")
    assert run(script, script.parent / "initial.py", results).returncode == 0
    assert run(script, bad, results).returncode == 0
    metrics, correct = read(results)
    error = "invalid: a number lies outside [0, 1]"
    assert (metrics["combined_score"], metrics["public"]) == (0.0, {"validity": 0.0})
    assert metrics["text_feedback"] == error
    assert correct == {"correct": False, "error": error}


def test_a_real_task(tmp_path: Path) -> None:
    write(contents(find_task("cp26"), SYSTEMS["shinka"]), tmp_path / "shinka")
    script = tmp_path / "shinka" / "evaluate.py"
    assert run(script, script.parent / "initial.py", tmp_path / "results").returncode == 0
    metrics, correct = read(tmp_path / "results")
    assert metrics["combined_score"] == pytest.approx(1.3903167444732365, abs=1e-12)
    assert correct["correct"] is True


def test_the_script_works_where_it_was_copied(script: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / "evaluate.py"  # ShinkaEvolve is given its text, not its folder
    copy.parent.mkdir()
    copy.write_bytes(script.read_bytes())
    assert run(copy, script.parent / "initial.py", tmp_path / "results").returncode == 0
    assert read(tmp_path / "results")[0]["combined_score"] == 1.0


def test_bad_arguments(script: Path, tmp_path: Path) -> None:
    answer = run(script, tmp_path / "missing.py", tmp_path / "results")
    assert answer.returncode == 2
    assert "missing.py" in answer.stderr
    assert "Traceback" not in answer.stderr
    answer = run(script, script.parent / "initial.py", script / "results")
    assert answer.returncode == 2
    assert "Traceback" not in answer.stderr


def test_an_unavailable_task_scores_nothing(tmp_path: Path) -> None:
    declaration = 'requires = ["no_such_library"]\n' + DECLARATION
    place = write_toy_task(tmp_path, declaration=declaration)
    write(contents(find_task(str(place)), SYSTEMS["shinka"]), tmp_path / "shinka")
    script = tmp_path / "shinka" / "evaluate.py"
    answer = run(script, script.parent / "initial.py", tmp_path / "results")
    assert answer.returncode == 3
    assert "no_such_library" in answer.stderr
    correct = json.loads((tmp_path / "results" / "correct.json").read_text())
    assert correct["correct"] is False
    assert "no_such_library" in correct["error"]
    assert not (tmp_path / "results" / "metrics.json").exists()


def test_killing_the_script_ends_the_program_too(
    script: Path,
    tmp_path: Path,
    hanging: Callable[[str], str],
    running: Callable[[str], bool],
    eventually: Callable[[Callable[[], bool]], bool],
) -> None:
    mark = f"3{os.getpid()}.25"  # ShinkaEvolve kills the script, and it alone, at its own limit
    program = tmp_path / "sleeper.py"
    program.write_text(hanging(mark))
    process = subprocess.Popen(command(script, program, tmp_path / "results"))
    try:
        assert eventually(lambda: running(mark))
    finally:
        process.kill()
        process.wait()
    assert eventually(lambda: not running(mark))
