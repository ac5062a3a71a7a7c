"""What one candidate may use."""

from __future__ import annotations

import os
import resource
from dataclasses import dataclass, replace

NOBODY = 65534
"""User and group id without any rights, to whom root's sandboxes belong."""


@dataclass(frozen=True)
class Limits:
    """Limits of one sandbox; the parent enforces each from outside, rlimits back it inside.

    ``wall_s`` and ``cpu_s`` are seconds (CPU: user and system, summed over the sandbox's
    processes; ``None``: ``wall_s`` times the number of threads it may use). ``memory_mb`` bounds
    the address space of each process and the resident memory of all together. ``processes`` and
    ``threads`` count the candidate's own, not the sandbox's. ``output_mb`` bounds stdout and
    stderr together, ``scratch_mb`` and ``files`` the content of the private folder.
    """

    wall_s: float = 60.0
    cpu_s: float | None = None
    memory_mb: int = 2048
    processes: int = 64
    threads: int = 512
    open_files: int = 256
    output_mb: int = 16
    scratch_mb: int = 256
    files: int = 20_000
    idle_s: float | None = None
    """Ends a sandbox that used no CPU for so long (a sleeper); ``None``: never."""

    def changed(
        self,
        *,
        wall_s: float | None = None,
        cpu_s: float | None = None,
        memory_mb: int | None = None,
    ) -> Limits:
        """The same limits with those given replaced."""
        given = {"wall_s": wall_s, "cpu_s": cpu_s, "memory_mb": memory_mb}
        return replace(self, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]

    def cpu_budget(self, cores: int) -> float:
        """CPU seconds allowed: ``cpu_s``, or what ``cores`` cores give within the wall time."""
        return self.cpu_s if self.cpu_s is not None else self.wall_s * cores

    def rlimits(self, cores: int) -> dict[str, int]:
        """The limits of each single process, by the names of :mod:`resource`.

        They are backstops: none is above what this process may set.
        """
        wanted = {
            "RLIMIT_AS": self.memory_mb << 20,
            "RLIMIT_CPU": int(self.cpu_budget(cores)) + 2,
            "RLIMIT_FSIZE": self.scratch_mb << 20,
            "RLIMIT_NOFILE": self.open_files,
            "RLIMIT_NPROC": self.tasks(),
            "RLIMIT_CORE": 0,
        }
        return {name: _allowed(name, value) for name, value in wanted.items()}

    def tasks(self) -> int:
        """RLIMIT_NPROC: the kernel counts every thread of the user, so those of now are added."""
        return self.threads + _tasks_of_user(os.getuid() or NOBODY)


def _allowed(name: str, value: int) -> int:
    hard = resource.getrlimit(getattr(resource, name))[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def _tasks_of_user(user: int) -> int:
    """Threads of all processes of a user."""
    total = 0
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            if entry.stat().st_uid == user:
                total += len(os.listdir(f"{entry.path}/task"))
        except OSError:
            continue
    return total
