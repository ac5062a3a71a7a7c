"""docs/reproducing.md, run exactly as it stands there, up to the point where a key is needed."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from shared_data import REPOSITORY

PAGE = (REPOSITORY / "docs" / "reproducing.md").read_text()
FREE, PAID = PAGE.split("## Keys, models, prices")
_PLAN = re.compile(r"^```toml\n# (\w+\.toml)\n.*?^```", re.M | re.S)
_COMMAND = re.compile(r"^\$ evoduet (.*)$", re.M)
_RUNS = re.compile(r"([\d,]+) runs")


def evoduet(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmark.cli", *shlex.split(command)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def plans(text: str) -> dict[str, tuple[str, str]]:
    """Each plan of a text by name: the words between the heading and it, and the plan."""
    found = {}
    for match in _PLAN.finditer(text):
        before = text[: match.start()].rpartition("\n### ")[2]
        found[match[1]] = (before, match[0].removeprefix("```toml\n").removesuffix("```"))
    return found


@pytest.mark.slow
def test_what_needs_no_key_works(tmp_path: Path) -> None:
    for name, (_, plan) in plans(FREE).items():
        (tmp_path / name).write_text(plan)
    commands = _COMMAND.findall(FREE)
    assert len(commands) == 9
    for command in commands:
        done = evoduet(tmp_path, command)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    study = tmp_path / "results" / "runs" / "rehearsal"
    assert len(list(study.rglob("summary.json"))) == 8
    assert (tmp_path / "results" / "rehearsal" / "runs.csv").read_text().count("\n") == 9
    assert "<!doctype html>" in (tmp_path / "results" / "first.html").read_text().lower()


@pytest.mark.parametrize("name", sorted(plans(PAID)))
def test_each_plan_has_the_runs_that_the_page_says(name: str, tmp_path: Path) -> None:
    words, plan = plans(PAID)[name]
    (tmp_path / name).write_text(plan)
    done = evoduet(tmp_path, f"sweep {name} --dry-run --json")
    assert done.returncode == 0, done.stderr
    said = _RUNS.search(words)
    assert said is not None
    assert len(json.loads(done.stdout)["jobs"]) == int(said[1].replace(",", ""))


def test_every_other_command_exists() -> None:
    for command in _COMMAND.findall(PAID):
        done = evoduet(REPOSITORY, f"{command.split()[0]} --help")
        assert done.returncode == 0
