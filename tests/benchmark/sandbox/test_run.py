"""Running commands inside a sandbox of each backend."""

from __future__ import annotations

from pathlib import Path

import pytest
from sandboxes import SessionMaker

from benchmark.evaluator import Crashed, OutOfMemory, TimedOut
from benchmark.sandbox import policy


def shell(script: str) -> list[str]:
    return ["/bin/sh", "-c", script]


@pytest.mark.parametrize(
    ("script", "returncode"),
    [("exit 0", 0), ("exit 3", 3), ("exit 200", 200), ("kill -TERM $$", -15), ("kill -9 $$", -9)],
)
def test_exit_codes_and_signals(make_session: SessionMaker, script: str, returncode: int) -> None:
    assert make_session().run(shell(script)).returncode == returncode


def test_a_missing_command(make_session: SessionMaker) -> None:
    done = make_session().run(["/no/such/command"])
    assert done.returncode == 127
    assert b"/no/such/command" in done.stderr


def test_input_output_and_errors(make_session: SessionMaker, tmp_path: Path) -> None:
    script = shell("cat; echo problem >&2")
    done = make_session().run(script, stdin=b"text \x00\xff")
    assert (done.stdout, done.stderr) == (b"text \x00\xff", b"problem\n")
    case = tmp_path / "case.txt"
    case.write_bytes(b"from a file")
    assert make_session().run(script, stdin=case).stdout == b"from a file"
    assert make_session().run(script).stdout == b""
    long = b"0123456789abcdef" * 200_000
    assert make_session().run(["cat"], stdin=long).stdout == long


def test_the_input_file_cannot_be_changed(make_session: SessionMaker, tmp_path: Path) -> None:
    case = tmp_path / "case.txt"
    case.write_text("held out")
    case.chmod(0o666)
    script = shell(
        "echo x >> /proc/self/fd/0; echo x > /dev/stdin; echo x >&0; ls -l /proc/self/fd/0; cat"
    )
    done = make_session().run(script, stdin=case)
    assert case.read_text() == "held out"
    assert done.stdout.endswith(b"held out")
    assert b"case.txt" not in done.stdout


def test_files_go_in_and_outputs_come_back(make_session: SessionMaker) -> None:
    done = make_session().run(
        shell("./tool && cat data > 'an output' && ln -s /etc/hostname link && mkdir folder"),
        files={"tool": b"#!/bin/sh\necho made\n", "data": b"\x00\x01"},
        outputs=["an output", "link", "folder", "missing", "-rf"],
    )
    assert (done.returncode, done.stdout) == (0, b"made\n")
    assert done.outputs == {"an output": b"\x00\x01"}


def test_outputs_of_a_failed_command_come_back_too(make_session: SessionMaker) -> None:
    done = make_session().run(shell("echo log > log; exit 4"), outputs=["log"])
    assert (done.returncode, done.outputs) == (4, {"log": b"log\n"})


def test_a_forged_archive_gives_nothing_new(make_session: SessionMaker) -> None:
    noise = "for fd in 3 4 5 6 7 8 9; do head -c 100000 /dev/urandom >&$fd; done"
    script = shell(f"{noise}; echo a > a")
    assert make_session().run(script, outputs=["a"]).outputs.keys() <= {"a"}
    script = shell("head -c 2000000 /dev/zero > big")
    done = make_session(scratch_mb=1).run(script, outputs=["big"])
    assert len(done.outputs.get("big", b"")) <= 1 << 20


def test_only_what_is_shown_is_there(make_session: SessionMaker, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    shown = tmp_path / "program"
    shown.write_text("#!/bin/sh\necho shown $1\n")
    shown.chmod(0o755)
    hidden = tmp_path / "hidden"
    hidden.write_text("secret")
    script = shell(f"{shown} 2.0; cat {hidden}; echo x > {shown}; echo x > {tmp_path}/new")
    done = make_session().run(script, visible=[shown])
    assert done.stdout == b"shown 2.0\n"
    assert not (tmp_path / "new").exists()
    assert "echo shown" in shown.read_text()


def test_private_files_of_the_user_can_be_shown(make_session: SessionMaker, tmp_path: Path) -> None:
    folder = tmp_path / "private"
    folder.mkdir(mode=0o700)
    shown = folder / "program"
    shown.write_text("#!/bin/sh\necho shown\n")
    shown.chmod(0o700)
    assert make_session().run([str(shown)], visible=[shown]).stdout == b"shown\n"


def test_what_lies_in_a_closed_folder_is_accessible_to_whoever_asks_first(
    make_session: SessionMaker, tmp_path: Path
) -> None:
    """Compilers look for their linker with ``access(2)``, which asks for the real user's rights."""
    closed = tmp_path / "closed"
    closed.mkdir()
    shown = closed / "tool"
    shown.write_text("found")
    shown.chmod(0o755)
    closed.chmod(0o700)
    asked = "import os, sys; tool = sys.argv[1]; print(os.access(tool, os.X_OK), open(tool).read())"
    command = [str(policy.visible().interpreter), "-c", asked, str(shown)]
    done = make_session().run(command, visible=[shown])
    assert done.stdout == b"True found\n"


def test_environment(make_session: SessionMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVODUET_TEST_API_KEY", "secret")
    done = make_session().run(["env"], env={"RUST_BACKTRACE": "1"})
    lines = done.stdout.decode().splitlines()
    assert "RUST_BACKTRACE=1" in lines
    assert "OMP_NUM_THREADS=1" in lines
    assert "secret" not in done.stdout.decode()


def test_limits_can_be_narrowed_for_one_command(make_session: SessionMaker) -> None:
    session = make_session()
    with pytest.raises(TimedOut, match=r"took more than 0\.3 s"):
        session.run(["sleep", "60"], wall_s=0.3)
    with pytest.raises(TimedOut, match=r"more than 0\.3 s of CPU time"):
        session.run(shell("while :; do :; done"), cpu_s=0.3)
    hoard = "(head -c 45000000 /dev/zero; sleep 60) | tail -c 45000000"
    with pytest.raises(OutOfMemory, match="used more than 64 MB"):
        session.run(shell(f"{hoard} & {hoard}"), memory_mb=64)


def test_a_sleeper_is_idle(make_session: SessionMaker) -> None:
    with pytest.raises(TimedOut, match=r"slept for 0\.3 s"):
        make_session(idle_s=0.3).run(["sleep", "60"])


def test_floods(make_session: SessionMaker) -> None:
    with pytest.raises(Crashed, match="printed more than 1 MB"):
        make_session(output_mb=1).run(["cat", "/dev/zero"])
    with pytest.raises(Crashed, match="more than 4 processes"):
        make_session(processes=4).run(shell("for i in 1 2 3 4 5 6; do sleep 60 & done; wait"))
    done = make_session(scratch_mb=1).run(shell("cat /dev/zero > file; sleep 0.4; exit 5"))
    assert done.returncode == 5


def test_cost_is_measured(make_session: SessionMaker) -> None:
    session = make_session()
    script = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
    done = session.run(shell(f"({script}) & ({script}); wait"))
    idle = session.run(["true"])
    assert done.cpu_s > 0.1
    assert done.cpu_s > 3 * idle.cpu_s
    assert session.account.cpu_s == pytest.approx(done.cpu_s + idle.cpu_s)
    assert session.account.wall_s == pytest.approx(done.wall_s + idle.wall_s)


def test_what_a_command_leaves_running_is_ended(make_session: SessionMaker) -> None:
    done = make_session().run(shell("(trap '' TERM HUP; sleep 61) & setsid sleep 61 & echo done"))
    assert (done.returncode, done.stdout) == (0, b"done\n")


def test_files_can_be_renamed_between_folders(make_session: SessionMaker) -> None:
    """Compilers do so: they would fail where it is taken away."""
    script = shell(
        "mkdir a b && echo moved > a/file && ln a/file b/link && mv a/file b/ && cat b/*"
    )
    done = make_session().run(script)
    assert (done.returncode, done.stdout) == (0, b"moved\nmoved\n"), done.stderr
