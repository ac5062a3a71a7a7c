"""``evoduet sweep`` on the command line: what it shows, refuses and how it exits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sweep_cases import Instant, toy, toy_plan, write_plan

from benchmark.cli import main
from method.executors.jobs import Job, Outcome

PAID = """
usd_per_call = 0.5
max_cost = 1
[defaults]
model = "openai/some"
method = "none"
iterations = 2
[grid]
task = ["cp26"]
"""


def command(*words: object) -> int:
    """Exit code of ``evoduet sweep ...`` in this process."""
    with pytest.raises(SystemExit) as left:
        main(["sweep", *map(str, words)])
    code = left.value.code
    return code if isinstance(code, int) else 0


def test_a_dry_run_shows_calls_and_cost_and_does_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = toy_plan(tmp_path, "cp26", "sindy_2d")
    assert command(plan, "--dry-run", "--out", tmp_path / "out") == 0
    shown = capsys.readouterr().out
    assert "method=topk+none" in shown
    assert "4 of 4 runs to do" in shown
    assert command("--dry-run", "--json", "--out", tmp_path / "out", plan) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["to_do"]["jobs"] == 4
    assert told["to_do"]["cost_usd"] == 0
    assert sum(arm["model_calls"] for arm in told["arms"].values()) == told["all"]["model_calls"]
    assert [job["to_do"] for job in told["jobs"]] == [True] * 4
    assert not (tmp_path / "out").exists()


def test_a_plan_over_its_cap_exits_2_with_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = write_plan(tmp_path, PAID)
    assert command(plan, "--out", tmp_path / "out") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"evoduet: {plan}: line 3: max_cost: the plan may cost ")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["missing.toml"], "missing.toml: No such file"),
        (["{plan}", "--executor", "slurm"], "--executor slurm: use local or ray"),
        (["{plan}", "--address", "h:1"], "--address: of a Ray cluster"),
        (["status", "{folder}"], "no sweep there"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    plan = toy_plan(tmp_path, "cp26")
    filled = [word.format(plan=plan, folder=tmp_path) for word in words]
    assert command(*filled) == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("states", "code"),
    [
        (["done", "budget"], 0),
        (["done", "blocked"], 3),
        (["failed", "blocked"], 1),
        (["failed", "interrupted"], 75),
    ],
)
def test_the_exit_code_is_that_of_what_wants_attention_most(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    states: list[str],
    code: int,
) -> None:
    left = list(states)

    def answer(job: Job) -> Outcome:
        return Outcome(job.id, left.pop(0), "because")  # type: ignore[arg-type]

    monkeypatch.setattr("method.executors.local.LocalExecutor", lambda: Instant(answer))
    plan = toy_plan(tmp_path, toy(tmp_path))
    assert command(plan, "--out", tmp_path / "out") == code
    printed = capsys.readouterr()
    assert "2 of 2 runs to do" in printed.err
    assert all(state in printed.out for state in states)
    assert command("status", tmp_path / "out", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert sorted(job["state"] for job in told["jobs"]) == sorted(states)
    assert told["driven"] is False
    assert command("status", tmp_path / "out", "--watch") == 0  # ends, as nobody drives it
    assert "because" in capsys.readouterr().out


def test_a_library_that_is_missing_exits_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    plan = toy_plan(tmp_path, toy(tmp_path))
    assert command(plan, "--out", tmp_path / "out", "--executor", "ray") == 3
    assert "pip install 'evoduet[ray]'" in capsys.readouterr().err
