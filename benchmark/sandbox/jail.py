"""A running sandbox as the parent sees it, whichever backend built it.

A jail is a tree of untrusted processes with a stdout, a stderr and, for Python candidates, a
control and a result pipe. :class:`Jail` knows how to look at the tree from outside and how to end
it so that nothing of it is left.
"""

from __future__ import annotations

import os
import resource
import select
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark.sandbox.inside import tree

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
KILL_PATIENCE_S = 10.0
CLOSE_LOOK_S = 0.1
CROWD = 16
"""With more processes than this we do not look closely before we end them: they may multiply."""


class SandboxBroken(RuntimeError):
    """The sandbox itself failed: the machine's or the harness's fault, never the candidate's."""


@dataclass(frozen=True)
class TreeUsage:
    """What a jail uses now (its untrusted processes) and the CPU time of all it ever ran."""

    processes: int
    threads: int
    cpu_s: float
    resident_mb: float
    pids: Sequence[int] = ()


@dataclass(frozen=True)
class Storage:
    """What a private folder holds; ``too_deep``: nested so that not all of it can be seen."""

    megabytes: float = 0.0
    files: int = 0
    too_deep: bool = False


class Jail(ABC):
    """One sandbox with its untrusted processes. Use :meth:`end` exactly once.

    ``outer`` is the process that we started, ``first`` the host id of the one that runs the
    command; both are our own code, what is below ``first`` is not. ``ended`` is set when nothing
    of it is left.
    """

    def __init__(self, outer: subprocess.Popen[bytes], first: int) -> None:
        self.outer = outer
        self.first = first
        assert outer.stdout is not None
        assert outer.stderr is not None
        self.stdout = outer.stdout
        self.stderr = outer.stderr
        self.returncode: int | None = None
        self.built_s = 0.0  # CPU seconds that building the sandbox took, where that is known
        self.cpu_s = 0.0
        self.peak_mb = 0.0
        self.ended = threading.Event()
        self._last_usage = TreeUsage(0, 0, 0.0, 0.0)
        self.ticks_seen: dict[tuple[int, int], int] = {}
        # A started process inherits the peak of the one that starts it: ours says nothing then.
        self._peak_of_harness_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    @abstractmethod
    def _kill_tree(self, crowded: bool) -> None:
        """Send the fatal signal to everything; the tree is gone when ``outer`` has exited.

        ``crowded``: there are many processes, maybe multiplying.
        """

    @abstractmethod
    def _clean_up(self) -> None:
        """Remove what is left when ``outer`` is gone."""

    @abstractmethod
    def storage(self) -> Storage:
        """What the private folder holds, as far as the kernel does not bound it."""

    def alive(self) -> bool:
        """False when the jail has ended by itself."""
        return not self.exits_within(0.0)

    def pids(self) -> Iterator[int]:
        """Host ids of the processes of the tree, ours and untrusted ones, parents first."""
        yield self.outer.pid
        yield from tree.descendants(self.outer.pid)

    def untrusted(self) -> list[int]:
        """Host ids of the candidate's processes."""
        return [pid for pid in self.pids() if pid not in (self.outer.pid, self.first)]

    def usage(self, most: int = CROWD) -> TreeUsage:
        """Sum over the tree; processes that vanish meanwhile are left out.

        Looks at no more than ``most`` + 1 untrusted processes: a fork storm grows faster than all
        of it can be looked at. CPU time is the larger of two accounts: living processes with the
        children that they have collected, and all processes seen so far (nobody collects the
        children of a process that ignores SIGCHLD).
        """
        threads, pages, collected = 0, 0, 0
        pids: list[int] = []
        for pid in self.pids():
            fields = stat_fields(pid)
            if fields is None:
                continue
            own = int(fields[11]) + int(fields[12])
            self.ticks_seen[pid, int(fields[19])] = own
            collected += own + int(fields[13]) + int(fields[14])
            if pid not in (self.outer.pid, self.first):
                pids.append(pid)
                threads += int(fields[17])
                pages += int(fields[21])
                if len(pids) > most:
                    break
        ticks = max(collected, sum(self.ticks_seen.values()))
        self._last_usage = TreeUsage(
            len(pids), threads, ticks / TICKS_PER_S, pages * PAGE_BYTES / 2**20, pids
        )
        return self._last_usage

    def start_up_s(self) -> float:
        """CPU seconds used until now, to be asked before the candidate runs.

        Clock ticks are too coarse for that; the scheduler's account of the leading threads is not,
        and there are hardly any others yet.
        """
        nanoseconds = 0
        for pid in self.pids():
            try:
                nanoseconds += int(Path(f"/proc/{pid}/schedstat").read_bytes().split()[0])
            except (OSError, IndexError):
                continue
        return nanoseconds * 1e-9 or self.usage().cpu_s

    def resident_mb(self, usage: TreeUsage) -> float:
        """Resident memory in MB, shared pages counted once; remembers the largest.

        Looks closer only if the sum over processes exceeds what is remembered, and not for long:
        what is not counted now will be at the next look.
        """
        if usage.processes == 1:
            kilobytes = _field_kb(usage.pids[0], "status", b"VmHWM:")
        elif usage.resident_mb <= self.peak_mb:
            return usage.resident_mb
        else:
            kilobytes = 0
            deadline = time.monotonic() + CLOSE_LOOK_S
            for pid in usage.pids:
                kilobytes += _field_kb(pid, "smaps_rollup", b"Pss:")
                if time.monotonic() > deadline:
                    break
        self.peak_mb = max(self.peak_mb, kilobytes / 1024)
        return kilobytes / 1024

    def end(self) -> None:
        """Kill whatever is left, wait until it is gone, and take the final account.

        Raises :class:`SandboxBroken` if processes survive for ``KILL_PATIENCE_S`` seconds.
        """
        crowded = self._last_usage.processes > CROWD or self.usage().processes > CROWD
        if not crowded:
            self.resident_mb(self._last_usage)
        self._kill_tree(crowded)
        if not self.exits_within(KILL_PATIENCE_S):
            self.outer.kill()
            if not self.exits_within(KILL_PATIENCE_S):
                raise SandboxBroken(f"process {self.outer.pid} cannot be killed")
        _, status, rusage = os.wait4(self.outer.pid, 0)
        self.returncode = self.outer.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_s = max(self._last_usage.cpu_s, rusage.ru_utime + rusage.ru_stime)
        if rusage.ru_maxrss > self._peak_of_harness_kb:
            self.peak_mb = max(self.peak_mb, rusage.ru_maxrss / 1024)
        self.stdout.close()
        self.stderr.close()
        self._clean_up()
        self.ended.set()

    def exits_within(self, timeout_s: float) -> bool:
        """Wait for ``outer`` to become a zombie (it stays one, for ``wait4``)."""
        fd = os.pidfd_open(self.outer.pid)
        try:
            poller = select.poll()
            poller.register(fd, select.POLLIN)
            return bool(poller.poll(timeout_s * 1000))
        finally:
            os.close(fd)


def last_line(said: bytes) -> str:
    """The last line of what a process printed before it failed; usually the reason."""
    lines = said.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


def stat_fields(pid: int) -> list[bytes] | None:
    """The fields of ``/proc/<pid>/stat`` after the command name (state is number 0)."""
    try:
        content = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    return content[content.rindex(b")") + 2 :].split()


def _field_kb(pid: int, file: str, label: bytes) -> int:
    try:
        content = Path(f"/proc/{pid}/{file}").read_bytes()
    except OSError:
        return 0
    for line in content.splitlines():
        if line.startswith(label):
            return int(line.split()[1])
    return 0
