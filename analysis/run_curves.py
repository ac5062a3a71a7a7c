"""Anytime behaviour of own runs: mean curves, areas, runtime distributions, waiting times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from analysis.output import CsvFile, Value
from analysis.progress import AXES, COUNTS, Progress
from analysis.runs import LABELS, Configuration
from analysis.statistics.anytime import WAITS, mean_curve, runtime_distribution, wait
from analysis.summaries import Section

EVALUATIONS = "evaluations"


@dataclass(frozen=True)
class Curves:
    """Progress of every complete run whose trace can be read."""

    progress: tuple[Progress, ...]


def sections(curves: Curves) -> list[Section]:
    """All anytime tables."""
    return [anytime(curves), areas(curves), runtimes(curves), waits(curves)]


def cells(curves: Curves) -> dict[tuple[Configuration, str, str], list[Progress]]:
    """Runs by configuration, task and measure."""
    found: dict[tuple[Configuration, str, str], list[Progress]] = {}
    for progress in curves.progress:
        key = (progress.run.configuration, progress.run.task.name, progress.measure)
        found.setdefault(key, []).append(progress)
    return found


def anytime(curves: Curves) -> Section:
    """Mean over runs of the best so far, against everything it may be measured by."""
    rows: list[tuple[Value, ...]] = []
    for (config, task, measure), mine in cells(curves).items():
        for axis in AXES:
            known = [progress.curves[axis] for progress in mine if axis in progress.curves]
            if len(known) < len(mine):
                continue
            grid, values = mean_curve(known, whole=axis in COUNTS)
            for cost, value in zip(grid.tolist(), values.tolist(), strict=True):
                rows.append((*config.label, task, measure, axis, cost, value, len(known)))
    return Section(
        "Anytime curves",
        "Mean over runs of the run's best so far as a step function, up to the cost that every run "
        "of the cell has spent; an axis is absent where a run does not know it (USD with unpriced "
        "calls). Rows with measure `search_score` show the score that steers a method on tasks "
        "whose reporting metric is held out: it is not NDG. Iterations are not equal work: read "
        "methods with different N against evaluations or USD.",
        CsvFile(
            "runs_anytime", (*LABELS, "task_id", "measure", "axis", "cost", "value", "n_runs"), rows
        ),
    )


def areas(curves: Curves) -> Section:
    """Mean height of each run's NDG curve, on every axis."""
    rows: list[tuple[Value, ...]] = []
    for progress in curves.progress:
        if progress.measure != "ndg":
            continue
        run = progress.run
        heights = (
            progress.curves[axis].area() if axis in progress.curves else None for axis in AXES
        )
        rows.append((run.run_id, run.task.name, *run.configuration.label, *heights))
    return Section(
        "Areas",
        "Area under the NDG curve of a run divided by what it spent on the axis: its mean NDG "
        "while under way. It rewards early gains; runs with other budgets are not comparable.",
        CsvFile("runs_area", ("run_id", "task_id", *LABELS, *AXES), rows),
    )


def runtimes(curves: Curves) -> Section:
    """Share of (run, target) pairs reached within a number of evaluations."""
    rows: list[tuple[Value, ...]] = []
    for config, mine in _by_configuration(curves.progress).items():
        known = [p.curves[EVALUATIONS] for p in mine if EVALUATIONS in p.curves]
        if len(known) < len(mine):
            continue
        costs, shares = runtime_distribution(known)
        for cost, share in zip(costs.tolist(), shares.tolist(), strict=True):
            rows.append((*config.label, cost, share, len(mine)))
    return Section(
        "Runtime distribution",
        "Share of pairs of a run and a target (NDG 10, 20 ... 100) reached within so many "
        "evaluations, all tasks together (COCO's ECDF). Methods are comparable where they ran on "
        "the same tasks; what a longer run would still reach is not in it. Absent where a run does "
        "not tell its evaluations.",
        CsvFile("runs_ecdf", (*LABELS, "evaluations", "share", "n_runs"), rows),
    )


def waits(curves: Curves) -> Section:
    """Evaluations and USD until a level of NDG, with runs that never came there censored."""
    rows: list[tuple[Value, ...]] = []
    for (config, task, measure), mine in cells(curves).items():
        if measure != "ndg":
            continue
        for axis in (EVALUATIONS, "usd"):
            known = [progress.curves[axis] for progress in mine if axis in progress.curves]
            if len(known) < len(mine):
                continue
            for target in WAITS:
                found = wait(known, target)
                rows.append(
                    (*config.label, task, axis, target, found.n, found.reached, found.median)
                )
    return Section(
        "Cost to reach a level",
        "Kaplan-Meier estimate of the median cost until NDG 50, 80, 95 and 100; a run that never "
        "came there counts as still waiting when it stopped. Empty: fewer than half are estimated "
        "to be there. With a handful of runs the estimate moves in large steps.",
        CsvFile(
            "runs_waits", (*LABELS, "task_id", "axis", "ndg", "n", "reached", "median_cost"), rows
        ),
    )


def _by_configuration(found: Iterable[Progress]) -> dict[Configuration, list[Progress]]:
    groups: dict[Configuration, list[Progress]] = {}
    for progress in found:
        if progress.measure == "ndg":
            groups.setdefault(progress.run.configuration, []).append(progress)
    return dict(sorted(groups.items(), key=lambda item: item[0].key))
