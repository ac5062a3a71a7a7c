"""The weaker backend, for machines without namespaces: a supervised process tree.

A supervisor (:mod:`benchmark.sandbox.inside.supervisor`) starts the candidate in a session of its
own, in a private temporary folder, with a cleared environment and no capabilities, and ends every
process of it. The parent watches the folder's size. Where the kernel has them, Landlock restricts
what can be read to what :mod:`benchmark.sandbox.policy` shows and what can be written to the
private folder, and a system-call filter takes sockets, other processes and keys away.

What it does not give, compared with bubblewrap: the candidate sees its host process ids, has no
folders ``/tmp`` and ``/dev/shm`` of its own (:mod:`multiprocessing` works with forked processes
only), no sockets, and without Landlock it can read what the user can read.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from benchmark.sandbox import policy, scratch
from benchmark.sandbox.inside import landlock, seccomp, tree
from benchmark.sandbox.jail import Jail, SandboxBroken, Storage, last_line, stat_fields
from benchmark.sandbox.limits import NOBODY, Limits

NAME = "process"
INSIDE = str(policy.INSIDE)
PRELUDE = "import semaphores; semaphores.install(); "
"""What the runner does first in this backend."""
START_PATIENCE_S = 30.0
END_PATIENCE_S = 5.0
_SET_SUBREAPER = 36


def level() -> str:
    """What an evaluation records as its isolation."""
    return f"{NAME}+landlock" if landlock.abi() else NAME


class ProcessJail(Jail):
    """``outer`` is the supervisor; it exits when no process below it is left.

    If a candidate or the kernel killed it first, its processes come to the harness, which is a
    sub-reaper too, and are known there by their system-call filter or from an earlier look.
    """

    def __init__(
        self, outer: subprocess.Popen[bytes], first: int, built_s: float, folder: Path
    ) -> None:
        super().__init__(outer, first)
        self.built_s = built_s
        self.folder = folder

    def storage(self) -> Storage:
        return scratch.usage(self.folder, self.untrusted())

    def _kill_tree(self, crowded: bool) -> None:
        os.kill(self.outer.pid, signal.SIGTERM)
        os.kill(self.outer.pid, signal.SIGCONT)  # a candidate may have stopped it
        if not self.exits_within(END_PATIENCE_S):
            self.outer.kill()

    def _clean_up(self) -> None:
        assert self.returncode is not None
        if self.returncode < 0:  # it exits by itself only when nothing is left below it
            self._hunt()
        scratch.remove(self.folder)

    def _hunt(self) -> None:
        deadline = time.monotonic() + END_PATIENCE_S
        while escaped := self._escaped():
            if time.monotonic() > deadline:
                raise SandboxBroken(f"processes {sorted(escaped)} cannot be killed")
            for pid in escaped:
                tree.kill_below(pid)
                tree.kill_quietly(pid)
            time.sleep(0.002)
            for pid in escaped:
                _collect(pid)

    def _escaped(self) -> set[int]:
        """Processes that outlived their supervisor, zombies that we must collect included."""
        seen = {pid for pid, born in self.ticks_seen if _born(pid) == born}
        seen.discard(self.outer.pid)
        own = _filters(os.getpid())
        return seen | {pid for pid in tree.children(os.getpid()) if _filters(pid) > own}


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
    """Start ``argv`` in a new jail, in a scratch folder that holds ``files``.

    Raises :class:`SandboxBroken` when there is none to be had.
    """
    _become_subreaper()
    user = user_of_candidates(visible)
    folder = Path(tempfile.mkdtemp(prefix="evoduet-"))
    try:
        _fill(folder, files or {}, user)
        report_read, report_write = os.pipe()
        settings = {
            "harness": os.getpid(),
            "argv": list(argv),
            "paths": _paths(folder, visible, network) if landlock.abi() else None,
            "network": network,
            "tasks": limits.tasks(),
            "user": user,
            "folder": str(folder),
            "report": report_write,
        }
        settings_fd = policy.memory_file(marshal.dumps(settings))
        try:
            outer = subprocess.Popen(
                _supervisor_command(settings_fd),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={"HOME": str(folder), "TMPDIR": str(folder), **env},
                pass_fds=[*pass_fds, settings_fd, report_write],
                cwd=folder,
                start_new_session=True,
            )
        finally:
            os.close(settings_fd)
            os.close(report_write)
        try:
            return ProcessJail(outer, *_first_process(report_read, outer), folder)
        finally:
            os.close(report_read)
    except BaseException as error:
        scratch.remove(folder)
        if isinstance(error, OSError):
            raise SandboxBroken(f"no supervised process: {error}") from None
        raise


def becoming_nobody(visible: Sequence[Path] = ()) -> Sequence[str]:
    """What to put before an untrusted command: nothing, the supervisor does it."""
    return ()


def user_of_candidates(visible: Sequence[Path]) -> int | None:
    """Whom root's candidates become: a user without any rights, if he can execute what he must.

    The kernel exempts root from RLIMIT_NPROC. With Landlock such a user may be let through closed
    folders; without, every folder on the way must be open to him.
    """
    if os.getuid() != 0 or not seccomp.program(()) or not policy.all_readable():
        return None
    needed = [Path(tempfile.gettempdir()), *visible]
    if not all(policy.readable_by_all(path) for path in needed):
        return None
    if not landlock.abi() and not (
        policy.all_reachable() and all(policy.reachable_by_all(path) for path in needed)
    ):
        return None
    return NOBODY


def _fill(folder: Path, files: Mapping[str, bytes], user: int | None) -> None:
    for name, content in files.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o700)
    if user is not None:
        for path in (folder, *folder.iterdir()):
            os.chown(path, user, user)


def _supervisor_command(settings_fd: int) -> list[str]:
    code = f"import sys; sys.path.insert(0, {INSIDE!r}); import supervisor; "
    interpreter = str(policy.visible().interpreter)
    return [interpreter, "-I", "-S", "-B", "-c", f"{code}supervisor.main({settings_fd})"]


def _first_process(report_fd: int, outer: subprocess.Popen[bytes]) -> tuple[int, float]:
    """Wait until the command has been executed: its id and the CPU seconds that went before."""
    content = b""
    while True:
        ready, _, _ = select.select([report_fd], [], [], START_PATIENCE_S)
        part = os.read(report_fd, 4096) if ready else b""
        if not part:
            break
        content += part
    lines = content.decode(errors="replace").splitlines()
    started = [line.split() for line in lines if not line.startswith("error: ")]
    if len(lines) == 1 and started:
        return int(started[0][0]), int(started[0][1]) * 1e-9
    outer.kill()
    _, stderr = outer.communicate()
    problem = " ".join(line for line in lines if line.startswith("error: "))
    raise SandboxBroken(problem or last_line(stderr) or "no answer")


def _paths(folder: Path, visible: Sequence[Path], network: bool) -> list[tuple[str, str]]:
    shown = [*_shown(network), *((str(path), "read") for path in visible)]
    return [*shown, (INSIDE, "read"), (str(folder), "write")]


@cache
def _shown(network: bool) -> list[tuple[str, str]]:
    """The policy as rules that can only allow: what surrounds a masked path is listed alone."""
    shown = policy.visible()
    found = [(name, "device") for name in policy.DEVICES]
    found += [(name, "read") for name in policy.PROC]
    for path in (*shown.paths, *(policy.network_files() if network else ())):
        found += _around(path, shown.masked)
    return found


def _around(path: Path, masked: tuple[Path, ...]) -> list[tuple[str, str]]:
    if path in masked:
        return []
    if not any(mask.is_relative_to(path) for mask in masked):
        return [(str(path), "read")]
    found = [(str(path), "list")]
    for child in path.iterdir():
        found += _around(child, masked)
    return found


def _become_subreaper() -> None:
    """Orphans whose supervisor died come to us; harmless to processes that the harness has."""
    ctypes.CDLL(None).prctl(_SET_SUBREAPER, 1, 0, 0, 0)


def _born(pid: int) -> int | None:
    """Start time in ticks since boot, together with the id unique; None when it is gone."""
    fields = stat_fields(pid)
    return int(fields[19]) if fields is not None and fields[0] != b"Z" else None


def _filters(pid: int) -> int:
    """How many system-call filters bind a process; they are inherited and cannot be shed."""
    try:
        content = Path(f"/proc/{pid}/status").read_bytes()
    except OSError:
        return 0
    for line in content.splitlines():
        if line.startswith(b"Seccomp_filters:"):
            return int(line.split()[1])
    return 0


def _collect(pid: int) -> None:
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        pass  # not our child: whoever is its parent collects it
