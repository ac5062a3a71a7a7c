"""Candidates' processes killed from outside, and a harness that is killed: the others go on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sandboxes import BACKENDS
from toy_task import write_toy_task

from benchmark import Evaluation, evaluate
from benchmark.evaluation import load_evaluator, prepare
from benchmark.harness import Harness
from benchmark.sandbox.inside import tree
from benchmark.sandbox.jail import SandboxBroken

GOOD = "def run_code():\n    return [1.0, 0.5]\n"
WAITING = """
import time

def run_code():
    print("ready", flush=True)
    open("ready-{mark}", "w").close()
    time.sleep(60)
    return [1.0]
"""


@pytest.fixture
def task(tmp_path: Path) -> str:
    return str(write_toy_task(tmp_path))


@pytest.fixture(params=BACKENDS)
def harness(request: pytest.FixtureRequest) -> Iterator[Harness]:
    try:
        made = Harness(request.param, workers=2, prewarm=True)
    except SandboxBroken as reason:
        pytest.skip(str(reason))
    with made:
        yield made


def eventually(holds: Callable[[], bool], seconds: float = 30.0) -> bool:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def in_thread(
    task: str, program: Path, harness: Harness, found: list[Evaluation]
) -> threading.Thread:
    thread = threading.Thread(
        target=lambda: found.append(evaluate(task, program, harness=harness, wall_s=60))
    )
    thread.start()
    return thread


def sleepers(below: int) -> list[int]:
    """Processes that sleep inside a candidate: the innermost ones that wait in ``time.sleep``."""
    found = []
    for pid in tree.descendants(below):
        try:
            wait = Path(f"/proc/{pid}/wchan").read_text()
            name = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if "nanosleep" in wait and b"python" in name:
            found.append(pid)
    return found


def test_a_killed_worker_is_one_verdict_and_the_next_is_not_touched(
    task: str, tmp_path: Path, harness: Harness
) -> None:
    before = set(tree.descendants(os.getpid()))
    program, good = tmp_path / "waiting.py", tmp_path / "good.py"
    program.write_text(WAITING.format(mark="x"))
    good.write_text(GOOD)
    found: list[Evaluation] = []
    thread = in_thread(task, program, harness, found)
    assert eventually(lambda: bool(set(sleepers(os.getpid())) - before))
    (victim, *_) = sorted(set(sleepers(os.getpid())) - before)
    os.kill(victim, signal.SIGKILL)
    beside = evaluate(task, good, harness=harness)
    thread.join(30)
    (killed,) = found
    assert killed.status == "crashed"
    assert "SIGKILL" in killed.reason
    assert killed.search is None
    assert killed.wall_s < 30
    assert (beside.status, beside.search) == ("valid", 1.5)
    assert evaluate(task, good, harness=harness).search == 1.5


def test_waiting_workers_that_are_killed_cost_nobody_a_verdict(
    task: str, tmp_path: Path, harness: Harness
) -> None:
    good = tmp_path / "good.py"
    good.write_text(GOOD)
    pool = harness._pool
    assert pool is not None
    for _ in range(3):
        assert eventually(lambda: pool.ready == 2)
        killed = list(tree.descendants(os.getpid()))
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        assert eventually(lambda pids=killed: not any(map(_alive, pids)))
        result = evaluate(task, good, harness=harness)
        assert (result.status, result.search) == ("valid", 1.5), result.reason


def test_a_killed_suite_leaves_nothing_and_can_be_run_again(tmp_path: Path) -> None:
    """Its sandboxes end with it, and what it had finished is told by running it again."""
    programs = tmp_path / "programs"
    programs.mkdir()
    mark = f"evoduet-killed-suite-{os.getpid()}"
    (programs / "labs_27.py").write_text(
        f"import subprocess, time\nsubprocess.Popen(['sleep', '1234', '{mark}'][:2])\n"
        f"def solve(payload):\n    time.sleep(60)\n    return '{mark}'\n"
    )
    out = tmp_path / "suite.json"
    command = [sys.executable, "-m", "benchmark.cli", "suite", "--select", "labs_27",
               "--programs", str(programs), "--out", str(out)]  # fmt: skip
    suite = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)
    assert eventually(lambda: bool(sleepers(suite.pid)))
    below = list(tree.descendants(suite.pid))
    assert len(below) >= 2
    suite.kill()
    suite.wait()
    assert eventually(lambda: not any(map(_alive, below)))
    assert not out.exists()
    (programs / "labs_27.py").unlink()
    command[command.index("--programs") : command.index("--out")] = []
    assert subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0
    assert len(json.loads(out.read_text())["results"]) == 1


def test_threads_that_ask_for_one_evaluator_at_once(tmp_path: Path) -> None:
    """None of them sees a module that another has half loaded, nor one that did not load."""
    folder = write_toy_task(tmp_path)
    evaluator = folder / "evaluator.py"
    text = evaluator.read_text()
    setup = prepare(str(folder))
    evaluator.write_text("raise OSError('the disk is away')\n")
    with pytest.raises(OSError, match="the disk is away"):
        load_evaluator(setup)
    evaluator.write_text(f"import time\n\ntime.sleep(0.3)\n{text}")
    with ThreadPoolExecutor(8) as threads:
        found = [threads.submit(load_evaluator, setup) for _ in range(8)]
        assert {type(one.result()).__name__ for one in found} == {"VectorSum"}


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
