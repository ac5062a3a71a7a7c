"""An append-only file that is written in groups of lines, each with one fsync."""

from __future__ import annotations

import os
from pathlib import Path


class GroupedFile:
    """Opens ``path`` for appending behind its first ``size`` bytes; a torn rest is cut.

    Raises ``OSError`` when the file cannot be written.
    """

    def __init__(self, path: Path, size: int) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self._size = size
        self._buffer: list[bytes] = []
        if os.fstat(self._file).st_size > size:
            os.ftruncate(self._file, size)
            os.fsync(self._file)

    def add(self, line: bytes) -> None:
        """Add a line to the group that the next :meth:`commit` writes."""
        self._buffer.append(line)

    def commit(self) -> None:
        """Write the group and fsync; a write that fails leaves the file as it was.

        Raises ``OSError`` (disk full); the lines stay in the group, a later commit may succeed.
        """
        if not self._buffer:
            return
        content = b"".join(self._buffer)
        rest = memoryview(content)
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, self._size)
            raise
        self._size += len(content)
        self._buffer.clear()

    def close(self) -> None:
        """Give up the file; what was not committed is not written."""
        os.close(self._file)
