"""Choosing an isolation level, saying so, and dying with the harness."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandboxes import BACKENDS, launcher_of

from benchmark.sandbox import bubblewrap, launch, process
from benchmark.sandbox.inside import landlock, tree
from benchmark.sandbox.jail import SandboxBroken, stat_fields
from benchmark.sandbox.limits import Limits


@pytest.fixture
def no_namespaces(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def refuse(*arguments: object, **named: object) -> None:
        raise SandboxBroken("No permissions to create a new namespace")

    monkeypatch.setattr(bubblewrap, "start", refuse)
    for cached in (launch._problem, launch._require_process):
        cached.cache_clear()
    yield
    for cached in (launch._problem, launch._require_process):
        cached.cache_clear()


def test_auto_takes_the_strongest() -> None:
    assert launcher_of("auto").isolation == launcher_of("bubblewrap").isolation == "bubblewrap"
    assert launch.choose("auto", 1, network=True).isolation == "bubblewrap+network"


def test_auto_falls_back_and_says_so_once(
    no_namespaces: None, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        levels = {launch.choose("auto", 1).isolation for _ in range(3)}
    assert levels == {process.level()}
    (message,) = [record.getMessage() for record in caplog.records]
    assert message.startswith("bubblewrap does not work here: No permissions")
    assert message.endswith(f"isolation level {process.level()}") or "break out" in message
    assert "\n" not in message


def test_a_named_level_that_does_not_work_says_what_to_do(no_namespaces: None) -> None:
    with pytest.raises(SandboxBroken, match=r"No permissions .*use --isolation process"):
        launch.choose("bubblewrap", 1)


def test_nothing_works(no_namespaces: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "INSIDE", "/no/such/folder")
    with pytest.raises(SandboxBroken, match=r"no isolation works here: bubblewrap .*; process "):
        launch.choose("auto", 1)
    with pytest.raises(SandboxBroken, match=r"process does not work here: .*it needs Linux"):
        launch.choose("process", 1)


def test_unknown_names() -> None:
    with pytest.raises(SandboxBroken, match="unknown isolation 'docker': use auto, bubblewrap"):
        launch.choose("docker", 1)


def test_the_level_tells_what_landlock_adds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "abi", lambda: 4)
    assert process.level() == "process+landlock"
    monkeypatch.setattr(landlock, "abi", lambda: 0)
    assert process.level() == "process"


def test_an_interpreter_that_does_not_start_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = launcher_of("process")
    monkeypatch.setattr(process, "PRELUDE", "raise SystemError('no such thing'); ")
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(SandboxBroken, match="does not start in the sandbox: SystemError"):
        launcher.start_runner(Limits())
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("prewarm", [False, True], ids=["cold", "prewarmed"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_everything_dies_with_the_harness(backend: str, prewarm: bool, tmp_path: Path) -> None:
    """The harness is killed while a candidate and its daemon run, in a thread of the harness."""
    launcher_of(backend)
    program = tmp_path / "program.py"
    program.write_text(
        "import os, time\ndef run():\n    if os.fork() == 0:\n        os.setsid()\n"
        "        os.fork()\n    time.sleep(60)"
    )
    script = tmp_path / "harness.py"
    script.write_text(
        textwrap.dedent(f"""
        import os, sys, threading, time
        from pathlib import Path
        from benchmark.evaluator import Call
        from benchmark.harness import Harness
        from benchmark.sandbox.inside import tree
        from benchmark.sandbox.limits import Limits
        harness = Harness({backend!r}, prewarm={prewarm})
        session = harness.session(Limits(wall_s=50))
        program = Path({str(program)!r})
        threading.Thread(
            target=session.call, args=(program, [Call("run")]), daemon=True
        ).start()
        pool = harness._pool
        while pool and not pool.ready:  # no sandbox is half started when the harness is killed
            time.sleep(0.01)
        wanted = {4 + 2 * prewarm + 1}
        while len(found := list(tree.descendants(os.getpid()))) < wanted:
            time.sleep(0.01)
        print(*found, flush=True)
        time.sleep(60)
        """)
    )
    harness = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True,
        cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3]), "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert harness.stdout is not None
    pids = [int(word) for word in harness.stdout.readline().split()]
    assert len(pids) >= 5
    born = {pid: fields[19] for pid in pids if (fields := stat_fields(pid)) is not None}
    harness.send_signal(signal.SIGKILL)
    harness.wait()
    harness.stdout.close()
    deadline = time.monotonic() + 20
    while left := [
        *(pid for pid in born if _alive(pid, born[pid])),
        *tmp_path.glob("evoduet-*"),
    ]:
        assert time.monotonic() < deadline, f"still there: {left}"
        time.sleep(0.02)


def _alive(pid: int, born: bytes) -> bool:
    fields = stat_fields(pid)
    return fields is not None and fields[19] == born and fields[0] != b"Z"


def test_killing_a_tree(tmp_path: Path) -> None:
    script = "sleep 60 & setsid sh -c 'sleep 60 & sleep 60' & wait"
    top = subprocess.Popen(["/bin/sh", "-c", script])
    while len(list(tree.descendants(top.pid))) < 4:
        time.sleep(0.01)
    assert tree.kill_below(top.pid)
    assert top.wait(10) is not None
    assert not tree.kill_below(top.pid)
