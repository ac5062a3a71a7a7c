"""Prewarmed sandboxes: used once, replaced when they died, ended with the pool."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sandboxes import launcher_of

from benchmark.evaluator import Call, Crashed
from benchmark.sandbox.inside import tree
from benchmark.sandbox.jail import SandboxBroken
from benchmark.sandbox.launch import Launcher, Runner
from benchmark.sandbox.limits import Limits
from benchmark.sandbox.pool import Pool
from benchmark.sandbox.session import Session

TEXT = """
import os, sys
first = not hasattr(os, "seen")
os.seen = True
def run():
    return [first, "numpy" in sys.modules, "scipy" in sys.modules, os.getppid()]
"""


@pytest.fixture
def pool(launcher: Launcher) -> Iterator[Pool]:
    made = Pool(launcher, 2, ("numpy", "no_such_library"))
    yield made
    made.close()


def run(pool: Pool, launcher: Launcher, folder: Path, **limits: Any) -> Any:
    program = folder / "program.py"
    program.write_text(TEXT)
    session = Session(launcher, Limits(wall_s=20, **limits), pool.take)
    return session.call(program, [Call("run")])[0]


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_each_is_used_once(pool: Pool, launcher: Launcher, tmp_path: Path) -> None:
    for _ in range(4):
        assert run(pool, launcher, tmp_path)[:3] == [True, True, False]
    wait_for(lambda: pool.ready == 2)


def test_a_larger_scratch_folder_starts_cold(
    pool: Pool, launcher: Launcher, tmp_path: Path
) -> None:
    wait_for(lambda: pool.ready == 2)
    assert run(pool, launcher, tmp_path, scratch_mb=300)[:2] == [True, False]
    assert pool.ready == 2
    assert run(pool, launcher, tmp_path, scratch_mb=8)[:2] == [True, True]


def test_a_smaller_scratch_folder_is_watched(
    pool: Pool, launcher: Launcher, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import time\ndef run():\n    for i in range(20):\n"
        "        open(str(i), 'wb').write(bytes([1]) * (1 << 20))\n    time.sleep(60)"
    )
    session = Session(launcher, Limits(wall_s=20, scratch_mb=8), pool.take)
    with pytest.raises(Crashed, match="wrote more than 8 MB"):
        session.call(program, [Call("run")])


def test_one_that_died_waiting_is_replaced(pool: Pool, launcher: Launcher, tmp_path: Path) -> None:
    wait_for(lambda: pool.ready == 2)
    for runner in list(pool._ready.queue):
        os.kill(runner.jail.outer.pid, 9)
        assert runner.jail.exits_within(10)
    assert run(pool, launcher, tmp_path)[:2] == [True, True]


def test_closing_ends_all_that_wait(launcher: Launcher) -> None:
    before = set(tree.descendants(os.getpid()))
    descriptors = len(os.listdir("/proc/self/fd"))
    made = Pool(launcher, 3, ())
    wait_for(lambda: made.ready == 3)
    made.close()
    assert set(tree.descendants(os.getpid())) <= before
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_closing_does_not_end_an_evaluation(launcher: Launcher, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import time\ndef run():\n    time.sleep(0.8)\n    return 7")
    made = Pool(launcher, 1, ())
    answers = []
    session = Session(launcher, Limits(wall_s=20), made.take)
    thread = threading.Thread(target=lambda: answers.extend(session.call(program, [Call("run")])))
    wait_for(lambda: made.ready == 1)
    thread.start()
    wait_for(lambda: bool(made._handed_out))
    made.close()
    thread.join()
    assert answers == [7]


def test_without_sandboxes_the_reason_is_the_evaluations(tmp_path: Path) -> None:
    launcher = launcher_of("process")

    class Broken(Launcher):
        def start_runner(self, *arguments: Any, **named: Any) -> Runner:
            raise SandboxBroken("out of everything")

    broken = Broken(launcher.backend, 1)
    made = Pool(broken, 1, ())
    with pytest.raises(SandboxBroken, match="out of everything"):
        run(made, broken, tmp_path)
    made.close()
