"""A running sandbox as the parent sees it, whichever backend built it.

A jail is a tree of untrusted processes with a stdout, a stderr and, for Python candidates, a
control and a result pipe. :class:`Jail` knows how to look at the tree from outside and how to end
it so that nothing of it is left.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
KILL_PATIENCE_S = 10.0


class SandboxBroken(RuntimeError):
    """The sandbox itself failed: the machine's or the harness's fault, never the candidate's."""


@dataclass(frozen=True)
class TreeUsage:
    """What the living processes of a jail use: CPU seconds include children already reaped."""

    processes: int
    threads: int
    cpu_s: float
    resident_mb: float


class Jail(ABC):
    """One sandbox with its untrusted processes. Use :meth:`end` exactly once."""

    def __init__(self, outer: subprocess.Popen[bytes]) -> None:
        self.outer = outer
        assert outer.stdout is not None
        assert outer.stderr is not None
        self.stdout = outer.stdout
        self.stderr = outer.stderr
        self.returncode: int | None = None
        self.cpu_s = 0.0
        self.peak_mb = 0.0

    @abstractmethod
    def roots(self) -> list[int]:
        """Host ids of our own processes at the top of the tree; their descendants are untrusted."""

    @abstractmethod
    def _kill_tree(self) -> None:
        """Send the fatal signal to everything; the tree is gone when ``outer`` has exited."""

    def pids(self) -> Iterator[int]:
        """Host ids of all living processes of the tree, parents first."""
        pending = self.roots()
        while pending:
            pid = pending.pop()
            yield pid
            pending.extend(children(pid))

    def usage(self) -> TreeUsage:
        """Sum over the living tree; processes that vanish meanwhile are left out."""
        processes, threads, pages = 0, 0, 0
        outer = _stat_fields(self.outer.pid)
        cpu_ticks = sum(int(value) for value in outer[11:13]) if outer else 0
        for pid in self.pids():
            fields = _stat_fields(pid)
            if fields is None:
                continue
            processes += 1
            cpu_ticks += sum(int(value) for value in fields[11:15])
            threads += int(fields[17])
            pages += int(fields[21])
        return TreeUsage(processes, threads, cpu_ticks / TICKS_PER_S, pages * PAGE_BYTES / 2**20)

    def proportional_mb(self) -> float:
        """Resident memory with shared pages counted once (slower than :meth:`usage`)."""
        return sum(_proportional_kb(pid) for pid in self.pids()) / 1024

    def end(self) -> None:
        """Kill whatever is left, wait until it is gone, and take the final account.

        Raises :class:`SandboxBroken` if processes survive for ``KILL_PATIENCE_S`` seconds.
        """
        untrusted = [pid for pid in self.pids() if pid not in self.roots()]
        self.peak_mb = max(self.peak_mb, sum(_peak_kb(pid) for pid in untrusted) / 1024)
        self._kill_tree()
        if not self._exits_within(KILL_PATIENCE_S):
            self.outer.kill()
            if not self._exits_within(KILL_PATIENCE_S):
                raise SandboxBroken(f"process {self.outer.pid} cannot be killed")
        _, status, rusage = os.wait4(self.outer.pid, 0)
        self.returncode = self.outer.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_s = rusage.ru_utime + rusage.ru_stime
        self.stdout.close()
        self.stderr.close()

    def _exits_within(self, timeout_s: float) -> bool:
        """Wait for ``outer`` to become a zombie (it stays one, for ``wait4``)."""
        fd = os.pidfd_open(self.outer.pid)
        try:
            poller = select.poll()
            poller.register(fd, select.POLLIN)
            return bool(poller.poll(timeout_s * 1000))
        finally:
            os.close(fd)


def children(pid: int) -> list[int]:
    """Host ids of the direct children of a process, over all its threads."""
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for thread in threads:
        try:
            content = Path(f"/proc/{pid}/task/{thread}/children").read_bytes()
        except OSError:
            continue
        found.extend(int(child) for child in content.split())
    return found


def _stat_fields(pid: int) -> list[bytes] | None:
    """The fields of ``/proc/<pid>/stat`` after the command name (state is number 0)."""
    try:
        content = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    return content[content.rindex(b")") + 2 :].split()


def _proportional_kb(pid: int) -> int:
    return _field_kb(f"/proc/{pid}/smaps_rollup", b"Pss:")


def _peak_kb(pid: int) -> int:
    return _field_kb(f"/proc/{pid}/status", b"VmHWM:")


def _field_kb(path: str, label: bytes) -> int:
    try:
        content = Path(path).read_bytes()
    except OSError:
        return 0
    for line in content.splitlines():
        if line.startswith(label):
            return int(line.split()[1])
    return 0


def kill_quietly(pid: int) -> None:
    """SIGKILL to a process that may be gone already."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
