"""What is common to the systems that a task can be adapted to."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchmark.sandbox.launch import RUNNER_PATIENCE_S
from benchmark.scoring import SCORER_WALL_S
from benchmark.task import SUFFIXES, Task

ITERATIONS = 100
SEED = 42
MODEL: Mapping[str, float | int] = {
    "temperature": 0.7,
    "max_tokens": 32768,
    "timeout": 1800,
    "retries": 3,
}
"""Sampling and patience for model calls as in the EvoDuet paper; seconds, tokens."""


@dataclass(frozen=True)
class System:
    """One system: which files its folder holds and how a run is started.

    ``files`` gives the evaluator and the configuration by name; the initial program (named
    ``initial_stem`` and the language's suffix), the instruction and a README join them.
    ``command`` starts a run from inside the folder, ``None`` where it is not known; ``notes`` are
    paragraphs for the README.
    """

    name: str
    title: str
    initial_stem: str
    files: Callable[[Task], Mapping[str, str]]
    command: Callable[[Task], str] | None
    notes: Callable[[Task], list[str]]

    def initial_name(self, task: Task) -> str:
        """The file name of the initial program in the folder."""
        return self.initial_stem + SUFFIXES[task.declared.language]


def reference(task: Task) -> str:
    """How an evaluator in another process finds the task: its id, or a folder by its path."""
    return task.id if task.package is not None else str(task.folder)


def patience_s(task: Task) -> int:
    """The time limit that the other system gets, in seconds: longer than ours can last.

    These systems cannot end an evaluation: past their limit they abandon it, running, in a
    thread. So ours must always come first: a candidate's wall time, starting its sandbox, scoring.
    """
    return math.ceil(task.declared.limits.wall_s + RUNNER_PATIENCE_S + SCORER_WALL_S)


def longest_program(task: Task) -> int:
    """Characters that a program may have: the systems' own 10,000 is less than some seeds."""
    return max(100_000, 3 * len(task.initial_program.read_text(encoding="utf-8")))


def evaluator_stub(task: Task, title: str) -> str:
    """A module with ``evaluate(program_path)``, for systems that load it by its path."""
    return f'''"""Scores programs on {task.id} for {title}. Written by `evoduet adapt`."""

try:
    from benchmark.peers import peer_evaluate, require
except ImportError as error:
    message = "install evoduet into the environment that runs {title}: pip install evoduet"
    raise ImportError(message) from error

TASK = {json.dumps(reference(task))}
require(TASK)  # where the task cannot be evaluated, the run ends here and says why


def evaluate(program_path):
    """Numbers of one program, among them `combined_score`; higher is better."""
    return peer_evaluate(TASK, program_path)
'''
