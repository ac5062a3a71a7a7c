"""docs/adding-a-method.md, run exactly as it stands there."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from shared_data import REPOSITORY

PAGE = (REPOSITORY / "docs" / "adding-a-method.md").read_text()
_BLOCK = re.compile(r"`(\w+\.\w+)`(?:(?!`\w+\.\w+`|```).)*?:\n\n```\w+\n(.*?)^```", re.M | re.S)
_COMMANDS = re.compile(r"^\$ evoduet (.*)$", re.M)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's files, and its distribution installed beside them."""
    folder = tmp_path_factory.mktemp("page")
    for name, text in _BLOCK.findall(PAGE):
        (folder / name).write_text(text)
    assert {path.name for path in folder.iterdir()} == {
        "my_method.py", "my_methods.py", "pyproject.toml", "run.toml", "prices.toml"
    }  # fmt: skip
    (folder / "notes").mkdir()
    (folder / "notes" / "hexagons.md").write_text("Circles in rows like honeycombs pack well.\n")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps",
         "--no-index", "--target", str(folder / "installed"), str(folder)],
        check=True,
    )  # fmt: skip
    return folder


def evoduet(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    installed = [str(folder / "installed"), os.environ.get("PYTHONPATH", "")]
    programs = [str(Path(sys.executable).parent), os.environ["PATH"]]
    return subprocess.run(
        [sys.executable, "-m", "benchmark.cli", *shlex.split(command)],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(installed),
            "PATH": os.pathsep.join(programs),
        },
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_commands_of_the_page_work(folder: Path) -> None:
    commands = _COMMANDS.findall(PAGE)
    assert len(commands) == 10
    for command in commands:
        answer = evoduet(folder, command)
        assert answer.returncode == 0, f"{command}: {answer.stderr}"
    summaries = {
        name: json.loads((folder / name / "summary.json").read_text())
        for name in ("climb", "noted", "climbed")
    }
    assert (summaries["climb"]["method"], summaries["climb"]["done"]) == ("climber", 8)
    assert (summaries["noted"]["method"], summaries["noted"]["done"]) == ("topk+notes", 3)
    assert (summaries["climbed"]["method"], summaries["climbed"]["done"]) == ("climb", 3)
    manifest = json.loads((folder / "noted" / "journal.jsonl").read_text().splitlines()[0])
    assert manifest["data"]["versions"]["method notes"] == "my-methods 1.0"
    prompts = [path.read_text() for path in (folder / "noted" / "blobs").rglob("*")
               if path.is_file()]  # fmt: skip
    assert any("Circles in rows like honeycombs" in prompt for prompt in prompts)
    best = evoduet(folder, "export climb --format openevolve --out checkpoint")
    assert best.returncode == 0, best.stderr


def test_the_price_file_of_the_page_is_one(folder: Path) -> None:
    from method.llm.pricing import load_prices

    prices = load_prices(str(folder / "prices.toml"))
    assert prices.models["openrouter/qwen/qwen3.5-9b"].output == 0.15
    assert prices.search["tavily"].per_credit == 0.008
