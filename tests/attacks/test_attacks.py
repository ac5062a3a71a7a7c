"""Every hostile program, with every isolation level: its verdict, and that nothing is left."""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hostile import (
    EXPECTED,
    HONEST,
    NOT_PROMISED_BARE,
    PROGRAMS,
    SEPARATE,
    SET_SUBREAPER,
    attack,
    nothing_left,
)

from benchmark.harness import Harness
from benchmark.sandbox import process
from benchmark.sandbox.inside import landlock
from benchmark.sandbox.jail import SandboxBroken


def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the backend ``process`` believe that this kernel has no Landlock."""
    monkeypatch.setattr(landlock, "abi", lambda: 0)


@pytest.fixture(params=["bubblewrap", "process+landlock", "process"])
def harness(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Harness]:
    level: str = request.param
    if level == "process+landlock" and not landlock.abi():
        pytest.skip("this kernel has no Landlock")
    if level == "process":
        bare(monkeypatch)
    try:
        made = Harness(level.partition("+")[0])
    except SandboxBroken as reason:
        pytest.skip(str(reason))
    assert made.isolation == level
    ctypes.CDLL(None).prctl(SET_SUBREAPER, 1, 0, 0, 0)
    with made:
        yield made


def _candidates_are_root() -> bool:
    return os.getuid() == 0 and process.user_of_candidates(()) is None


def test_every_program_is_expected_here() -> None:
    assert {path.stem for path in PROGRAMS.glob("*.py")} == EXPECTED.keys() | SEPARATE
    assert EXPECTED.keys() >= NOT_PROMISED_BARE


@pytest.mark.parametrize("name", EXPECTED)
def test_attack(
    name: str, harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if harness.isolation == "process" and name in NOT_PROMISED_BARE:
        pytest.skip("not promised without namespaces and without Landlock")
    if name == "fork_storm" and harness.isolation == "process" and _candidates_are_root():
        pytest.skip("the kernel does not limit root's processes, and nobody cannot run this Python")
    monkeypatch.setenv("EVODUET_TEST_API_KEY", "key-of-the-attack-test")
    expected = EXPECTED[name]
    with nothing_left(tmp_path):
        result = attack(name, tmp_path, harness, expected.wall_s)
    assert result.status in expected.statuses.split(), (result.reason, result.stderr_tail)
    assert expected.reason in result.reason
    assert result.reason.isprintable()
    assert len(result.reason) <= 600
    assert result.search == (HONEST if result.valid else None)
    assert result.isolation == harness.isolation
    assert result.wall_s < expected.wall_s + 10.0


def test_nothing_reaches_the_network(harness: Harness, tmp_path: Path) -> None:
    with ExitStack() as stack:
        stream = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = stream.getsockname()[1]
        datagrams = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        datagrams.bind(("127.0.0.1", port))
        with nothing_left(tmp_path):
            result = attack("network", tmp_path, harness, PORT=port)
        assert result.search == HONEST, result.reason
        for listener in (stream, datagrams):
            listener.setblocking(False)
            with pytest.raises(BlockingIOError):
                listener.accept() if listener is stream else listener.recv(100)


def test_nothing_reaches_local_daemons(harness: Harness, tmp_path: Path) -> None:
    abstract = f"evoduet-attack-{os.getpid()}"
    with ExitStack() as stack:
        path = str(tmp_path / "daemon")
        listeners = []
        for address in (path, "\0" + abstract):
            listener = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            listener.bind(address)
            listener.listen()
            listener.setblocking(False)
            listeners.append(listener)
        with nothing_left(tmp_path):
            result = attack("local_socket", tmp_path, harness, PATH=path, ABSTRACT=abstract)
        assert result.search == HONEST, result.reason
        for listener in listeners:
            with pytest.raises(BlockingIOError):
                listener.accept()


def test_the_network_can_be_allowed(tmp_path: Path) -> None:
    for level in ("bubblewrap", "process"):
        try:
            harness = Harness(level, network=True)
        except SandboxBroken:
            continue
        assert harness.isolation.endswith("+network")
        with socket.create_server(("127.0.0.1", 0)) as stream, harness:
            port = stream.getsockname()[1]
            attack("network", tmp_path, harness, PORT=port)
            stream.setblocking(False)
            stream.accept()[0].close()


@pytest.mark.parametrize("level", ["bubblewrap", "process"])
def test_killing_everything(level: str, tmp_path: Path) -> None:
    """In a process namespace of its own: were the sandbox broken, this machine would not be.

    Not promised without namespaces and without Landlock: one user's processes can end each other.
    """
    if level == "process" and landlock.abi() < landlock.SIGNALS_SINCE:
        pytest.skip("Landlock of this kernel does not know signals")
    script = tmp_path / "witnesses.py"
    script.write_text(
        textwrap.dedent(f"""
        import subprocess, sys
        sys.path[:0] = {[str(PROGRAMS.parents[1]), str(PROGRAMS.parents[2])]!r}
        from pathlib import Path
        from hostile import attack
        from benchmark.harness import Harness
        witness = subprocess.Popen(["sleep", "60"], start_new_session=True)
        with Harness({level!r}) as harness:
            result = attack("killing_everything", Path({str(tmp_path)!r}), harness)
        print(result.status, result.search, witness.poll(), len(list(Path("/proc").glob("[0-9]*"))))
        witness.kill()
        """)
    )
    unshare = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    if os.getuid():
        unshare += ["--user", "--map-current-user"]
    if shutil.which("unshare") is None or subprocess.run([*unshare, "true"]).returncode:
        pytest.skip("no process namespace to be had from unshare")
    run = subprocess.run(
        [*unshare, sys.executable, str(script)], capture_output=True, text=True, timeout=60
    )
    if not run.stdout and "does not work here" in run.stderr:
        pytest.skip(run.stderr.strip().splitlines()[-1])
    # Alive: the harness, which is process 1 there, and the witness.
    alive = ["None", "2"]
    assert run.stdout.split() in (["valid", "1.0", *alive], ["crashed", "None", *alive]), (
        run.stdout + run.stderr
    )
