"""Bases for the usual kinds of candidates: how a program is run and what it must give back.

* :class:`PythonConstruction` - ``run_code()`` returns a construction.
* :class:`PayloadSolver` - ``solve(payload)`` maps public instance data to an answer.
* :class:`ArrayFunctions` - functions that are fed with arrays, each group of calls in a process
  of its own.
* :class:`FileProgram` - a program that is built if need be and run on input files.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from benchmark.artifact import Artifact, Plain, load
from benchmark.evaluator import Call, Completed, Evaluator, Invalid, Sandbox, Stage
from benchmark.sandbox.inside.wire import Opaque, OtherIterable

WARM_START = "GLOBAL_BEST_CONSTRUCTION"
"""Builtin name under which public releases hand the best construction so far to a program."""


class PythonConstruction(Evaluator):
    """A Python file whose ``entry_point`` takes no argument and returns a construction.

    The name ``GLOBAL_BEST_CONSTRUCTION`` is a builtin of the program: ``None``, or the construction
    of the artifact named by the task's option ``warm_start``.
    """

    entry_point: ClassVar[str] = "run_code"

    def produce(self, program: Path, sandbox: Sandbox, stage: Stage) -> Artifact:
        """Call the entry point once and convert what it returned."""
        (returned,) = sandbox.call(
            program, [Call(self.entry_point)], builtins={WARM_START: self._warm_start()}
        )
        return self.convert(returned)

    def _warm_start(self) -> Plain:
        path = self.setup.options.get("warm_start")
        return None if path is None else load(path).construction

    @abstractmethod
    def convert(self, returned: Any) -> Artifact:
        """What the program returned (see :mod:`benchmark.sandbox.inside.wire`) as an artifact.

        Rules about containers and element types are checked here; raises :class:`Invalid`.
        """


class PayloadSolver(Evaluator):
    """A Python file whose ``solve(payload)`` gets a fresh JSON object and returns a JSON value."""

    entry_point: ClassVar[str] = "solve"
    random_seed: ClassVar[int | None] = 0

    @abstractmethod
    def payload(self) -> dict[str, Plain]:
        """The public instance data, as plain JSON values."""

    def produce(self, program: Path, sandbox: Sandbox, stage: Stage) -> Artifact:
        """Call the solver once and convert its answer to plain JSON values."""
        call = Call(self.entry_point, [self.payload()])
        (returned,) = sandbox.call(program, [call], random_seed=self.random_seed)
        return self.convert(returned)

    def convert(self, returned: Any) -> Artifact:
        """The answer as JSON values; raises :class:`Invalid` for anything JSON cannot hold."""
        return Artifact(json_value(returned))


class ArrayFunctions(Evaluator):
    """A Python file that defines functions of arrays; :meth:`ask` calls them in one process."""

    def ask(
        self, program: Path, sandbox: Sandbox, calls: Iterable[tuple[str, Sequence[Plain]]]
    ) -> list[Any]:
        """Call functions (name, arguments) in order in one fresh process; their return values."""
        return sandbox.call(program, [Call(name, args) for name, args in calls])


@dataclass(frozen=True)
class Case:
    """One input of a program: the bytes it reads, and more command-line arguments if any."""

    name: str
    stdin: bytes | Path
    arguments: Sequence[str] = ()


class FileProgram(Evaluator):
    """A program that reads an input and writes an output, once for each case."""

    @abstractmethod
    def build(self, program: Path, sandbox: Sandbox) -> Path:
        """An executable made from the candidate's source; raises ``BuildFailed``."""

    def run_case(self, executable: Path, case: Case, sandbox: Sandbox, **limits: Any) -> Completed:
        """Run one case in a sandbox of its own, in which no other case's input is visible."""
        argv = [str(executable), *case.arguments]
        return sandbox.run(argv, stdin=case.stdin, visible=[executable], **limits)


def json_value(returned: Any) -> Any:
    """A returned value as JSON values: tuples and arrays become lists, numpy scalars numbers.

    Raises :class:`Invalid` for NaN, infinity, other containers and types, or keys that are no text.
    """
    if isinstance(returned, np.ndarray):
        if returned.dtype.kind not in "biufU":
            raise Invalid(f"the answer holds an array of dtype {returned.dtype}")
        return json_value(returned.tolist())
    if isinstance(returned, np.generic):
        return json_value(returned.item())
    if isinstance(returned, list | tuple):
        return [json_value(item) for item in returned]
    if isinstance(returned, Mapping):
        for key in returned:
            if not isinstance(key, str):
                raise Invalid(f"the answer has a key of type {type_name(key)}; keys must be text")
        return {key: json_value(value) for key, value in returned.items()}
    if isinstance(returned, float):
        if not np.isfinite(returned):
            raise Invalid(f"the answer holds {returned}; numbers must be finite")
        return returned
    if returned is None or isinstance(returned, bool | int | str):
        return returned
    raise Invalid(f"the answer holds a value of type {type_name(returned)}, which JSON has not")


def type_name(value: Any) -> str:
    """The name of the type that a value had in the candidate's process."""
    return value.type_name if isinstance(value, Opaque | OtherIterable) else type(value).__name__
