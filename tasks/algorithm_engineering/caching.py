"""The user's cache folder: whole files only, and room is made by forgetting the oldest."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import platformdirs

from benchmark.evaluator import Unavailable


def cache_folder(*parts: str) -> Path:
    """A folder below the user's cache folder for this project; not created yet."""
    return platformdirs.user_cache_path("evoduet").joinpath("contests", *parts)


def write_whole(path: Path, content: bytes, *, executable: bool = False) -> None:
    """Put a file in its place at once: readers see all of it, or none.

    Raises :class:`Unavailable` when the cache cannot be written.
    """
    partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            partial.write_bytes(content)
            partial.chmod(0o755 if executable else 0o644)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise Unavailable(
            f"{path.parent}: {error.strerror}; set XDG_CACHE_HOME to a folder that can be written"
        ) from None


def keep_newest(folder: Path, megabytes: int) -> None:
    """Remove the files that were not used for longest (:func:`mark_used`) until the rest fits."""
    files = []
    for entry in os.scandir(folder):
        try:
            status = entry.stat()
        except FileNotFoundError:  # another evaluation removed it
            continue
        files.append((status.st_mtime_ns, status.st_size, entry.path))
    total = 0
    for _, size, path in sorted(files, reverse=True):
        total += size
        if total > megabytes << 20:
            Path(path).unlink(missing_ok=True)


def mark_used(path: Path) -> bool:
    """Note that a file is used now; False when it is not there."""
    try:
        os.utime(path)
    except OSError:
        return path.exists()
    return True
