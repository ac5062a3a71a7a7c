"""The journal of a run: one append-only file of events, from which everything else is a projection.

Each line is one JSON object with its sequence number and the sha256 of the line before, so that a
lost or altered line is noticed. Events are buffered and reach the disk as a group with one fsync
(:meth:`Journal.commit`), always before the next paid call or evaluation. A torn last line, which a
crash or a full disk may leave, is cut at open; anything else that is wrong is refused. A lock keeps
a second writer out.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from filelock import FileLock, Timeout

from method.grouped_file import GroupedFile

EventName = Literal[
    "run_started",
    "seed_evaluated",
    "iteration_selected",
    "call_started",
    "model_call",
    "search",
    "gate",
    "round",
    "sample",
    "evaluation_started",
    "evaluation",
    "inserted",
    "scaffold_event",
    "iteration_done",
    "report_evaluation",
    "interrupted",
    "run_finished",
    "extended",
]

FILE_NAME = "journal.jsonl"
_FIRST = "0" * 64
_log = logging.getLogger(__name__)


class JournalError(RuntimeError):
    """The journal cannot be used; the message names the file, the line and what to do."""


@dataclass(frozen=True)
class Event:
    """One line: position, time of writing (UTC, ISO 8601), name and payload."""

    seq: int
    time: str
    name: str
    data: Mapping[str, Any]


def now() -> str:
    """The time as the journal writes it; tests inject another clock."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Journal:
    """Writer of one run's journal; reading is :func:`read_journal`.

    Raises :class:`JournalError` when another process writes this run or the file is damaged.
    """

    def __init__(self, folder: Path, clock: Callable[[], str] = now) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / FILE_NAME
        self._clock = clock
        self._lock = FileLock(folder / ".lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise JournalError(f"{folder}: another process writes this run; wait for it") from None
        try:
            self.events, self._last, size = _read(self.path)
            self._file = GroupedFile(self.path, size)
        except BaseException:
            self._lock.release()
            raise
        _sync_folder(folder)

    def append(self, name: EventName, data: Mapping[str, Any]) -> Event:
        """Add an event to the group that the next :meth:`commit` writes."""
        event = Event(len(self.events), self._clock(), name, data)
        line = _encode(event, self._last)
        self._last = hashlib.sha256(line).hexdigest()
        self._file.add(line)
        self.events.append(event)
        return event

    def commit(self) -> None:
        """Write the group and fsync; see :meth:`GroupedFile.commit`. Raises ``OSError``."""
        self._file.commit()

    def close(self) -> None:
        """Commit what is buffered and let other writers in."""
        try:
            self.commit()
        finally:
            self._file.close()
            self._lock.release()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def read_journal(folder: Path) -> list[Event]:
    """All whole events of a run, also while another process writes it.

    Raises :class:`JournalError` when there is no journal or it is damaged before its last line.
    """
    path = folder / FILE_NAME
    if not path.is_file():
        raise JournalError(f"{folder}: no run there (no {FILE_NAME})")
    return _read(path)[0]


def _encode(event: Event, previous: str) -> bytes:
    record = {
        "seq": event.seq,
        "prev": previous,
        "time": event.time,
        "event": event.name,
        "data": event.data,
    }
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", errors="surrogatepass") + b"\n"


def _read(path: Path) -> tuple[list[Event], str, int]:
    """Events, hash of the last line, and how many bytes of the file are whole lines."""
    events: list[Event] = []
    previous, size = _FIRST, 0
    if not path.exists():
        return events, previous, size
    for line in _lines(path):
        event = _decode(line, previous, len(events))
        if event is None:
            if size + len(line) < path.stat().st_size or line.endswith(b"\n"):
                raise JournalError(
                    f"{path}: line {len(events) + 1} is damaged; restore the file from a copy, "
                    "or cut it before that line and resume"
                )
            _log.warning("%s: the last line is torn and is dropped", path)
            break
        events.append(event)
        previous = hashlib.sha256(line).hexdigest()
        size += len(line)
    return events, previous, size


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def _decode(line: bytes, previous: str, seq: int) -> Event | None:
    if not line.endswith(b"\n"):
        return None
    try:
        record = json.loads(line.decode("utf-8", errors="surrogatepass"))
        if record["prev"] != previous or record["seq"] != seq:
            return None
        return Event(seq, record["time"], record["event"], record["data"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class Blobs:
    """Content-addressed texts beside the journal: programs, prompts, answers, page bodies."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "blobs"
        self._stored: set[str] = set()
        self._folders: set[str] = set()

    def put(self, text: str) -> str:
        """Store a text and return its sha256; storing it again costs nothing."""
        content = text.encode("utf-8", errors="surrogatepass")
        name = hashlib.sha256(content).hexdigest()
        if name not in self._stored:
            folder = f"{self.folder}/{name[:2]}"
            if not os.path.exists(f"{folder}/{name}"):
                self._write(folder, name, content)
            self._stored.add(name)
        return name

    def _write(self, folder: str, name: str, content: bytes) -> None:
        """Write a file whole or not at all."""
        if folder not in self._folders:
            os.makedirs(folder, exist_ok=True)
            self._folders.add(folder)
        partial = f"{folder}/.{name}.{os.getpid()}"
        try:
            with open(partial, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, f"{folder}/{name}")
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(partial)
            raise

    def get(self, name: str) -> str:
        """The text of a hash. Raises :class:`JournalError` when it is missing or was altered."""
        path = self.folder / name[:2] / name
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise JournalError(f"{path}: missing; the run is not complete") from None
        if hashlib.sha256(content).hexdigest() != name:
            raise JournalError(f"{path}: its content is not what the journal recorded")
        return content.decode("utf-8", errors="surrogatepass")
