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
from dataclasses import dataclass
from pathlib import Path

import pytest
from hostile import HONEST, PROGRAMS, attack, nothing_left

from benchmark.harness import Harness
from benchmark.sandbox import process
from benchmark.sandbox.inside import landlock
from benchmark.sandbox.jail import SandboxBroken

SET_SUBREAPER = 36


@dataclass(frozen=True)
class Expected:
    """Allowed verdicts, a part of the reason, and the wall time that the program is given."""

    statuses: str
    reason: str = ""
    wall_s: float = 3.0


EXPECTED = {
    # What comes out is checked where the candidate cannot reach.
    "nan": Expected("invalid", "outside"),
    "infinity": Expected("invalid", "outside"),
    "negative": Expected("invalid", "outside"),
    "huge_numbers": Expected("invalid", "int of 10000001 bits"),
    "object_array": Expected("invalid", "array of dtype object"),
    "lying_subclasses": Expected("valid"),
    "rebinding": Expected("invalid crashed"),
    "walking_frames": Expected("valid invalid"),
    "nested_return": Expected("invalid", "nested more than"),
    "endless_answer": Expected("invalid", "more than"),
    # The result channel carries the candidate's own answer, whoever writes it.
    "forged_frame": Expected("invalid", "outside"),
    "forged_verdict": Expected("invalid", "something else than its answer"),
    "forged_failure": Expected("invalid"),
    "garbage_frames": Expected("invalid"),
    "oversize_frame": Expected("invalid"),
    "partial_frame": Expected("timeout", wall_s=1.0),
    "closed_descriptors": Expected("timeout", wall_s=1.0),
    "forged_files": Expected("valid"),
    "exit_before_returning": Expected("crashed", "exited with status 0 before"),
    "system_exit": Expected("crashed", "exited before returning"),
    "late_thread": Expected("valid"),
    # Processes.
    "fork_storm": Expected("crashed", "more than 16 processes"),
    "thread_storm": Expected("crashed out_of_memory"),
    "daemon_children": Expected("valid"),
    "ignored_signals": Expected("timeout", wall_s=1.0),
    "killing_parents": Expected("valid crashed timeout", wall_s=1.0),  # it may stop itself
    "meddling": Expected("valid crashed"),
    "stack_overflow": Expected("crashed", "SIGSEGV"),
    # Floods.
    "memory_flood": Expected("out_of_memory"),
    "memory_flood_shared_out": Expected("out_of_memory", "more than 512 MB"),
    "disk_flood": Expected("crashed"),
    "disk_flood_deleted": Expected("crashed"),
    "file_flood": Expected("crashed timeout"),
    "sparse_file": Expected("crashed", "File too large"),
    "output_flood": Expected("crashed", "printed more than"),
    # Looking and reaching out.
    "reading_environment": Expected("valid"),
    "reading_proc": Expected("valid"),
    "reading_repository": Expected("valid"),
    "importing_the_harness": Expected("valid"),
    "writing_outside": Expected("valid crashed"),
    "symlinks": Expected("valid crashed"),
}

NOT_PROMISED_BARE = {
    # Without namespaces and without Landlock a program is the user: what he can read and write, it
    # can. The verdict is still the harness's own, and no process outlives it.
    "reading_environment",
    "reading_proc",
    "reading_repository",
    "importing_the_harness",
    "writing_outside",
    "forged_files",
}
SEPARATE = {"network", "local_socket", "killing_everything"}


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
    assert result.wall_s < expected.wall_s + 8.0


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
