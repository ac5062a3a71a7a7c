"""Cores for jobs: each is bound to its own, so that neither load nor neighbours bias its times.

A core is claimed by a lock on a file of this machine, which the kernel gives back when the process
ends however it ends. Two sweeps of one user, or several Ray nodes on one machine, thereby keep out
of each other's way. Within a claim :func:`benchmark.provenance.cores` is the number claimed, so
that a candidate gets no more threads than its job has cores.
"""

from __future__ import annotations

import fcntl
import os
import random
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmark import provenance


@contextmanager
def claimed(count: int) -> Iterator[frozenset[int]]:
    """Bind this thread, and what it starts, to ``count`` cores; yields their numbers.

    Where fewer are free the rest is shared with others: a job waits for no core.
    """
    everything = sorted(os.sched_getaffinity(0))
    count = min(count, len(everything))
    with ExitStack() as claims:
        mine: list[int] = []
        for core in everything:
            if len(mine) < count and _claim(core, claims):
                mine.append(core)
        others = [core for core in everything if core not in mine]
        mine += random.sample(others, count - len(mine))
        os.sched_setaffinity(0, mine)
        provenance.machine.cache_clear()  # it tells the number of cores
        try:
            yield frozenset(mine)
        finally:
            os.sched_setaffinity(0, everything)
            provenance.machine.cache_clear()


def _claim(core: int, claims: ExitStack) -> bool:
    folder = Path(tempfile.gettempdir()) / f"evoduet-cores-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    fd = os.open(folder / str(core), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        return False
    claims.callback(os.close, fd)
    return True
