"""Do predictions of documents foretell what their children score? (Figure 8(a))

A pair is a retrieve iteration with a prediction and a scored child. Both axes are scaled task by
task, each by the 2nd and 98th percentile of its own values, and clipped to [0, 1]; the pooled rank
correlation is that of the scaled values, a task's that of its raw ones. Where several documents
were retained the largest prediction counts; the mean and the first ranked are reported beside it.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.behaviour.decisions import by_model, by_task, iterations_of
from analysis.behaviour.iterations import RunFacts
from analysis.output import CsvFile, Value
from analysis.statistics.scores import Array

Choice = Callable[[Sequence[float]], float]
CHOICES: Mapping[str, Choice] = {
    "max": max,
    "mean": statistics.fmean,
    "first": lambda predictions: predictions[0],
}
"""Which prediction stands for an iteration."""
_LOW, _HIGH = 2.0, 98.0


@dataclass(frozen=True)
class TaskPairs:
    """Predictions and child scores of a task, raw and scaled.

    ``scaled`` is ``None`` when all predictions or all scores are the same: there is no scale.
    """

    task_id: str
    predicted: Array
    measured: Array

    @property
    def scaled(self) -> tuple[Array, Array] | None:
        """Both axes in [0, 1]."""
        x, y = _scaled(self.predicted), _scaled(self.measured)
        return None if x is None or y is None else (x, y)

    @property
    def spearman(self) -> float | None:
        """Rank correlation of the raw values."""
        return spearman(self.predicted, self.measured)


@dataclass(frozen=True)
class Evidence:
    """All tasks, and the correlation pooled over them (``n`` pairs with a scale)."""

    tasks: tuple[TaskPairs, ...]
    x: Array
    y: Array

    @property
    def pooled(self) -> float | None:
        """Rank correlation of the scaled values of all tasks together."""
        return spearman(self.x, self.y)

    @property
    def known(self) -> list[float]:
        """Rank correlations of the tasks that have one."""
        return [rho for rho in (task.spearman for task in self.tasks) if rho is not None]


def evidence(chosen: Sequence[RunFacts], choose: Choice = max) -> Evidence:
    """Pairs of the runs, by task."""
    tasks = tuple(
        TaskPairs(task, *map(np.array, zip(*pairs, strict=True)))
        for task, pairs in ((t, list(_pairs(r, choose))) for t, r in by_task(chosen).items())
        if pairs
    )
    scaled = [both for both in (task.scaled for task in tasks) if both is not None]
    x, y = (np.concatenate([both[axis] for both in scaled] or [np.empty(0)]) for axis in (0, 1))
    return Evidence(tasks, x, y)


def _pairs(runs: Sequence[RunFacts], choose: Choice) -> Iterator[tuple[float, float]]:
    for iteration in iterations_of(runs):
        retrieved = iteration.executed == "retrieve" and iteration.predictions
        if retrieved and iteration.child is not None:
            yield choose(iteration.predictions), iteration.child


def _scaled(values: Array) -> Array | None:
    low, high = np.percentile(values, (_LOW, _HIGH))
    if not high > low:
        return None
    result: Array = np.clip((values - low) / (high - low), 0.0, 1.0)
    return result


def spearman(x: Array, y: Array) -> float | None:
    """Rank correlation; ``None`` where one side does not vary."""
    from scipy.stats import spearmanr

    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(spearmanr(x, y).statistic)


def files(chosen: Sequence[RunFacts]) -> list[CsvFile]:
    """Correlation of each task, and of the pool under every choice of prediction and model."""
    rows: list[tuple[Value, ...]] = []
    groups = {"": list(chosen), **by_model(chosen)}
    for model, runs in groups.items():
        for name, choose in CHOICES.items():
            found = evidence(runs, choose)
            known = found.known
            median = statistics.median(known) if known else None
            rows.append((model, name, len(found.x), found.pooled, len(known), median,
                         sum(rho > 0 for rho in known)))  # fmt: skip
    return [
        CsvFile("fig8_corr", ("task_id", "n", "spearman"),
                [(t.task_id, len(t.measured), t.spearman) for t in evidence(chosen).tasks]),
        CsvFile("fig8_corr_pooled", ("model", "prediction", "n", "spearman_pooled", "tasks",
                                     "median_of_tasks", "tasks_positive"), rows),
    ]  # fmt: skip
