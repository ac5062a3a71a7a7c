"""Whether a data file is the right one, asked once and remembered until the file changes.

A file is right when its bytes have a declared sha256 or pass the declared check. Where nothing is
declared (a converter judged the downloads), it must still be what the converter made.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmark.provenance import sha256_file
from benchmark.task import Check, DataFile

SETTLED_NS = 2_000_000_000
"""Within the tick of a file system's clock a file can change and keep its times."""


@dataclass(frozen=True)
class Verdict:
    """What is known about a file: its sha256, and why it is not the declared one (empty: it is)."""

    sha256: str
    problem: str = ""


@dataclass(frozen=True)
class Mark:
    """A file that was found right: what, by which declaration, and its stamp then.

    The stamp is empty when the file was so young that it could have changed since unseen.
    """

    sha256: str
    rule: str
    stamp: str


class Marks:
    """Marks of files inside ``base`` (kept by relative path, so that it can be moved) or outside.

    Each lies in a file of its own below ``base``, so that processes do not undo each other's.
    """

    def __init__(self, base: Path) -> None:
        self.base = base

    def examine(self, path: Path, file: DataFile, *, again: bool = False) -> Verdict:
        """Whether ``path`` is the declared file; ``again`` reads it in any case.

        Raises ``OSError`` when it cannot be read.
        """
        mark = self._read(path, file)
        stamp = _stamp(path)
        if mark is not None and stamp and mark.stamp == stamp and not again:
            return Verdict(mark.sha256)
        sha256 = sha256_file(path)
        problem = content_problem(path, file, sha256, mark.sha256 if mark else None)
        if problem is not None:
            return Verdict(sha256, problem)
        if stamp == _stamp(path):
            self._write(path, Mark(sha256, _rule(file), stamp))
        return Verdict(sha256)

    def accept(self, path: Path, file: DataFile, sha256: str) -> None:
        """Remember ``path``, which has this ``sha256``, as right."""
        self._write(path, Mark(sha256, _rule(file), _stamp(path)))

    def _read(self, path: Path, file: DataFile) -> Mark | None:
        """The mark of ``path`` that was given under the same declaration."""
        try:
            mark = Mark(**json.loads(self._place(path).read_text()))
        except (OSError, ValueError, TypeError):
            return None
        return mark if mark.rule == _rule(file) else None

    def _place(self, path: Path) -> Path:
        inside = path.is_relative_to(self.base)
        key = (path.relative_to(self.base) if inside else path.absolute()).as_posix()
        return self.base / ".checked" / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"

    def _write(self, path: Path, mark: Mark) -> None:
        """Best effort: where the folder is read-only, the file is read again next time."""
        place = self._place(path)
        new = place.with_suffix(f".{os.getpid()}.new")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            new.write_text(json.dumps(asdict(mark)))
            new.replace(place)
        except OSError:
            pass


def _stamp(path: Path) -> str:
    """What changes when a file is written, replaced or given other times; empty if too young."""
    status = path.stat()
    if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) < SETTLED_NS:
        return ""
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"


def _rule(file: DataFile) -> str:
    """Changes whenever the declaration of what is right, or of the source, does."""
    deciding = file.model_dump_json(include={"name", "mirror", "rebuild", "source", "check"})
    return hashlib.sha256(deciding.encode()).hexdigest()[:16]


def content_problem(
    path: Path, file: DataFile, sha256: str, accepted: str | None = None
) -> str | None:
    """Why a file whose bytes have ``sha256`` is not ``file``, or ``None``.

    ``accepted`` is the sha256 of what a converter made, for files without a declared one.
    """
    if sha256 in file.digests:
        return None
    if file.check is not None:
        return _check_problem(path, file.check)
    if file.digests:
        return f"has a wrong checksum (sha256 {sha256[:12]}...)"
    if accepted is None:
        return "was not fetched by evoduet, and no checksum is known for it"
    return None if sha256 == accepted else "has changed since it was fetched"


def _check_problem(path: Path, check: Check) -> str | None:
    if check.arrays:
        try:
            found = array_digests(path)
        except Exception:  # a broken archive can raise nearly anything
            return "is not a readable npz file"
        wrong = [name for name, sha256 in check.arrays.items() if found.get(name) != sha256]
        if wrong or found.keys() != check.arrays.keys():
            return f"has other arrays than expected ({', '.join(wrong or sorted(found))})"
    if check.rows is not None:
        with path.open("rb") as lines:
            rows = max(0, sum(1 for line in lines if line.strip()) - 1)
        if rows != check.rows:
            return f"has {rows} rows, expected {check.rows}"
    return None


def array_digests(path: Path) -> dict[str, str]:
    """Sha256 of the little-endian bytes of each array of an ``.npz`` file; loads no pickles.

    Raises ``ValueError`` for another file, and what :mod:`zipfile` raises for a broken one.
    """
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is no npz file")
    with np.load(path, allow_pickle=False) as archive:
        return {name: _array_digest(archive[name]) for name in archive.files}


def _array_digest(array: np.ndarray) -> str:
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return hashlib.sha256(little.tobytes()).hexdigest()
