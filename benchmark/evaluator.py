"""The contract between a task and the harness: produce, then score.

An evaluation has two halves that never share a process::

    program ── produce (sandbox, untrusted) ──▶ Artifact (plain data) ── score (trusted) ──▶ Score

``produce`` runs the candidate behind a :class:`Sandbox` and brings back an
:class:`~benchmark.artifact.Artifact`. ``score`` is a pure function of that artifact: it never
imports candidate code, validates before it computes, and raises :class:`Invalid` with a reason
that a person can act on. A task folder holds one ``evaluator.py`` with a subclass of
:class:`Evaluator`, bound to the module name ``EVALUATOR``; the bases in
:mod:`benchmark.candidates` implement ``produce`` for the usual kinds of candidates.

A program fails in one of the ways below; each is an exception whose ``status`` becomes
``Evaluation.status``. Anything else that goes wrong is the harness's fault, is reported as
``unavailable`` with a reason ``infrastructure: ...`` and is never scored as zero.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import numpy as np

from benchmark.artifact import Artifact, Plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from benchmark.task import Task

Stage = Literal["search", "report"]
Status = Literal[
    "valid",
    "invalid",
    "crashed",
    "timeout",
    "out_of_memory",
    "build_failed",
    "unavailable",
]

ATTACHMENT_CHARS = 10_000
"""Longest attachment (compiler output and the like) that a score or a failure keeps."""


class Failure(Exception):
    """The candidate has no score. ``str(failure)`` is the one-line reason."""

    status: ClassVar[Status]

    def __init__(self, reason: str, *, attachments: Mapping[str, str] | None = None) -> None:
        super().__init__(reason)
        self.attachments = {
            name: text[-ATTACHMENT_CHARS:] for name, text in (attachments or {}).items()
        }


class Invalid(Failure):
    """The candidate ran, but what it produced breaks a rule of the task."""

    status = "invalid"


class Crashed(Failure):
    """The candidate raised, exited early or was killed by a signal."""

    status = "crashed"


class TimedOut(Failure):
    """The candidate used up its wall or CPU time."""

    status = "timeout"


class OutOfMemory(Failure):
    """The candidate used up its memory."""

    status = "out_of_memory"


class BuildFailed(Failure):
    """The candidate's source does not compile."""

    status = "build_failed"


class Unavailable(Failure):
    """This machine cannot evaluate the task: data, a library or a toolchain is missing."""

    status = "unavailable"


@dataclass(frozen=True)
class Score:
    """What ``score`` found out about a valid artifact.

    ``search`` steers a method (higher is better). ``objective`` is the task's reporting metric,
    in its own unit and direction; NDG is computed on it. It is ``None`` at stage ``search`` of
    tasks whose reporting metric is held out. ``metrics`` are shown to methods: they are finite,
    never held out, and an undefined metric is absent. None of the texts may hold times, memory,
    process ids, paths or host names: a replayed run must see the same ones. Numpy scalars become
    Python numbers, which every journal and report can hold.

    Raises ``ValueError`` for a number that is not finite: such a score is an evaluator's bug.
    """

    search: float | None
    objective: float | None
    metrics: Mapping[str, float] = field(default_factory=dict)
    feedback: str = ""
    attachments: Mapping[str, str] = field(default_factory=dict)
    comparable: bool = True
    """False where the objective is not the task's own (other cases, another instance): no NDG."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "search", _plain(self.search))
        object.__setattr__(self, "objective", _plain(self.objective))
        metrics = {name: _plain(value) for name, value in self.metrics.items()}
        object.__setattr__(self, "metrics", metrics)
        numbers = {"search": self.search, "objective": self.objective, **self.metrics}
        for name, value in numbers.items():
            if value is not None and not math.isfinite(value):
                raise ValueError(f"score has {name} = {value}; undefined metrics must be absent")


def _plain(value: Any) -> Any:
    """A numpy scalar as the Python number it is; anything else unchanged."""
    return value.item() if isinstance(value, np.generic) else value


@dataclass(frozen=True)
class Call:
    """One call of a function that the program defines: its name and positional arguments.

    Arguments are plain data (JSON values whose leaves may be numpy arrays).
    """

    entry_point: str
    args: Sequence[Plain] = ()


@dataclass(frozen=True)
class Completed:
    """A command that ran to its end inside the sandbox.

    ``returncode`` is negative for a signal, as in :mod:`subprocess`. ``outputs`` holds the files
    that were asked for and exist. Times in seconds, memory in MB.
    """

    returncode: int
    stdout: bytes
    stderr: bytes
    outputs: Mapping[str, bytes]
    wall_s: float
    cpu_s: float
    peak_mb: float


class Sandbox(Protocol):
    """What ``produce`` may use to run untrusted code.

    Every method raises :class:`Crashed`, :class:`TimedOut` or :class:`OutOfMemory` when the
    candidate does not come back by itself, and leaves no process behind.
    """

    def call(
        self,
        program: Path,
        calls: Sequence[Call],
        *,
        builtins: Mapping[str, Plain] | None = None,
        random_seed: int | None = None,
        numpy_seed: int | None = None,
        visible: Sequence[Path] = (),
        wall_s: float | None = None,
    ) -> list[Any]:
        """Load the Python file ``program`` in one fresh process and make the calls in order.

        Returns what each call returned, rebuilt from a codec that cannot execute anything: see
        :mod:`benchmark.artifact` for the types that survive. ``builtins`` are names that the
        program sees as builtins; ``random_seed`` seeds the module :mod:`random` before loading,
        ``numpy_seed`` numpy's global generator; ``wall_s`` tightens the wall limit;
        ``visible`` are host files or folders that the program may read; folders are on its path.
        """

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes | Path = b"",
        files: Mapping[str, bytes] | None = None,
        visible: Sequence[Path] = (),
        outputs: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        wall_s: float | None = None,
        cpu_s: float | None = None,
        memory_mb: int | None = None,
    ) -> Completed:
        """Run a command in a fresh private folder that holds ``files`` (name -> content).

        ``visible`` are host files or folders shown read-only at their own path (toolchains, a
        built program); ``outputs`` names files of the private folder to bring back. Limits
        default to the task's. A non-zero exit is not an exception: look at ``returncode``.
        """


@dataclass(frozen=True)
class Setup:
    """What an evaluator is made for: the task, the data variant and the values of its options."""

    task: Task
    variant: str
    options: Mapping[str, Any] = field(default_factory=dict)


class Evaluator(ABC):
    """A task's trusted evaluator; one instance serves one :class:`Setup`."""

    stages: ClassVar[tuple[Stage, ...]] = ("search",)
    """``("search",)`` when search and report are the same evaluation."""

    score_in_process: ClassVar[bool] = False
    """True where ``score`` feeds the untrusted artifact to heavy libraries (parsers, ODE solvers,
    chemistry): the harness then scores in a second, limited process."""

    failed_repeat: ClassVar[float | None] = None
    """Value of a failed one of several repeats; ``None``: one failed repeat fails them all."""

    peer_failure: ClassVar[Mapping[str, float]] = {"combined_score": 0.0}
    """What a failed candidate is given by the peers' interface, which knows numbers only."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup

    @abstractmethod
    def produce(self, program: Path, sandbox: Sandbox, stage: Stage) -> Artifact:
        """Run the candidate and bring back its artifact; raises a :class:`Failure`."""

    @abstractmethod
    def score(self, artifact: Artifact, stage: Stage) -> Score:
        """Validate and score an artifact; raises :class:`Invalid`."""

    def certify(self, artifact: Artifact) -> dict[str, str]:
        """Exact facts about a valid artifact (``--exact``): names to integers, fractions, notes.

        Raises :class:`Unavailable` where the task has no exact certificate.
        """
        raise Unavailable(f"{self.setup.task.id} has no exact certificate; leave out --exact")

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        """Draw a valid artifact onto an empty matplotlib figure (``evoduet plot``).

        Raises :class:`Unavailable` where the task has no picture.
        """
        raise Unavailable(f"{self.setup.task.id} has no picture")
