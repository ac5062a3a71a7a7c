"""docs/adding-a-task.md, run exactly as it stands there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from shared_data import REPOSITORY

_BLOCK = re.compile(r"^`([\w.]+)` - .*?^```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_task_of_the_page_works(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "adding-a-task.md").read_text()
    blocks = dict(_BLOCK.findall(page))
    assert set(blocks) == {"task.toml", "instructions.md", "initial.py", "evaluator.py"}
    folder = tmp_path / "my_tasks" / "geometry" / "triangle"
    folder.mkdir(parents=True)
    for name, text in blocks.items():
        (folder / name).write_text(text)
    commands = re.findall(r"^\$ evoduet (.*)$", page, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        answer = subprocess.run(
            [sys.executable, "-m", "benchmark.cli", *command.split(), "--json"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
    verdict = json.loads(answer.stdout)
    assert (verdict["status"], verdict["objective"], verdict["ndg"]) == ("valid", 1.0, 0.0)


def test_the_best_triangle_is_the_anchor(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "adding-a-task.md").read_text()
    folder = tmp_path / "geometry" / "triangle"
    folder.mkdir(parents=True)
    for name, text in dict(_BLOCK.findall(page)).items():
        (folder / name).write_text(text)
    corners = tmp_path / "corners.json"
    corners.write_text("[[1, 0], [-0.5, 0.8660254037844386], [-0.5, -0.8660254037844386]]")
    answer = subprocess.run(
        [sys.executable, "-m", "benchmark.cli", "score", str(folder), "--artifact", str(corners),
         "--json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert abs(json.loads(answer.stdout)["ndg"] - 100) < 1e-9
