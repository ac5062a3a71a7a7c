"""What a sweep hands to an executor and what it gets back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

Kind = Literal["run", "evaluation"]
State = Literal["done", "budget", "failed", "blocked", "interrupted"]
"""How a job can end. ``budget``: a run that stopped at a limit of its own. ``blocked``: data,
library, tool or key are missing here. ``interrupted``: can be picked up again."""


class ExecutorProblem(RuntimeError):
    """The executor cannot work; the message says what to do."""


class ExecutorMissing(ExecutorProblem):
    """The executor's library is not installed."""


@dataclass(frozen=True)
class Resources:
    """What one job may use: whole cores, and MB of memory."""

    cores: int
    memory_mb: int

    def clamped(self, most: Resources) -> Resources:
        """At most ``most``: a job that allows more than there is gets everything, alone."""
        return Resources(min(self.cores, most.cores), min(self.memory_mb, most.memory_mb))


@dataclass(frozen=True)
class Job:
    """One run or one evaluation; ``spec`` is JSON, see :mod:`method.executors.work`."""

    id: str
    kind: Kind
    spec: Mapping[str, Any]
    resources: Resources

    def to_json(self) -> dict[str, Any]:
        """As it travels to a worker."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Job:
        """The inverse of :meth:`to_json`."""
        return cls(record["id"], record["kind"], record["spec"], Resources(**record["resources"]))


@dataclass(frozen=True)
class Outcome:
    """How one attempt at a job ended.

    ``data`` holds the numbers of a run or the record of an evaluation. ``lost``: the worker
    vanished, so that another one can take the job at once.
    """

    job: str
    state: State
    reason: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    host: str = ""
    lost: bool = False

    def to_json(self) -> dict[str, Any]:
        """As it travels from a worker."""
        return asdict(self)


class Executor(Protocol):
    """Does jobs somewhere. One thread calls it.

    Whoever submits asks :meth:`room` first, so that nothing waits in a queue that a cap or an
    interrupt would have to take back.
    """

    name: str

    def prepare(self, folder: Path) -> None:
        """Make sure that run folders below ``folder`` can be written where the jobs are done.

        Raises :class:`ExecutorProblem`.
        """

    def room(self, wanted: Resources) -> bool:
        """Whether a job of that size would be started at once."""

    def submit(self, job: Job) -> None:
        """Start a job."""

    def finished(self, timeout_s: float) -> list[Outcome]:
        """Outcomes that arrived, waiting ``timeout_s`` for the first; each is yielded once."""

    def interrupt(self) -> None:
        """Ask everything that runs to stop; called again: at once."""

    def close(self) -> None:
        """Give up the workers; what still runs is killed."""
