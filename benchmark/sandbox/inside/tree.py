"""Reading process trees from ``/proc``, and ending them one process at a time."""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def children(pid: int) -> list[int]:
    """Ids of the direct children of a process, over all its threads; empty when it is gone."""
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                content = file.read()
        except OSError:
            continue
        found.extend(int(child) for child in content.split())
    return found


def descendants(pid: int) -> Iterator[int]:
    """Ids of all processes below ``pid``, parents before their children."""
    pending = children(pid)
    seen: set[int] = set()
    while pending:
        child = pending.pop()
        if child not in seen:  # an id may be used again, by a parent, while we walk
            seen.add(child)
            yield child
            pending.extend(children(child))


def kill_below(pid: int) -> bool:
    """SIGKILL to everything below ``pid``; True when there was something to kill.

    All of it is stopped first: what is stopped forks no more while the rest is being killed.
    """
    found: set[int] = set()
    while not found.issuperset(now := set(descendants(pid))):
        for process in now - found:
            kill_quietly(process, signal.SIGSTOP)
        found |= now
    for process in found:
        kill_quietly(process)
    return bool(found)


def kill_quietly(pid: int, number: int = signal.SIGKILL) -> None:
    """A signal to a process that may be gone already, or may not be ours."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass
