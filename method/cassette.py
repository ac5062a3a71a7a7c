"""Recorded answers of models and searches: a JSONL file of ``{key, request, completion|response}``.

A key is the sha256 of the canonical JSON of all that an answer depends on, with the number of
earlier calls of the run that asked the same; nothing of it depends on a run's name or on time. So
another run of the same configuration finds every answer, and two samples of one prompt stay two.
A line is written with an fsync when its answer arrives. Of several lines with one key the last
counts: a call that failed and was made again after a pause replaces its failure.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout

from method.journal import Event
from method.secrets import Secrets

Mode = Literal["record", "replay", "auto"]

_PASSING = ("transport", "quota", "key")
_log = logging.getLogger(__name__)


class CassetteError(RuntimeError):
    """The file cannot be used; the message names it and says what to do."""


class CassetteMiss(CassetteError):
    """A replay asks what the cassette does not hold."""


class Cassette:
    """One open file. In mode ``replay`` nothing is written; ``resumed``: the run goes on with it.

    Raises :class:`CassetteError` when the file is damaged, is being written by another process, is
    missing in a replay, or holds answers already when a new recording starts.
    """

    def __init__(
        self,
        path: Path,
        mode: Mode,
        secrets: Secrets | None = None,
        *,
        resumed: bool = False,
    ) -> None:
        self.path = path
        self.replaying = mode == "replay"
        self._secrets = secrets or Secrets()
        self._lock: FileLock | None = None
        if self.replaying and not path.is_file():
            raise CassetteError(f"{path}: no cassette there; record one with --cassette {path}")
        if not self.replaying:
            self._lock = _locked(path)
        try:
            self._places, self._effective, self._size = self._scan()
            if mode == "record" and self._places and not resumed:
                raise CassetteError(
                    f"{path}: holds a recording already; answer from it with --replay, "
                    "or name a new file"
                )
            if not self.replaying and path.is_file():
                os.truncate(path, self._size)  # a crash may have left half a line
        except BaseException:
            self.close()
            raise

    def find(self, key: str, *, or_fail: str = "") -> dict[str, Any] | None:
        """The entry of a key. A failure that may pass counts in replays alone.

        Raises :class:`CassetteMiss` in a replay that has no entry; ``or_fail`` says for what.
        """
        place = self._places.get(key)
        if place is None:
            if self.replaying:
                raise CassetteMiss(
                    f"{self.path}: no answer to {or_fail or 'this call'} (key {key[:12]}); the run "
                    "is not the recorded one: compare task, configuration, seed and version"
                )
            return None
        with self.path.open("rb") as file:
            file.seek(place)
            entry: dict[str, Any] = _decode(file.readline())
        answer = entry.get("completion") or entry["response"]
        return None if not self.replaying and answer["error_kind"] in _PASSING else entry

    def effective(self, request: Mapping[str, Any]) -> Any:
        """The sampling parameters that were in effect for requests like this one, or ``None``."""
        return self._effective.get(_likeness(request))

    def append(self, entry: Mapping[str, Any]) -> None:
        """Write one entry, whole or not at all. Raises ``OSError`` (disk full)."""
        text = json.dumps(entry, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        line = self._secrets.clean(text).encode("utf-8", errors="surrogatepass") + b"\n"
        fd = os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o644)
        try:
            os.lseek(fd, self._size, os.SEEK_SET)
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(fd, rest) :]
            os.fsync(fd)
        except OSError:
            os.ftruncate(fd, self._size)
            raise
        finally:
            os.close(fd)
        self._note(entry, self._size)
        self._size += len(line)

    def close(self) -> None:
        """Let others write."""
        if self._lock is not None:
            self._lock.release()

    # --- reading -------------------------------------------------------------------------------

    def _scan(self) -> tuple[dict[str, int], dict[str, Any], int]:
        self._places, self._effective = {}, {}
        size = 0
        for number, line in enumerate(self._lines(), start=1):
            try:
                self._note(_decode(line), size)
            except (ValueError, KeyError, TypeError):
                if not line.endswith(b"\n"):
                    _log.warning("%s: the last line is torn and is dropped", self.path)
                    break
                raise CassetteError(
                    f"{self.path}: line {number} is damaged; restore the file from a copy, or "
                    "delete that line"
                ) from None
            size += len(line)
        return self._places, self._effective, size

    def _lines(self) -> Iterator[bytes]:
        if self.path.is_file():
            with self.path.open("rb") as file:
                yield from file

    def _note(self, entry: Mapping[str, Any], place: int) -> None:
        self._places[entry["key"]] = place
        request = entry["request"]
        if "requested" in request:
            self._effective[_likeness(request)] = request["sampling"]


def canonical_sha256(value: Any) -> str:
    """Hash of a value's canonical JSON: sorted keys, no blanks, no NaN."""
    text = json.dumps(
        value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def _likeness(request: Mapping[str, Any]) -> str:
    """What the parameters in effect depend on."""
    return canonical_sha256([request[n] for n in ("model", "requested", "tools", "schema")])


def _decode(line: bytes) -> dict[str, Any]:
    if not line.endswith(b"\n"):
        raise ValueError("not a whole line")
    entry: dict[str, Any] = json.loads(line.decode("utf-8", errors="surrogatepass"))
    return entry


def _locked(path: Path) -> FileLock:
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_name(f".{path.name}.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise CassetteError(f"{path}: another run records into it; name another file") from None
    return lock


class Occurrences:
    """How often a run has asked the same before; a resumed run goes on counting from its journal.

    ``same`` names what is asked: see :func:`asked_of_model` and :func:`asked_of_search`. A failure
    of an iteration that is still open is asked again when the run is resumed, under its old number.
    """

    def __init__(self, events: list[Event] | None = None) -> None:
        self._next: Counter[Hashable] = Counter()
        self._again: defaultdict[Hashable, list[int]] = defaultdict(list)
        events = events or []
        closed = {event.data["t"] for event in events if event.name == "iteration_done"}
        last: dict[tuple[Any, ...], Event] = {}
        for event in events:
            if event.name in ("model_call", "search"):
                last[(event.name, *event.data["key"])] = event
        for event in last.values():  # in the order in which each call was first answered
            same = _asked(event)
            if event.data["answer"]["error_kind"] in _PASSING and event.data["t"] not in closed:
                self._again[same].append(self._next[same])
            self._next[same] += 1

    def take(self, same: Hashable) -> int:
        """The number of this call among those that asked the same."""
        if self._again[same]:
            return self._again[same].pop(0)
        self._next[same] += 1
        return self._next[same] - 1


def asked_of_model(purpose: str, slot: int, messages: str) -> Hashable:
    """``messages`` is the hash under which the journal stores a prompt."""
    return ("model", purpose, slot, messages)


def asked_of_search(query: str, max_results: int, depth: str) -> Hashable:
    """A search by what goes over the wire."""
    return ("search", query, max_results, depth)


def _asked(event: Event) -> Hashable:
    data = event.data
    if event.name == "model_call":
        return asked_of_model(data["purpose"], data["slot"], data["prompt"])
    return asked_of_search(data["query"], data["max_results"], data["depth"])
