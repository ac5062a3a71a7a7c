"""The private folder of a jail that has no file system of its own: its size, and its removal."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from benchmark.sandbox.jail import Storage

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


def usage(folder: Path, pids: Sequence[int]) -> Storage:
    """What lies below a folder, and in deleted files that the processes ``pids`` hold open."""
    sizes: dict[tuple[int, int], int] = {}
    too_deep = False
    pending = [str(folder)]
    while pending:
        try:
            entries = list(os.scandir(pending.pop()))
        except OSError as error:  # it vanished, or it is closed even to its owner
            too_deep = too_deep or error.errno == errno.ENAMETOOLONG
            continue
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError as error:
                too_deep = too_deep or error.errno == errno.ENAMETOOLONG
                continue
            sizes[status.st_dev, status.st_ino] = status.st_blocks * 512
            if stat.S_ISDIR(status.st_mode):
                pending.append(entry.path)
    for pid in pids:
        sizes.update(_deleted_files(pid))
    return Storage(sum(sizes.values()) / 2**20, len(sizes), too_deep)


def _deleted_files(pid: int) -> dict[tuple[int, int], int]:
    """Identity and allocated bytes of the open files of a process that have no name any more."""
    found: dict[tuple[int, int], int] = {}
    try:
        descriptors = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return found
    for descriptor in descriptors:
        try:
            status = os.stat(f"/proc/{pid}/fd/{descriptor}")
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
            found[status.st_dev, status.st_ino] = status.st_blocks * 512
    return found


def remove(folder: Path) -> None:
    """Remove a tree that a candidate built and nobody uses any more.

    Goes down and up by descriptors, one at a time: it may be nested deeper than any path is long,
    and its folders may be closed.
    """
    try:
        folder.chmod(0o700)
    except FileNotFoundError:
        return
    here = os.open(folder, _FOLDER)
    try:
        pending = [_remove_files(here)]  # names of the folders still to be removed, at each level
        above: list[str] = []
        while pending[-1] or above:
            if pending[-1]:
                above.append(pending[-1].pop())
                os.chmod(above[-1], 0o700, dir_fd=here)
                here = _move(here, above[-1])
                pending.append(_remove_files(here))
            else:
                pending.pop()
                here = _move(here, "..")
                os.rmdir(above.pop(), dir_fd=here)
    finally:
        os.close(here)
    folder.rmdir()


def _move(here: int, name: str) -> int:
    there = os.open(name, _FOLDER, dir_fd=here)
    os.close(here)
    return there


def _remove_files(here: int) -> list[str]:
    """Remove everything in a folder but its folders; their names."""
    folders = []
    with os.scandir(here) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, is_folder in found:
        if is_folder:
            folders.append(name)
        else:
            os.unlink(name, dir_fd=here)
    return folders
