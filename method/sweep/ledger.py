"""The ledger of a sweep: one append-only file of events; what became of each job is a fold of it.

``sweep.jsonl`` has one JSON object a line with its number, the sha256 of the line before (so that a
lost or altered line is noticed), the time (UTC), the event and its data:

* ``sweep_started``: format, name, kind, executor, cap and text of the plan, once for each driver;
* ``planned`` and ``withdrawn``: a job that the plan has, or no longer has;
* ``started``: an attempt was handed to the executor;
* ``ended``: how it ended, what it cost so far, and the numbers of a run or the whole record of an
  evaluation;
* ``held``: not started, because the cap of the sweep is used up;
* ``sweep_stopped``: the driver left.

A torn last line, which a crash may leave, is cut at open; anything else that is wrong is refused. A
lock keeps a second driver out.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from filelock import FileLock, Timeout

from method.grouped_file import GroupedFile
from method.journal import now

FILE_NAME = "sweep.jsonl"
LOCK_NAME = ".sweep.lock"
FORMAT = 1
_FIRST = "0" * 64
_LOCK_S = 2.0
_log = logging.getLogger(__name__)


class LedgerError(RuntimeError):
    """The ledger cannot be used; the message names the file, the line and what to do."""


@dataclass
class JobState:
    """What the ledger says of one job.

    ``state`` is ``planned``, ``running``, ``held`` or a :data:`~method.executors.jobs.State`;
    ``axes`` are the values that tell it from the others. ``result`` holds a few numbers: for the
    whole record of an evaluation see :func:`evaluations`.
    """

    id: str
    kind: str
    axes: Mapping[str, Any]
    state: str = "planned"
    reason: str = ""
    attempts: int = 0
    cost_usd: float = 0.0
    host: str = ""
    since: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    withdrawn: bool = False


@dataclass
class Projection:
    """All jobs by id, and the last ``sweep_started``."""

    jobs: dict[str, JobState] = field(default_factory=dict)
    started: Mapping[str, Any] = field(default_factory=dict)
    drivers: int = 0

    def apply(self, event: str, data: Mapping[str, Any], time: str) -> None:
        """Take one event into account."""
        if event == "sweep_started":
            self.started = data
            self.drivers += 1
            return
        if event == "sweep_stopped":
            return
        if event == "planned" and data["job"] not in self.jobs:
            self.jobs[data["job"]] = JobState(data["job"], data["kind"], data["axes"], since=time)
            return
        job = self.jobs[data["job"]]
        job.since = time
        if event in ("planned", "withdrawn"):
            job.withdrawn = event == "withdrawn"
        elif event == "started":
            job.state, job.reason, job.attempts = "running", "", data["attempt"]
        elif event == "held":
            job.state, job.reason = "held", data["reason"]
        elif event == "ended":
            job.state, job.reason, job.host = data["state"], data["reason"], data["host"]
            job.result = _slim(data["data"])
            if data["cost_usd"] is not None:
                job.cost_usd = data["cost_usd"]

    @property
    def plan(self) -> list[JobState]:
        """The jobs that the plan still has."""
        return [job for job in self.jobs.values() if not job.withdrawn]

    @property
    def spent_usd(self) -> float:
        """What all jobs have cost, those that were withdrawn too."""
        return sum(job.cost_usd for job in self.jobs.values())


_RUN = ("T", "done", "best", "ndg", "unpriced_calls")
_EVALUATION = ("status", "search", "objective", "ndg", "wall_s")


def _slim(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: data[name] for name in (*_RUN, *_EVALUATION) if name in data}


class Ledger:
    """Writer of a sweep's ledger; reading is :func:`read_ledger`.

    Raises :class:`LedgerError` when another driver works there or the file is damaged.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / FILE_NAME
        self.projection = Projection()
        self._lock = FileLock(folder / LOCK_NAME)
        try:
            self._lock.acquire(timeout=_LOCK_S)
        except Timeout:
            raise LedgerError(
                f"{folder}: another driver works on this sweep; see `evoduet sweep status`, "
                "or take another --out"
            ) from None
        try:
            self._last, self._number, size = _FIRST, 0, 0
            for line, record in _whole_lines(self.path):
                self.projection.apply(record["event"], record["data"], record["time"])
                self._last, self._number = hashlib.sha256(line).hexdigest(), self._number + 1
                size += len(line)
            self._file = GroupedFile(self.path, size)
        except BaseException:
            self._lock.release()
            raise

    def note(self, event: str, **data: Any) -> None:
        """Buffer an event until :meth:`commit` and take it into account."""
        time = now()
        record = {
            "seq": self._number, "prev": self._last, "time": time, "event": event, "data": data,
        }  # fmt: skip
        text = json.dumps(record, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
        line = text.encode("ascii") + b"\n"
        self.projection.apply(event, data, time)
        self._last, self._number = hashlib.sha256(line).hexdigest(), self._number + 1
        self._file.add(line)

    def commit(self) -> None:
        """Write what is buffered, with one fsync; see :meth:`GroupedFile.commit`.

        Raises ``OSError`` (disk full); the events stay buffered.
        """
        self._file.commit()

    def close(self) -> None:
        """Commit and let other drivers in."""
        try:
            self.commit()
        finally:
            self._file.close()
            self._lock.release()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def read_ledger(folder: Path) -> Projection:
    """What the ledger of a sweep says, also while a driver writes it. Raises LedgerError."""
    path = folder / FILE_NAME
    if not path.is_file():
        raise LedgerError(f"{folder}: no sweep there (no {FILE_NAME})")
    projection = Projection()
    for _, record in _whole_lines(path):
        projection.apply(record["event"], record["data"], record["time"])
    return projection


def evaluations(folder: Path) -> list[dict[str, Any]]:
    """The last whole record of each evaluation of a sweep, in the order of the plan."""
    planned: dict[str, bool] = {}
    records: dict[str, dict[str, Any]] = {}
    for _, record in _whole_lines(folder / FILE_NAME):
        event, data = record["event"], record["data"]
        if event in ("planned", "withdrawn"):
            planned[data["job"]] = event == "planned"
        elif event == "ended" and "stage" in data["data"]:
            records[data["job"]] = data["data"]
    return [records[job] for job, wanted in planned.items() if wanted and job in records]


def driven(folder: Path) -> bool:
    """Whether a driver works on this sweep now."""
    lock = folder / LOCK_NAME
    if not lock.exists():
        return False
    try:
        with FileLock(lock, timeout=0):
            return False
    except (Timeout, OSError):
        return True


def _whole_lines(path: Path) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Each line and what it says, without a torn last one. Raises :class:`LedgerError`."""
    if not path.exists():
        return
    last, whole = _FIRST, None
    with path.open("rb") as file:
        for number, line in enumerate(file):
            if not line.endswith(b"\n"):
                _log.warning("%s: the last line is torn and is dropped", path)
                break
            try:
                record = json.loads(line)
                if record["seq"] != number or record["prev"] != last:
                    raise ValueError("out of sequence")
            except (ValueError, KeyError, TypeError, RecursionError):
                raise LedgerError(
                    f"{path}: line {number + 1} does not follow from the one before; restore the "
                    "file from a copy, or cut it there: runs are taken up from their own journals"
                ) from None
            last = hashlib.sha256(line).hexdigest()
            if whole is not None:  # only now is it known that nobody changed it
                yield whole
            whole = line, record
    if whole is not None:
        yield whole
