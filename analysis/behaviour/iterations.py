"""One iteration as few facts, so that a study of many thousands fits in memory.

All counting starts from a :class:`RunFacts`, which :mod:`analysis.behaviour.facts` reads from a
trace; what a figure means by its words is defined where it is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from analysis.rows import DataProblem
from analysis.traces import Trace

RULE_GATES = frozenset(("random", "stagnation", "always", "never"))
"""Gates that decide without a model: ablations, not EvoDuet's behaviour."""

IMPROVED, EQUAL, LOWER = "improved", "equal", "lower"
EVALUATION_FAILED, NO_PROGRAM = "evaluation_failed", "no_program"
OUTCOMES = (IMPROVED, EQUAL, LOWER, EVALUATION_FAILED, NO_PROGRAM)
NOT_IMPROVED = "not_improved"
"""A child that does not beat its parent, whose score is not on record."""
UNKNOWN = "unknown"
"""A child whose parent's score is not on record, or none and no record of candidates."""


@dataclass(frozen=True, slots=True)
class LookedUp:
    """A document of a look-up; ``first_t`` is its first retrieval, ``None`` if nothing tells."""

    db_id: str
    first_t: int | None


@dataclass(frozen=True, slots=True)
class Iteration:
    """What one record says; ``parent`` is ``None`` where an imported record does not know it.

    ``decision`` and ``executed`` are ``None`` without a gate, ``executed`` also when the decision
    is missing. ``predictions`` are those of the given documents, in their order. ``queries`` are
    the texts of all valid ones. ``exposed`` is ``None`` where the record does not tell what stood
    in the prompt. ``failed_first``: no candidate of the first attempt was valid (``None``:
    candidates are not on record); ``failed_first_evaluation``: and one of them had reached the
    evaluator. ``said_best``: the record's word for a new best, for want of a best before.
    """

    t: int
    decision: str | None
    executed: str | None
    malformed: bool
    parent_id: str
    parent: float | None
    child_id: str | None
    child: float | None
    best_before: float | None
    predictions: tuple[float, ...]
    queries: tuple[str, ...]
    executed_queries: int
    returned: int
    new_pages: int
    hosts: frozenset[str]
    retained_hosts: frozenset[str]
    looked_up: tuple[LookedUp, ...]
    unresolved: int
    exposed: bool | None
    excluded: bool
    outcome: str
    failed_first: bool | None
    failed_first_evaluation: bool
    said_promising: bool
    said_best: bool

    @property
    def promising(self) -> bool:
        """Whether a given document was predicted to lead strictly above the parent's score."""
        parent = self.parent
        if parent is None or not self.predictions:
            return self.said_promising
        return any(predicted > parent for predicted in self.predictions)

    @property
    def beats_parent(self) -> bool:
        """Whether there is a child strictly above the parent."""
        return self.outcome == IMPROVED

    @property
    def new_best(self) -> bool:
        """Whether there is a child strictly above everything before it."""
        if self.child is None:
            return False
        return self.said_best if self.best_before is None else self.child > self.best_before


@dataclass(frozen=True)
class TaskName:
    """What is counted by: a task's full id, its name, and its domain's title."""

    id: str
    name: str
    domain: str

    @classmethod
    def of(cls, trace: Trace) -> TaskName:
        """Of a run; a task that the catalogue does not have has the domain that the run tells.

        Texts are empty where nothing tells: counts that need no task take the run in.
        """
        try:
            task = trace.task
        except DataProblem:
            domain = trace.manifest.get("domain") or trace.summary.get("domain") or ""
            return cls(trace.task_id, trace.task_id.rpartition("/")[2], str(domain))
        return cls(task.id, task.name, task.declared.domain_title)


@dataclass(frozen=True)
class RunFacts:
    """A run's iterations by t. ``slots`` are those scheduled, 1..T; some may have no record."""

    folder: Path
    run_id: str
    task: TaskName
    model: str
    n: int | None
    retriever: str
    gate: str | None
    recorded: bool
    slots: int
    iterations: tuple[Iteration, ...]

    @property
    def domain(self) -> str:
        """Title of the task's domain."""
        return self.task.domain

    @property
    def decides(self) -> bool:
        """Whether a model decides what is retrieved: the pool of all decision statistics.

        Imported records were chosen for their stories, so they are in no rate.
        """
        return self.gate is not None and self.gate not in RULE_GATES and not self.recorded

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """Sort key that does not depend on where the run lies."""
        return (self.task.id, self.model, self.n or 0, self.retriever, self.run_id)
