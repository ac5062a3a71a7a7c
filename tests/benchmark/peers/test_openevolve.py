"""The real package OpenEvolve, started by the README's command, with a scripted model."""

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

pytest.importorskip("openevolve", reason="needs the package: pip install 'evoduet[openevolve]'")

BETTER = """
def construct_circles():
    grid = [(x / 5 + 0.1, y / 5 + 0.1, 0.1) for x in range(5) for y in range(5)]
    return np.array([*grid, (0.2, 0.2, 0.04)])
"""
INVALID = """
def construct_circles():
    return np.full((26, 3), 0.5)
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
    task, system = find_task("cp26"), SYSTEMS["openevolve"]
    write(contents(task, system), tmp_path / "run")
    folder, mark = tmp_path / "run", f"4{os.getpid()}.25"
    replace(folder / "config.yaml", "checkpoint_interval: 10", "checkpoint_interval: 1")
    replace(folder / "evaluator.py", "program_path)\n", "program_path, wall_s=10)\n", last=True)
    model.answers = [edit(hanging(mark)), edit(BETTER), edit(INVALID)]
    assert system.command is not None

    ended = start(system.command(task), folder)

    assert ended.returncode == 0, ended.stderr[-3000:]
    programs = stored_programs(folder / "run" / "checkpoints" / "checkpoint_3")
    assert len(programs) == 4
    by_text = {name: program for program in programs for name in texts(program["code"])}
    for name, error in (("hanging", "timeout: "), ("invalid", "invalid: ")):
        metrics = by_text[name]["metrics"]
        assert (metrics["combined_score"], metrics["validity"]) == (0.0, 0.0)
        assert metrics["error"].startswith(error)
    for name in ("initial", "better"):
        ours = evaluate(task, saved(tmp_path, by_text[name]["code"]))
        metrics = by_text[name]["metrics"]
        assert (metrics["combined_score"], metrics["validity"]) == (ours.search, 1.0)
        assert repr(ours.search) in metrics["feedback"]
        assert ours.metrics.items() <= metrics.items()
    assert by_text["initial"]["code"] == task.initial_program.read_text()
    best = json.loads((folder / "run" / "best" / "best_program_info.json").read_text())
    assert best["metrics"]["combined_score"] == pytest.approx(2.54)
    assert "(0.2, 0.2, 0.04)" in (folder / "run" / "best" / "best_program.py").read_text()
    assert not running(mark)
    assert len(model.prompts) == 3
    for prompt in model.prompts:
        assert prompt["system"] == task.instructions
        assert repr(by_text["initial"]["metrics"]["combined_score"]) in prompt["user"]


def replace(path: Path, old: str, new: str, *, last: bool = False) -> None:
    text = path.read_text()
    assert text.count(old) == 1 or last
    head, found, tail = text.rpartition(old)
    assert found
    path.write_text(head + new + tail)


def stored_programs(checkpoint: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in (checkpoint / "programs").glob("*.json")]


def texts(code: str) -> list[str]:
    marks = {"hanging": "SIG_IGN", "better": "0.04", "invalid": "np.full((26, 3)"}
    return [name for name, mark in marks.items() if mark in code] or ["initial"]


def saved(folder: Path, code: str) -> Path:
    path = folder / "saved.py"
    path.write_text(code)
    return path
