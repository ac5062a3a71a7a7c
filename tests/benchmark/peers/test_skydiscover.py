"""The real package SkyDiscover, started by the README's command, with a scripted model."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmark.catalogue import find_task
from benchmark.evaluation import evaluate
from benchmark.peers.folder import SYSTEMS, contents, write

pytest.importorskip("skydiscover", reason="needs the package: pip install 'evoduet[skydiscover]'")

BETTER = """
BASE = [0, 1, 2, 4, 5, 9, 12, 13, 14, 16, 17, 21, 24, 25, 26, 28, 29]


def construct_set():
    return [x + 36 * k for x in BASE for k in range(2)]
"""
BEST = """
def construct_set():
    return [x + 36 * k for x in BASE for k in range(3)]
"""
INVALID = """
LARGEST = 10**9


def construct_set():
    return [0, 1, 10**8]
"""


@pytest.mark.slow
def test_three_iterations(
    tmp_path: Path,
    model: Any,
    start: Callable[..., subprocess.CompletedProcess[str]],
    edit: Callable[[str], str],
    hanging: Callable[[str], str],
    running: Callable[[str], bool],
) -> None:
    task, system = find_task("sums_diffs"), SYSTEMS["skydiscover"]
    write(contents(task, system), tmp_path / "run")
    folder, mark = tmp_path / "run", f"5{os.getpid()}.25"
    stub = folder / "evaluator.py"
    text = stub.read_text()
    assert text.endswith("program_path)\n")
    stub.write_text(text.removesuffix(")\n") + ", wall_s=10)\n")
    # The second iteration fails three times, which is as often as SkyDiscover tries.
    failures = [edit(INVALID), edit(hanging(mark)), edit(INVALID)]
    model.answers = [edit(BETTER), *failures, edit(BEST)]
    assert system.command is not None

    ended = start(system.command(task), folder)

    assert ended.returncode == 0, ended.stderr[-3000:]
    checkpoint = folder / "run" / "checkpoints" / "checkpoint_3"
    programs = [json.loads(p.read_text()) for p in (checkpoint / "programs").glob("*.json")]
    stored = sorted(programs, key=lambda program: program["metrics"]["combined_score"])
    assert len(stored) == 3  # failed programs never enter its population
    for program in stored:
        path = tmp_path / "saved.py"
        path.write_text(program["solution"])
        ours = evaluate(task, path)
        metrics = program["metrics"]
        assert (metrics["combined_score"], metrics["validity"]) == (ours.search, 1.0)
        assert ours.metrics.items() <= metrics.items()
    scores = [program["metrics"]["combined_score"] for program in stored]
    expected = [1.0597930945472454, 1.0625530957138327, 1.06318666771593]
    assert scores == pytest.approx(expected, abs=1e-12)
    best = json.loads((folder / "run" / "best" / "best_program_info.json").read_text())
    assert best["metrics"]["combined_score"] == scores[-1]
    assert "range(3)" in (folder / "run" / "best" / "best_program.py").read_text()
    assert not running(mark)
    check_prompts(model, [task.instructions.rstrip(), "after 180 seconds of wall time"], scores)


def check_prompts(model: Any, system: list[str], scores: list[float]) -> None:
    """Instruction, full digits of the parent's score, and the errors of failed attempts."""
    assert len(model.prompts) == 5
    for prompt in model.prompts:
        assert all(text in prompt["system"] for text in system)
    users = [prompt["user"] for prompt in model.prompts]
    assert repr(scores[0]) in users[0]
    assert all(repr(scores[1]) in user for user in users[1:])
    assert "**Error:** invalid: " in users[2]
    assert "**Error:** timeout: " in users[3]
    assert "**Error:**" not in users[4]
