"""`evoduet verify RESULT`: what is the same passes, and each kind of change has its own message."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from toy_task import DECLARATION, write_toy_task

from benchmark.artifact import Artifact
from benchmark.verification.store import keep, read_kept

GOOD = "def run_code():\n    return [1.0, 0.5]\n"
DATA = (
    DECLARATION
    + """
[[data]]
name = "table.csv"
mirror = { path = "toys/table.csv", sha256 = "SHA" }
licence = "CC0"
size = 6
"""
)
Score = Callable[..., Path]


def evoduet(*arguments: object, **env: str) -> subprocess.CompletedProcess[str]:
    import os

    command = [sys.executable, "-m", "benchmark.cli", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **env}
    )


@pytest.fixture
def task(tmp_path: Path) -> Path:
    return write_toy_task(tmp_path)


@pytest.fixture
def score(task: Path, tmp_path: Path) -> Score:
    """Scores something and writes what was printed to a file."""

    def made(*arguments: object, text: str = GOOD, **env: str) -> Path:
        program = tmp_path / "program.py"
        program.write_text(text)
        given = arguments or (program,)
        answer = evoduet("score", task, *given, "--json", **env)
        assert answer.stdout, answer.stderr
        file = tmp_path / "result.json"
        file.write_text(answer.stdout)
        return file

    return made


def verify(*arguments: object, **env: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """Exit code, and the checks of the first record by name."""
    folder = Path(str(arguments[0])).parent / "toys" / "vector"
    named = ["--task", folder] if folder.is_dir() and "--task" not in arguments else []
    answer = evoduet("verify", *arguments, *named, "--json", **env)
    assert answer.stdout, answer.stderr
    told = json.loads(answer.stdout)
    assert told["exit_code"] == answer.returncode
    return answer.returncode, {check["name"]: check for check in told["verified"][0]["checks"]}


def differing(checks: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {n: c["message"] for n, c in checks.items() if c["outcome"] == "differs"}


def test_the_same_program_is_evaluated_again_and_identical(score: Score) -> None:
    code, checks = verify(score())
    assert code == 0
    assert not differing(checks)
    assert "evaluated again" in checks["artifact"]["message"]
    assert checks["search"]["outcome"] == checks["evaluator"]["outcome"] == "same"


@pytest.mark.parametrize(
    ("text", "status"),
    [("def run_code(): return [7]\n", "invalid"), ("1 / 0\n", "crashed"), ("x = (\n", "crashed")],
)
def test_a_failure_is_verified_like_a_score(score: Score, text: str, status: str) -> None:
    file = score(text=text)
    assert json.loads(file.read_text())["status"] == status
    assert verify(file)[0] == 0


def test_options_repeats_and_limits_are_used_again(
    score: Score, task: Path, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    file = score(program, "--set", "bonus=0.25", "--repeats", 2, "--timeout", 5, "--stage", "both")
    record = json.loads(file.read_text())
    assert (record["search"], len(record["repeats"])) == (1.75, 2)
    assert verify(file)[0] == 0


def test_a_changed_program_and_a_missing_one(score: Score, tmp_path: Path) -> None:
    file = score()
    program = tmp_path / "program.py"
    program.write_text(GOOD.replace("0.5", "0.6"))
    code, checks = verify(file)
    assert code == 1
    assert differing(checks).keys() == {"program"}
    assert "has changed since it was scored" in checks["program"]["message"]
    program.unlink()
    code, checks = verify(file)
    assert (code, checks["program"]["outcome"]) == (3, "missing")
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.write_text(GOOD)
    assert verify(file, "--program", elsewhere)[0] == 0


def test_a_changed_evaluator(score: Score, task: Path) -> None:
    file = score()
    evaluator = task / "evaluator.py"
    evaluator.write_text(evaluator.read_text().replace("total *= 2", "total *= 3"))
    code, checks = verify(file)
    assert code == 1
    assert differing(checks).keys() == {"evaluator"}  # this score does not depend on the change
    assert "is not the one that gave this score" in checks["evaluator"]["message"]
    evaluator.write_text(evaluator.read_text().replace("math.fsum(vector)", "2 * sum(vector)"))
    assert differing(verify(file)[1]).keys() == {"evaluator", "search", "objective", "ndg",
                                                 "ndg_raw"}  # fmt: skip


@pytest.mark.parametrize("name", ["search", "objective", "ndg"])
def test_a_changed_number(score: Score, name: str) -> None:
    file = score()
    record = json.loads(file.read_text())
    record[name] += 1e-9
    file.write_text(json.dumps(record))
    code, checks = verify(file)
    assert code == 1
    assert differing(checks).keys() == {name}
    assert "recorded is" in checks[name]["message"]
    record["provenance"]["versions"]["numpy"] = "1.0"  # another environment may round
    record["provenance"]["versions"]["evoduet"] = "0.0"
    record[name] += -1e-9 + 1e-13
    file.write_text(json.dumps(record))
    code, checks = verify(file)
    assert code == 0
    assert "numpy" in checks["environment"]["message"]


def test_a_stored_artifact_is_scored_again_without_a_program(score: Score, tmp_path: Path) -> None:
    artifact = tmp_path / "a.json"
    artifact.write_text("[0.25, 0.5]")
    file = score("--artifact", artifact)
    code, checks = verify(file)
    assert (code, checks["artifact"]["outcome"]) == (3, "missing")
    assert verify(file, "--artifact", artifact)[0] == 0
    (tmp_path / "other.json").write_text("[0.25, 0.75]")
    code, checks = verify(file, "--artifact", tmp_path / "other.json")
    assert code == 1
    assert "artifact in" in differing(checks)["artifact"]


def test_a_kept_artifact_is_found_by_its_digest(score: Score, tmp_path: Path) -> None:
    kept = keep(Artifact([1.0, 0.5]), tmp_path / "artifacts")
    assert kept is not None
    file = score()
    (tmp_path / "program.py").unlink()
    code, checks = verify(file)
    assert (code, checks["artifact"]["outcome"]) == (0, "same")
    kept.write_text("[1.0, 0.75]\n")
    code, checks = verify(file)
    assert code == 1
    assert "has changed" in differing(checks)["artifact"]
    kept.write_text("[1.0,")
    assert "is damaged" in differing(verify(file)[1])["artifact"]


def test_data_files_are_read_again(tmp_path: Path, score: Score, task: Path) -> None:
    import hashlib

    content = b"a,b\n1\n"
    declaration = DATA.replace("SHA", hashlib.sha256(content).hexdigest())
    (task / "task.toml").write_text(declaration)
    mirror = tmp_path / "mirror"
    (mirror / "toys").mkdir(parents=True)
    table = mirror / "toys" / "table.csv"
    table.write_bytes(content)
    env = {"EVODUET_DATA_MIRROR": str(mirror), "EVODUET_DATA": str(tmp_path / "cache")}
    file = score(**env)
    assert verify(file, **env)[1]["data table.csv"]["outcome"] == "same"
    table.write_bytes(b"a,b\n2\n")
    code, checks = verify(file, **env)
    assert code == 1
    assert differing(checks).keys() == {"data table.csv"}
    assert "has changed" in checks["data table.csv"]["message"]
    table.unlink()
    code, checks = verify(file, **env)
    assert (code, checks["data table.csv"]["outcome"]) == (3, "missing")


def test_a_suite_and_the_worst_verdict(tmp_path: Path) -> None:
    out = tmp_path / "suite.json"
    evoduet("suite", "--select", "sums_diffs,labs_27", "--out", out)
    answer = evoduet("verify", out)
    assert answer.returncode == 0, answer.stdout
    assert answer.stdout.count("identical") == 2
    content = json.loads(out.read_text())
    content["results"][1]["program_sha256"] = "0" * 64
    content["results"][0]["program"] = "/nowhere/initial.py"  # found as the task's initial program
    out.write_text(json.dumps(content))
    assert evoduet("verify", out).returncode == 0  # what the programs made is here, and decides
    shutil.rmtree(tmp_path / "artifacts")
    answer = evoduet("verify", out)
    assert answer.returncode == 1
    assert answer.stdout.count("identical") == 1


@pytest.mark.parametrize("text", ["", "{}", "[]", "[1]", "no json", '{"results": []}', "\x00"])
def test_what_is_no_result_is_usage(tmp_path: Path, text: str) -> None:
    file = tmp_path / "result.json"
    file.write_text(text)
    for target in (file, tmp_path / "missing.json", tmp_path):
        answer = evoduet("verify", target)
        assert answer.returncode == 2
        assert answer.stderr.startswith("evoduet: ")
        assert answer.stderr.count("\n") == 1


def test_a_task_is_code_and_used_only_if_installed_or_named(score: Score, task: Path) -> None:
    file = score()
    planted = task / "evaluator.py"
    planted.write_text("import os\n\nos._exit(77)\n")
    record = json.loads(file.read_text())
    for name in (record["task"], str(task), "toys/gone"):
        file.write_text(json.dumps({**record, "task": name}))
        answer = evoduet("verify", file, "--json")
        (check,) = json.loads(answer.stdout)["verified"][0]["checks"]
        assert (answer.returncode, check["name"], check["outcome"]) == (3, "task", "missing")
        assert "--task" in check["message"]
    answer = evoduet("verify", file, "--task", task, "--json")
    assert "but this is of toys/gone" in answer.stdout


def test_kept_artifacts_bring_their_facts(tmp_path: Path) -> None:
    artifact = Artifact({"cases": [[1, 2], [3]]}, {"cases": [{"seed": 0, "status": "TLE"}]})
    path = keep(artifact, tmp_path)
    assert path is not None
    assert path.stem == artifact.digest()
    again = read_kept(path)
    assert (again.digest(), again.facts) == (artifact.digest(), artifact.facts)
    assert read_kept(path, {"other": 1}).facts == {"other": 1}
    assert keep(artifact, tmp_path) == path
    assert keep(Artifact([float("nan")]), tmp_path) is None
    assert sorted(p.name for p in tmp_path.iterdir()) == [path.name.replace(".json", ".facts.json"),
                                                          path.name]  # fmt: skip
