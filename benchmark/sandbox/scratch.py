"""The private folder of a jail that has no file system of its own: its size, and its removal."""

from __future__ import annotations

import itertools
import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path


def usage(folder: Path, pids: Sequence[int]) -> tuple[float, int]:
    """MB and number of files below a folder and of deleted files that ``pids`` hold open."""
    sizes = dict(_files_below(folder))
    for pid in pids:
        sizes.update(_deleted_files(pid))
    return sum(sizes.values()) / 2**20, len(sizes)


def _files_below(folder: Path) -> list[tuple[tuple[int, int], int]]:
    """Identity and allocated bytes of each entry; what vanishes meanwhile is left out."""
    found = []
    pending = [str(folder)]
    while pending:
        try:
            entries = list(os.scandir(pending.pop()))
        except OSError:
            continue
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            found.append(((status.st_dev, status.st_ino), status.st_blocks * 512))
            if stat.S_ISDIR(status.st_mode):
                pending.append(entry.path)
    return found


def _deleted_files(pid: int) -> dict[tuple[int, int], int]:
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
    """Remove a tree that a candidate built: locked folders, nests deeper than any path."""
    unique = (folder / f".{secrets.token_hex(8)}.{number}" for number in itertools.count())
    while True:
        try:
            folder.chmod(0o700)
            entries = list(os.scandir(folder))
        except FileNotFoundError:
            return
        if not entries:
            folder.rmdir()
            return
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                _remove_lifting(entry.path, unique)
            else:
                os.unlink(entry.path)


def _remove_lifting(folder: str, places: Iterator[Path]) -> None:
    """Move the folders inside ``folder`` to other places, remove its files and itself."""
    os.chmod(folder, 0o700)
    for entry in list(os.scandir(folder)):
        if entry.is_dir(follow_symlinks=False):
            os.chmod(entry.path, 0o700)  # a folder that is not writable cannot be moved
            os.rename(entry.path, next(places))
        else:
            os.unlink(entry.path)
    os.rmdir(folder)
