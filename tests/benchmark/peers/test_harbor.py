"""Harbor's task folders: their form, and that the verifier's script gives the right rewards."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from toy_task import DECLARATION, write_toy_task

from benchmark.catalogue import catalogue, find_task
from benchmark.peers.folder import SYSTEMS, contents, write
from benchmark.task import SUFFIXES

HARBOR = SYSTEMS["harbor"]
FILES = {"task.toml", "instruction.md", "environment/Dockerfile", "tests/test.sh",
         "tests/reward.py", "solution/solve.sh", "README.md"}  # fmt: skip


def adapted(task: str | Path, out: Path) -> Path:
    write(contents(find_task(str(task)), HARBOR), out)
    return out


def verifier(folder: Path, program: Path, rewards: Path, **env: str) -> tuple[int, str]:
    """What Harbor does when the agent is done, with an interpreter that has evoduet."""
    answer = subprocess.run(
        ["bash", str(folder / "tests" / "test.sh"), str(program), str(rewards)],
        env={**os.environ, "EVODUET_PYTHON": sys.executable, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    return answer.returncode, answer.stdout + answer.stderr


def rewards_in(folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder / "reward.json").read_text())
    assert float((folder / "reward.txt").read_text()) == told["reward"]
    assert all(type(value) is float for value in told.values())
    return told


@pytest.mark.parametrize("name", sorted(catalogue()))
def test_every_task_has_a_whole_folder(name: str) -> None:
    task = find_task(name)
    suffix = SUFFIXES[task.declared.language]
    texts = {path: content.decode() for path, content in contents(task, HARBOR).items()}
    assert texts.keys() == FILES | {f"environment/program{suffix}", f"solution/program{suffix}"}
    assert texts[f"environment/program{suffix}"] == task.initial_program.read_text()
    declared = tomllib.loads(texts["task.toml"])
    assert declared["version"] == "1.0"
    assert declared["metadata"]["evoduet_task"] == task.id
    assert declared["verifier"]["timeout_sec"] >= task.limits.wall_s + 900
    assert declared["environment"]["memory_mb"] > task.declared.limits.memory_mb
    for place in (("agent", "timeout_sec"), ("environment", "build_timeout_sec")):
        assert declared[place[0]][place[1]] > 0
    assert task.instructions.rstrip() in texts["instruction.md"]
    assert f"/app/program{suffix}" in texts["instruction.md"]
    docker = texts["environment/Dockerfile"]
    assert f"COPY program{suffix} /app/program{suffix}" in docker
    assert re.search(r"numpy==\d", docker)
    # The agent's image has neither scorer nor anchors.
    seen_by_agent = docker + texts["instruction.md"] + texts["task.toml"]
    assert "install evoduet" not in seen_by_agent
    best = repr(task.declared.anchors.sota.value)
    assert len(best) < 8 or best not in seen_by_agent


def test_the_scripts_are_correct_shell_and_can_be_executed(tmp_path: Path) -> None:
    out = adapted("cp26", tmp_path / "out")
    for script in ("tests/test.sh", "solution/solve.sh"):
        assert os.access(out / script, os.X_OK)
        subprocess.run(["bash", "-n", str(out / script)], check=True)
    app = tmp_path / "app"
    app.mkdir()
    subprocess.run([out / "solution" / "solve.sh", str(app)], check=True)
    assert (app / "program.py").read_bytes() == find_task("cp26").initial_program.read_bytes()


def test_a_better_program_gets_ndg_over_100(toy: Path, tmp_path: Path) -> None:
    out = adapted(toy, tmp_path / "out")
    program = tmp_path / "program.py"
    program.write_text("def run_code():\n    return [1.0, 1.0]\n")
    code, said = verifier(out, program, tmp_path / "logs" / "verifier")
    assert code == 0, said
    told = rewards_in(tmp_path / "logs" / "verifier")
    assert told == {"reward": 0.5, "valid": 1.0, "ndg": 50.0, "ndg_raw": 50.0,
                    "search_score": 2.0, "objective": 2.0}  # fmt: skip
    record = json.loads((tmp_path / "logs" / "verifier" / "evaluation.json").read_text())
    assert (record["task"], record["ndg"]) == ("toys/vector", 50.0)


@pytest.mark.parametrize("text", ["def run_code(): return [7]\n", "1 / 0\n", None])
def test_failures_are_rewarded_with_zero(toy: Path, tmp_path: Path, text: str | None) -> None:
    out = adapted(toy, tmp_path / "out")
    program = tmp_path / "program.py"
    if text is not None:
        program.write_text(text)
    code, said = verifier(out, program, tmp_path)
    assert code == 0, said
    assert rewards_in(tmp_path) == {"reward": 0.0, "valid": 0.0}


def test_a_machine_that_cannot_evaluate_gives_no_reward(tmp_path: Path) -> None:
    declaration = 'requires = ["no_such_library"]\n' + DECLARATION
    out = adapted(write_toy_task(tmp_path, declaration=declaration), tmp_path / "out")
    (tmp_path / "reward.txt").write_text("1.0\n")  # forged by the agent
    (tmp_path / "reward.json").write_text('{"reward": 1.0}\n')
    code, said = verifier(out, out / "environment" / "program.py", tmp_path)
    assert (code, "no_such_library" in said) == (3, True)
    assert not list(tmp_path.glob("reward.*"))


def test_data_that_is_not_official_gives_no_reward(tmp_path: Path) -> None:
    out = adapted("u_shape", tmp_path / "out")
    program = out / "environment" / "program.py"
    empty = {"EVODUET_DATA": str(tmp_path / "cache"), "EVODUET_DATA_MIRROR": str(tmp_path),
             "HF_ENDPOINT": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9",
             "https_proxy": "http://127.0.0.1:9"}  # fmt: skip
    code, said = verifier(out, program, tmp_path / "logs", **empty)
    assert code == 3, said
    assert "no comparable scale" in said
    assert not list((tmp_path / "logs").glob("reward.*"))


def test_without_evoduet_the_script_fails(toy: Path, tmp_path: Path) -> None:
    out = adapted(toy, tmp_path / "out")
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    bare.chmod(0o755)
    code, _ = verifier(out, out / "environment" / "program.py", tmp_path, EVODUET_PYTHON=str(bare))
    assert code != 0
    assert not list(tmp_path.glob("reward.*"))


def test_harbors_own_loader_reads_it(tmp_path: Path) -> None:
    models = pytest.importorskip("harbor.models.task.task", reason="harbor is not installed")
    task = models.Task(adapted("cp26", tmp_path / "out"))
    assert task.config.version == "1.0"
