"""The command line as a user meets it: output, exit codes, and one-line reasons."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from toy_task import write_toy_task

from benchmark.sandbox.inside import tree

GOOD = "def run_code():\n    return [1.0, 0.5]\n"


@pytest.fixture
def task(tmp_path: Path) -> str:
    return str(write_toy_task(tmp_path))


def evoduet(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmark.cli", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def program(tmp_path: Path, text: str = GOOD, name: str = "program.py") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def fails_with(answer: subprocess.CompletedProcess[str], code: int, *words: str) -> None:
    """One line on stderr that holds the words, nothing on stdout, no traceback."""
    assert answer.returncode == code, answer.stderr
    assert answer.stdout == ""
    assert answer.stderr.startswith("evoduet: ")
    assert answer.stderr.count("\n") == 1
    for word in words:
        assert word in answer.stderr


def test_score_prints_one_object_a_line(task: str, tmp_path: Path) -> None:
    artifact = tmp_path / "a.json"
    artifact.write_text("[0.25]")
    good = program(tmp_path)
    answer = evoduet("score", task, good, "--artifact", artifact, "--json")
    assert answer.returncode == 0
    first, second = (json.loads(line) for line in answer.stdout.splitlines())
    wanted = {"task", "status", "search", "objective", "ndg", "ndg_raw", "reason", "metrics",
              "wall_s", "cpu_s", "isolation"}  # fmt: skip
    assert wanted <= first.keys()
    assert (first["search"], second["search"]) == (1.5, 0.25)
    assert second["isolation"] == "none"


def test_saved_results_can_be_verified(task: str, tmp_path: Path) -> None:
    file = tmp_path / "kept" / "result.json"
    assert evoduet("score", task, program(tmp_path), "--save", file).returncode == 0
    [record] = json.loads(file.read_text())["results"]
    kept = file.parent / "artifacts" / f"{record['artifact_sha256']}.json"
    assert evoduet("verify", file, "--task", task).returncode == 0
    kept.write_text("[9.0]\n")
    assert evoduet("verify", file, "--task", task).returncode == 1
    assert evoduet("score", task, program(tmp_path), "--save", tmp_path).returncode == 2


def test_the_worst_verdict_is_the_exit_code(task: str, tmp_path: Path) -> None:
    good, bad = program(tmp_path), program(tmp_path, "def run_code(): return [7]\n", "bad.py")
    answer = evoduet("score", task, good, bad, good)
    assert answer.returncode == 1
    assert answer.stdout.count("valid") >= 3
    assert "a number lies outside [0, 1]" in answer.stdout


def test_text_output_names_metric_anchors_and_cost(task: str, tmp_path: Path) -> None:
    answer = evoduet("score", task, program(tmp_path), "--set", "bonus=0.5")
    assert answer.returncode == 0
    assert "sum" in answer.stdout
    assert "2.0 (x0 1, SOTA 3)" in answer.stdout
    assert "NDG" in answer.stdout
    assert "50" in answer.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nonsense", "p.py"), ("unknown task 'nonsense'",)),
        (("cp_26", "p.py"), ("did you mean", "cp26")),
        (("TASK",), ("nothing to score", "--artifact")),
        (("TASK", "missing.py"), ("missing.py", "no such file")),
        (("TASK", "p.py", "--set", "bonus"), ("--set bonus", "KEY=VALUE")),
        (("TASK", "p.py", "--set", "speed=1"), ("--set speed", "bonus, mode")),
        (("TASK", "p.py", "--stage", "final"), ("--stage final", "search, report or both")),
        (("TASK", "p.py", "--isolation", "hope"), ("--isolation hope",)),
        (("TASK", "p.py", "--variant", "embedded"), ("--variant embedded", "official")),
        (("TASK", "--artifact", "missing.json"), ("missing.json",)),
        (("TASK", "--artifact", "p.py"), ("p.py", ".json or .npz")),
        (("TASK", "--artifact", "nan.json"), ("nan.json", "strict JSON")),
        (("TASK", "--artifact", "a.npz"), ("a.npz", "not a readable")),
        (("TASK", "--artifact", "nan.json", "--repeats", "2"), ("--repeats",)),
    ],
)
def test_bad_usage_is_one_line_and_exit_2(
    task: str, tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    program(tmp_path, GOOD, "p.py")
    (tmp_path / "nan.json").write_text("[NaN]")
    (tmp_path / "a.npz").write_bytes(b"junk")
    given = [task if word == "TASK" else word for word in arguments]
    fails_with(evoduet("score", *given, cwd=tmp_path), 2, *words)


def test_a_broken_declaration_is_one_line(tmp_path: Path) -> None:
    folder = write_toy_task(tmp_path)
    (folder / "task.toml").write_text("title = 3\n")
    answer = evoduet("score", folder, program(tmp_path))
    fails_with(answer, 2, "task.toml", "title")


def test_unavailable_is_exit_3(tmp_path: Path) -> None:
    folder = write_toy_task(tmp_path)
    text = (folder / "task.toml").read_text()
    (folder / "task.toml").write_text('requires = ["no_such_library"]\n' + text)
    answer = evoduet("score", folder, program(tmp_path))
    assert answer.returncode == 3
    assert "no_such_library" in answer.stdout


def test_tasks_and_show() -> None:
    rows = json.loads(evoduet("tasks", "--select", "mathematics", "--json").stdout)["tasks"]
    assert {row["task"].partition("/")[0] for row in rows} == {"mathematics"}
    assert all(row["x0"] != row["sota"] for row in rows)
    text = evoduet("tasks").stdout
    assert "mathematics/cp26" in text
    shown = json.loads(evoduet("show", "cp26", "--json").stdout)
    assert shown["declaration"]["anchors"]["sota"]["source"]
    text = evoduet("show", "cp26").stdout
    assert "SOTA" in text
    assert "run_code" in text


def test_suite_writes_all_results(tmp_path: Path) -> None:
    out = tmp_path / "results" / "suite.json"
    answer = evoduet("suite", "--select", "cp26,sums_diffs", "--workers", 2, "--out", out)
    assert answer.returncode == 0, answer.stderr
    results = json.loads(out.read_text())["results"]
    assert [result["task"] for result in results] == ["mathematics/cp26", "mathematics/sums_diffs"]
    assert [result["ndg"] for result in results] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert "mathematics/sums_diffs" in answer.stdout


def test_suite_with_own_programs_goes_on_after_failures(tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    (programs / "mathematics").mkdir(parents=True)
    program(programs, "raise OSError('no')\n", "cp26.py")
    program(programs / "mathematics", "def run_code(): return {0, 1, 3}\n", "sums_diffs.py")
    answer = evoduet(
        "suite", "--select", "cp26,sums_diffs,cp32", "--programs", programs, "--json", cwd=tmp_path
    )
    assert answer.returncode == 0
    assert "no program" in answer.stderr
    assert "cp32" in answer.stderr
    failed, valid = json.loads(answer.stdout)["results"]
    assert (failed["status"], valid["status"]) == ("crashed", "valid")
    (written,) = (tmp_path / "results" / "suite").glob("*.json")
    assert len(json.loads(written.read_text())["results"]) == 2
    fails_with(evoduet("suite", "--programs", tmp_path / "none", cwd=tmp_path), 2, "no such folder")


def test_an_unwritable_result_is_known_before_any_work(tmp_path: Path) -> None:
    blocker = program(tmp_path, "", "blocker")
    answer = evoduet("suite", "--select", "cp26", "--out", blocker / "r.json")
    fails_with(answer, 2, "--out", "choose another place")
    answer = evoduet("plot", "cp26", program(tmp_path), "--out", "/proc/plot.png")
    fails_with(answer, 2, "/proc/plot.png")


def _sleeps(pid: int) -> bool:
    """Whether a candidate of this process executes ``sleep``."""
    commands = [Path(f"/proc/{child}/comm") for child in tree.descendants(pid)]
    return any(path.exists() and path.read_text().strip() == "sleep" for path in commands)


def test_interrupted_suite_keeps_what_is_done(tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    program(programs, "def run_code(): return {0, 1, 3}\n", "sums_diffs.py")
    program(programs, "import os\nos.system('sleep 60')\n", "cp26.py")
    out = tmp_path / "r.json"
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmark.cli", "suite", "--select", "sums_diffs,cp26",
         "--programs", programs, "--out", out],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not _sleeps(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=40)
    assert process.returncode == 75, stderr
    assert "evoduet suite --select mathematics/cp26" in stderr
    (kept,) = json.loads(out.read_text())["results"]
    assert kept["task"] == "mathematics/sums_diffs"


def test_an_interrupted_command_says_so_and_exits_75(task: str, tmp_path: Path) -> None:
    quick = program(tmp_path)
    slow = program(tmp_path, "import os\nos.system('sleep 60')\n", "slow.py")
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmark.cli", "score", task, quick, slow, "--json"],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not _sleeps(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=40)
    assert (process.returncode, stderr) == (75, "evoduet: interrupted\n")
    assert json.loads(stdout)["search"] == 1.5


def test_a_reader_that_leaves_is_no_error() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmark.cli", "oracle", "cp26"],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert (process.stderr.read(), process.wait(timeout=40)) == ("", 0)


def test_version() -> None:
    from importlib.metadata import version

    assert evoduet("--version").stdout == f"evoduet {version('evoduet')}\n"


def test_regress_reports_drift_and_updates(tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    arguments = ("regress", "--select", "cp26", "--baseline", baseline)
    fails_with(evoduet(*arguments), 2, "baseline.json", "--update")
    assert evoduet(*arguments, "--update").returncode == 0
    assert evoduet(*arguments).returncode == 0
    content = json.loads(baseline.read_text())
    content["results"][0]["objective"] *= 1 + 1e-6
    baseline.write_text(json.dumps(content))
    answer = evoduet(*arguments)
    assert answer.returncode == 1
    assert "drift" in answer.stdout
    assert "objective" in answer.stdout
    baseline.write_text("{")
    fails_with(evoduet(*arguments), 2, "not a baseline")


def test_plot_draws_only_what_is_valid(tmp_path: Path) -> None:
    out = tmp_path / "set.png"
    good = program(tmp_path, "def run_code(): return {0, 1, 3}\n")
    assert evoduet("plot", "sums_diffs", good, "--out", out).returncode == 0
    first = out.read_bytes()
    assert first.startswith(b"\x89PNG")
    evoduet("plot", "sums_diffs", good, "--out", out)
    assert out.read_bytes() == first
    bad = program(tmp_path, "def run_code(): return []\n", "bad.py")
    answer = evoduet("plot", "sums_diffs", bad, "--out", tmp_path / "bad.png")
    assert answer.returncode == 1
    assert "nothing drawn" in answer.stderr
    assert not (tmp_path / "bad.png").exists()
    fails_with(evoduet("plot", "sums_diffs", good, "--out", "x.gif"), 2, ".png")


def test_doctor_reports_and_hides_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    answer = evoduet("doctor", "--json")
    assert answer.returncode == 0
    assert "sk-secret" not in answer.stdout
    findings = {row["name"]: row for row in json.loads(answer.stdout)["findings"]}
    assert findings["OPENAI_API_KEY"]["state"] == "ok"
    assert findings["isolation process"]["state"] == "ok"
    assert evoduet("doctor").returncode == 0


def test_the_command_line_loads_nothing_that_only_a_command_needs() -> None:
    heavy = ("numpy", "scipy", "pydantic", "matplotlib", "method", "analysis", "tasks")
    code = f"import sys, benchmark.cli; print([n for n in {heavy!r} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_command_has_help_with_an_example() -> None:
    commands = (
        "tasks", "show", "score", "suite", "regress", "plot", "adapt", "doctor", "run", "resume",
        "replay", "plan", "runs", "best", "trace", "oracle", "baseline", "tables", "figures",
    )  # fmt: skip
    for command in commands:
        answer = evoduet(command, "--help")
        assert answer.returncode == 0
        assert f"evoduet {command}" in answer.stdout.replace("\n", " ")
        assert "Example" in answer.stdout
