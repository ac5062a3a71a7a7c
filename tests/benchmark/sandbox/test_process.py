"""What the backend without namespaces is built of: Landlock, its supervisor, the last resort."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sandboxes import launcher_of

from benchmark.evaluator import Call, Crashed, TimedOut
from benchmark.sandbox import process
from benchmark.sandbox.inside import landlock, tree
from benchmark.sandbox.jail import Jail
from benchmark.sandbox.limits import Limits
from benchmark.sandbox.session import Session

needs_landlock = pytest.mark.skipif(not landlock.abi(), reason="this kernel has no Landlock")
NO_NEW_PRIVILEGES, SET_SUBREAPER = 38, 36

DAEMON = """
import os, time
def run():
    for _ in range(2):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(60)
            os._exit(0)
    time.sleep(60)
"""


def in_child(check: Callable[[], None]) -> None:
    """Run a check in a forked process, which it may restrict for good."""
    pid = os.fork()
    if pid == 0:
        try:
            ctypes.CDLL(None).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
            check()
            os._exit(0)
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


@needs_landlock
def test_masked_folders_stay_closed_and_deeper_ones_show_through(tmp_path: Path) -> None:
    for name in ("open", "own", "own/tools", "open/below"):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "file").write_text(name)
    (tmp_path / "top").write_text("top")
    rules = [*process._around(tmp_path, (tmp_path / "own",)), (f"{tmp_path}/own/tools", "read")]

    def check() -> None:
        landlock.restrict([*rules, ("/no/such/path", "read")], network=False)
        assert sorted(os.listdir(tmp_path)) == ["open", "own", "top"]
        assert (tmp_path / "open" / "below" / "file").read_text() == "open/below"
        assert (tmp_path / "own" / "tools" / "file").read_text() == "own/tools"
        for path in (tmp_path / "own" / "file", Path("/etc/hostname"), tmp_path.parent):
            with pytest.raises(PermissionError):
                path.read_text() if path.is_file() else os.listdir(path)
        with pytest.raises(PermissionError):
            (tmp_path / "open" / "new").write_text("x")

    in_child(check)


@needs_landlock
def test_write_access_is_for_one_folder(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    (tmp_path / "other").write_text("kept")

    def check() -> None:
        landlock.restrict([(str(tmp_path / "scratch"), "write"), ("/dev/null", "device")], False)
        (tmp_path / "scratch" / "a").mkdir()
        (tmp_path / "scratch" / "a" / "file").write_text("x")
        os.rename(tmp_path / "scratch" / "a", tmp_path / "scratch" / "b")
        Path("/dev/null").write_text("x")
        other, inside = tmp_path / "other", tmp_path / "scratch" / "other"
        changes: list[Callable[[], None]] = [
            lambda: os.truncate(other, 0),
            lambda: os.unlink(other),
            lambda: os.rename(other, inside),
            lambda: os.link(other, inside),
            lambda: os.mkdir(tmp_path / "new"),
        ]
        for change in changes:
            with pytest.raises(OSError):  # noqa: PT011 - EXDEV or EACCES, the kernel decides
                change()

    in_child(check)
    assert (tmp_path / "other").read_text() == "kept"


@pytest.mark.skipif(landlock.abi() < 4, reason="Landlock of this kernel does not know TCP")
def test_tcp_is_closed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()

        def check() -> None:
            landlock.restrict([("/", "read")], network=False)
            with pytest.raises(PermissionError):
                socket.create_connection(address, timeout=1)

        def open_network() -> None:
            landlock.restrict([("/", "read")], network=True)
            socket.create_connection(address, timeout=1).close()

        in_child(check)
        in_child(open_network)


@pytest.mark.skipif(
    landlock.abi() < landlock.SIGNALS_SINCE, reason="Landlock of this kernel does not know signals"
)
def test_signals_stay_inside() -> None:
    parent = os.getpid()

    def check() -> None:
        landlock.keep_signals()
        with pytest.raises(PermissionError):
            os.kill(parent, 0)
        pid = os.fork()
        if pid == 0:
            time.sleep(60)
            os._exit(0)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    in_child(check)


@pytest.fixture(params=["landlock", "bare"])
def session(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Session:
    if request.param == "bare":
        monkeypatch.setattr(landlock, "abi", lambda: 0)
    elif not landlock.abi():
        pytest.skip("this kernel has no Landlock")
    ctypes.CDLL(None).prctl(SET_SUBREAPER, 1, 0, 0, 0)
    return Session(launcher_of("process"), Limits(wall_s=1.5))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def test_a_supervisor_that_cannot_do_its_work(
    session: Session, number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The harness finds and ends what a killed supervisor leaves, and wakes a stopped one."""
    program = tmp_path / "program.py"
    program.write_text(DAEMON)
    before = set(tree.descendants(os.getpid()))
    jails: list[Jail] = []
    start = process.start

    def remembering(*arguments: object, **named: object) -> Jail:
        jails.append(start(*arguments, **named))  # type: ignore[arg-type]
        return jails[-1]

    monkeypatch.setattr(process, "start", remembering)

    def interfere() -> None:
        while not jails or len(jails[0].untrusted()) < 3:
            time.sleep(0.01)
        os.kill(jails[0].outer.pid, number)

    thread = threading.Thread(target=interfere)
    thread.start()
    with pytest.raises((Crashed, TimedOut)):
        session.call(program, [Call("run")])
    thread.join()
    assert set(tree.descendants(os.getpid())) <= before
