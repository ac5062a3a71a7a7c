"""Sweeps in real child processes: killed, interrupted, blocked, and always the same in the end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from steady_traces import steady_trace
from sweep_cases import (
    COMMAND,
    MISSING_DATA,
    start_driver,
    states,
    sweep,
    toy,
    toy_plan,
    write_plan,
)
from toy_task import DECLARATION

from benchmark import evaluate
from method.executors.jobs import Job, Resources
from method.executors.local import LocalExecutor
from method.journal import read_journal
from method.runs import replay, run
from method.sweep.cells import run_cells
from method.sweep.ledger import Ledger, evaluations, read_ledger
from method.sweep.plan import read_plan
from method.sweep.session import drive, open_session
from method.sweep.status import status

TWO = Resources(2, 16_000)
WAIT_S = 60.0


def until(condition: Callable[[], bool]) -> None:
    """Wait for something that other processes do."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.02)


def events(folder: Path) -> Counter[str]:
    try:
        return Counter(event.name for event in read_journal(folder))
    except Exception:
        return Counter()


@pytest.fixture
def slow_toy(tmp_path: Path) -> str:
    """Its evaluations take a while, so that runs can be caught at work."""
    task = toy(tmp_path)
    program = Path(task) / "initial.py"
    program.write_text(
        "import time\n"
        + program.read_text().replace("    return", "    time.sleep(0.2)\n    return")
    )
    return task


def undisturbed(plan: Path, folder: Path) -> dict[str, list[object]]:
    """The traces that the runs of a plan have when nothing happens to them."""
    traces = {}
    for number, cell in enumerate(run_cells(read_plan(plan), folder)):
        assert cell.config is not None
        run(cell.config, folder / str(number))
        traces[cell.job.id] = steady_trace(folder / str(number))
    return traces


def check_runs(out: Path, expected: dict[str, list[object]]) -> None:
    """All runs are complete, as expected, and nothing was evaluated twice."""
    projection = read_ledger(out)
    assert set(states(projection).values()) == {"done"}
    assert set(projection.jobs) == set(expected)
    for job, trace in expected.items():
        assert steady_trace(out / job) == trace, job
        replay(out / job)
        keys = [tuple(e.data["key"]) for e in read_journal(out / job) if e.name == "evaluation"]
        assert len(keys) == len(set(keys))


@pytest.mark.slow
def test_a_killed_worker_and_a_killed_driver_lose_nothing(tmp_path: Path, slow_toy: str) -> None:
    plan = toy_plan(tmp_path, slow_toy, iterations=5)
    out = tmp_path / "out"
    expected = undisturbed(plan, tmp_path / "alone")
    first = next(iter(expected))

    driver = start_driver(plan, out)
    until(lambda: events(out / first)["iteration_done"] >= 1)
    before = events(out / first)
    driver.kill()
    driver.communicate()
    assert status(out)["counts"].get("interrupted", 0) >= 1
    assert not status(out)["driven"]

    # The next driver comes at once: the workers of the first may be finishing their calls.
    session = open_session(plan, out)
    executor = LocalExecutor(TWO)
    killed: list[int] = []

    def kill_one() -> None:
        running = executor.workers()
        if not killed and first in running and events(out / first)["iteration_done"] >= 3:
            killed.append(running[first])
            os.killpg(running[first], signal.SIGKILL)

    class Killing(LocalExecutor):
        def finished(self, timeout_s: float) -> list[object]:  # type: ignore[override]
            kill_one()
            return executor.finished(0.02)  # type: ignore[return-value]

        room = executor.room  # type: ignore[assignment]
        submit = executor.submit  # type: ignore[assignment]

    try:
        ending, projection = drive(session, Killing(TWO))
    finally:
        executor.close()
    assert ending == "finished"
    assert len(killed) == 1
    lost = [
        line for line in (out / "sweep.jsonl").read_text().splitlines() if '"lost":true' in line
    ]
    assert len(lost) == 1
    assert "killed by SIGKILL" in lost[0]
    assert projection.jobs[first].attempts == 3
    assert events(out / first)["evaluation"] > before["evaluation"]
    check_runs(out, expected)


@pytest.mark.slow
def test_sigint_interrupts_and_another_call_goes_on(tmp_path: Path, slow_toy: str) -> None:
    plan = toy_plan(tmp_path, slow_toy, iterations=8)
    out = tmp_path / "out"
    expected = undisturbed(plan, tmp_path / "alone")
    driver = start_driver(plan, out)
    first = next(iter(expected))
    until(lambda: events(out / first)["iteration_done"] >= 1)
    driver.send_signal(signal.SIGINT)
    answer, errors = driver.communicate(timeout=WAIT_S)
    assert driver.returncode == 75, errors
    told = json.loads(answer)
    assert told["ending"] == "interrupted"
    assert told["counts"].get("running") is None
    assert events(out / first)["interrupted"] == 1
    again = subprocess.run(
        [*COMMAND, str(plan), "--out", str(out), "--json"], capture_output=True, text=True
    )
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["counts"] == {"done": 2}
    check_runs(out, expected)
    shown = subprocess.run([*COMMAND, "status", str(out)], capture_output=True, text=True)
    assert shown.returncode == 0
    assert "2 done; 0 USD; no driver works on it" in shown.stdout


def test_what_is_missing_blocks_its_runs_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    good = toy(tmp_path, "good")
    needs_data = toy(tmp_path, "needs_data", declaration=DECLARATION + MISSING_DATA)
    tools = DECLARATION.replace('cost = "cheap"', 'cost = "cheap"\ntoolchain = ["no-such-tool"]')
    needs_tool = toy(tmp_path, "needs_tool", declaration=tools)
    plan = write_plan(
        tmp_path,
        f"""
[defaults]
method = "none"
iterations = 1
candidates = 1
[[arms]]
model = "offline/perturb"
task = "{good}"
[[arms]]
model = "offline/perturb"
task = "{needs_data}"
[[arms]]
model = "offline/perturb"
task = "{needs_tool}"
[[arms]]
model = "openai/gpt-4o-mini"
task = "{good}"
""",
    )
    done = subprocess.run(
        [*COMMAND, str(plan), "--out", str(tmp_path / "out"), "--json"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    told = json.loads(done.stdout)
    assert [job["state"] for job in told["jobs"]] == ["done", "blocked", "blocked", "blocked"]
    reasons = [job["reason"] for job in told["jobs"][1:]]
    for word, reason in zip(
        ("numbers.csv", "no-such-tool", "OPENAI_API_KEY"), reasons, strict=True
    ):
        assert word in reason


def test_a_run_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    good, bad = toy(tmp_path, "good"), toy(tmp_path, "bad")
    (Path(bad) / "initial.py").write_text("def run_code():\n    return [7.0]\n")
    _, projection = sweep(
        toy_plan(tmp_path, bad, good, iterations=1), tmp_path / "out", LocalExecutor(TWO)
    )
    found = [(job.state, job.reason) for job in projection.plan]
    assert [state for state, _ in found] == ["failed", "failed", "done", "done"]
    assert "outside [0, 1]" in found[0][1]


def test_evaluations_score_as_one_call_does_and_share_processes(tmp_path: Path) -> None:
    task = toy(tmp_path)
    programs = tmp_path / "programs"
    programs.mkdir()
    texts = {
        "good": "def run_code():\n    return [0.5, 0.75]\n",
        "bad": "def run_code():\n    return [2.0]\n",
        "crash": "def run_code():\n    raise ValueError('no')\n",
        "odd": "def run_code():\n    return [0.125]  # \udcff\n",
    }
    for name, text in texts.items():
        (programs / f"{name}.py").write_text(text, errors="surrogateescape")
    plan = write_plan(
        tmp_path,
        f"""
kind = "evaluations"
[grid]
task = ["{task}"]
program = ["{programs}/*.py"]
options = [{{ bonus = "1.0" }}]
""",
    )
    executor = LocalExecutor(Resources(1, 16_000))
    session = open_session(plan, tmp_path / "out")
    _, projection = drive(session, executor)
    executor.close()
    assert set(states(projection).values()) == {"done"}
    results = json.loads((tmp_path / "out" / "results.json").read_text())["results"]
    assert results == evaluations(tmp_path / "out")
    for result in results:
        alone = evaluate(task, result["program"], options={"bonus": "1.0"})
        same = ("status", "search", "objective", "ndg", "program_sha256", "artifact_sha256")
        assert {k: result[k] for k in same} == {k: alone.to_json()[k] for k in same}
        assert result["threads"] == 1
    again = LocalExecutor(TWO)
    drive(open_session(plan, tmp_path / "out"), again)
    assert again.workers() == {}


def test_room_is_cores_and_memory(tmp_path: Path) -> None:
    executor = LocalExecutor(Resources(3, 4000))
    job = Job("x", "evaluation", {}, Resources(2, 3000))
    assert executor.room(job.resources)
    executor._running["x"] = (job.resources, None)  # type: ignore[assignment]
    assert executor.room(Resources(1, 1000))
    assert not executor.room(Resources(2, 1000))
    assert not executor.room(Resources(1, 1001))
    executor._running.clear()
    assert executor.room(Resources(64, 10**6))  # takes everything there is


def test_a_second_driver_is_told_so(tmp_path: Path) -> None:
    plan = toy_plan(tmp_path, toy(tmp_path), iterations=1)
    with Ledger(tmp_path / "out"):
        refused = subprocess.run(
            [*COMMAND, str(plan), "--out", str(tmp_path / "out")], capture_output=True, text=True
        )
    assert refused.returncode == 2
    assert "another driver works on this sweep" in refused.stderr
    assert len(refused.stderr.splitlines()[-1:]) == 1
