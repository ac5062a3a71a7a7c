"""The values that all statistics start from: some runs for each of some tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Scores:
    """Runs of one method: ``values`` has shape (tasks, most runs), padded with NaN at the end."""

    tasks: tuple[str, ...]
    values: Array

    @classmethod
    def of(cls, by_task: Mapping[str, Sequence[float]]) -> Scores:
        """Scores from lists of finite values; the order of tasks and of runs does not matter.

        Raises ``ValueError`` for no task, a task without runs, or a value that is not finite.
        """
        if not by_task or not all(by_task.values()):
            raise ValueError("statistics need at least one task, and a run for every task")
        tasks = tuple(sorted(by_task))
        values = np.full((len(tasks), max(map(len, by_task.values()))), np.nan)
        for row, task in zip(values, tasks, strict=True):
            row[: len(by_task[task])] = sorted(by_task[task])
        counts = [len(by_task[task]) for task in tasks]
        if np.isfinite(values).sum() != sum(counts):
            raise ValueError("statistics need finite values; an invalid run has NDG 0")
        return cls(tasks, values)

    @property
    def counts(self) -> NDArray[np.intp]:
        """Number of runs of each task."""
        result: NDArray[np.intp] = np.isfinite(self.values).sum(axis=1)
        return result

    def only(self, tasks: Sequence[str]) -> Scores:
        """The same for some of the tasks."""
        rows = [self.tasks.index(task) for task in sorted(tasks)]
        return Scores(tuple(sorted(tasks)), self.values[rows])

    def of_task(self, task: str) -> Array:
        """Runs of one task, ascending."""
        row = self.values[self.tasks.index(task)]
        result: Array = row[np.isfinite(row)]
        return result
