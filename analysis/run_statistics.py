"""Section 5 of the analysis on own runs: files ``runs*.csv``, never mixed with published rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from statistics import fmean, stdev

import numpy as np

from analysis import summaries
from analysis.anchors import Range
from analysis.ordering import domain_key
from analysis.output import CsvFile, Value
from analysis.records import non_dominated
from analysis.runs import LABELS, Configuration, Run, Study
from analysis.sensitivity import DRAWS, drawn_anchors, gains
from analysis.statistics.aggregates import AGGREGATES, TARGET
from analysis.statistics.bootstrap import seed_of
from analysis.statistics.equal_n import equal_n
from analysis.statistics.scores import Scores
from analysis.summaries import Group, Section


def runs_table(study: Study) -> CsvFile:
    """One row a run."""
    return CsvFile(
        "runs",
        ("run_id", "folder", "task_id", "method", "model", "N", "settings", "seed", "status",
         "iterations", "search_score", "objective", "ndg", "ndg_raw", "cost_usd",
         "unpriced_calls"),
        [
            (run.run_id, run.folder.relative_to(study.folder).as_posix(), run.task.name,
             run.configuration.method, run.configuration.model, run.configuration.n,
             run.configuration.settings, run.seed, run.status, run.done, run.search_score,
             run.objective, run.ndg, run.ndg_raw, run.cost_usd, run.unpriced_calls)
            for run in study.runs
        ],
    )  # fmt: skip


def sections(study: Study, ranges: dict[str, Range]) -> list[Section]:
    """Everything but the anytime curves, in the order in which a reader wants it."""
    runs, everyone = comparable(study), groups(study)
    domains = {run.task.name: run.task.declared.domain_title for run in runs}
    variants = {
        "no floor at 0": _groups(runs, lambda run: run.ndg_raw or 0.0),
        "cap at 100": _groups(runs, lambda run: min(TARGET, run.ndg or 0.0)),
        "best run instead of the mean": [
            Group(
                g.label, Scores.of({t: [float(g.scores.of_task(t).max())] for t in g.scores.tasks})
            )
            for g in everyone
        ],
    }
    return [
        cells(runs),
        summaries.aggregates("runs_aggregates", LABELS, everyone),
        summaries.paired("runs_pairs", LABELS, everyone),
        equal_runs(everyone),
        summaries.profiles("runs_profile", LABELS, everyone),
        summaries.ranks("runs_ranks", LABELS, everyone),
        summaries.stability("runs_stability", everyone, domains, variants),
        costs(runs),
        sensitivity(runs, ranges),
    ]


def comparable(study: Study) -> list[Run]:
    """Runs that had their whole budget and have an NDG."""
    return [run for run in study.runs if run.complete and run.ndg is not None]


def groups(study: Study) -> list[Group]:
    """NDG of comparable runs by configuration."""
    return _groups(comparable(study), lambda run: run.ndg or 0.0)


def _groups(runs: Iterable[Run], value: Callable[[Run], float]) -> list[Group]:
    found: dict[Configuration, dict[str, list[float]]] = {}
    for run in runs:
        by_task = found.setdefault(run.configuration, {})
        by_task.setdefault(run.task.name, []).append(value(run))
    return [Group(config.label, Scores.of(by_task)) for config, by_task in found.items()]


def _cells(runs: Iterable[Run]) -> dict[tuple[Configuration, str], list[Run]]:
    found: dict[tuple[Configuration, str], list[Run]] = {}
    for run in runs:
        found.setdefault((run.configuration, run.task.name), []).append(run)
    return dict(
        sorted(
            found.items(),
            key=lambda item: (domain_key(item[1][0].task.declared.domain_title), item[0][1],
                              item[0][0].key),
        )
    )  # fmt: skip


def cells(runs: Sequence[Run]) -> Section:
    """Mean, standard deviation and best of each task and configuration, NDG and native."""
    rows: list[tuple[Value, ...]] = []
    for (config, task), mine in _cells(runs).items():
        gained = [run.ndg for run in mine if run.ndg is not None]
        native = [run.objective for run in mine if run.objective is not None]
        best = (max if mine[0].task.declared.direction == "max" else min)(native)
        spent = [run.cost_usd for run in mine if run.cost_usd is not None]
        rows.append(
            (mine[0].task.declared.domain_title, task, *config.label,
             "/".join(map(str, sorted({run.iterations for run in mine}))), len(mine),
             fmean(gained), _std(gained), max(gained), fmean(native), _std(native), best,
             fmean(spent) if len(spent) == len(mine) else None)
        )  # fmt: skip
    return Section(
        "Cells",
        "Mean, sample standard deviation and best of n runs, with the floor at 0 before the mean. "
        "The best of more runs is better for that reason alone: compare bests at equal n only. "
        "Cells whose runs had different numbers of iterations (more than one number in that "
        "column) mix budgets.",
        CsvFile(
            "runs_cells",
            ("domain", "task_id", *LABELS, "iterations", "n", "ndg_mean", "ndg_std", "ndg_best",
             "native_mean", "native_std", "native_best", "mean_cost_usd"),
            rows,
        ),
    )  # fmt: skip


def _std(values: Sequence[float]) -> float | None:
    return stdev(values) if len(values) > 1 else None


def equal_runs(groups: Sequence[Group]) -> Section:
    """Best-of-n of every two methods of a setting at every common n."""
    rows: list[tuple[Value, ...]] = []
    for one, other in combinations(summaries.in_order(groups), 2):
        if one.label[: summaries.SETTING] != other.label[: summaries.SETTING]:
            continue
        seed = seed_of("equal n", *one.label, *other.label)
        for found in equal_n(one.scores, other.scores, seed=seed):
            rows.append(
                (*one.label[: summaries.SETTING], one.method, other.method, found.n, found.n_tasks,
                 found.ours, found.theirs, found.delta, found.difference.lo, found.difference.hi)
            )  # fmt: skip
    return Section(
        "Equal numbers of runs",
        "Expected best of n runs, drawn without replacement, over common tasks, for every n that "
        "each of them allows (n = 1 is the mean); the interval is the middle 95 % of the "
        "difference over such draws. It makes bests comparable between methods with different "
        "numbers of runs; the interval describes these runs and does not cover new ones.",
        CsvFile(
            "runs_equal_n",
            (*LABELS[: summaries.SETTING], "ours", "theirs", "n", "n_tasks", "best_ours",
             "best_theirs", "delta", "delta_lo", "delta_hi"),
            rows,
        ),
    )  # fmt: skip


def costs(runs: Sequence[Run]) -> Section:
    """Mean cost and mean NDG of each configuration on each task, and which no other one beats."""
    by_task: dict[str, list[tuple[Configuration, float, float]]] = {}
    for (config, task), mine in _cells(runs).items():
        spent = [run.cost_usd for run in mine if run.cost_usd is not None]
        if len(spent) == len(mine) and not any(run.unpriced_calls for run in mine):
            gained = fmean(run.ndg or 0.0 for run in mine)
            by_task.setdefault(task, []).append((config, fmean(spent), gained))
    rows: list[tuple[Value, ...]] = []
    for task, points in by_task.items():
        best = non_dominated([(cost, gained) for _, cost, gained in points])
        for (config, cost, gained), flag in zip(points, best, strict=True):
            rows.append((task, *config.label, cost, gained, flag))
    return Section(
        "Cost",
        "Mean cost in USD of model calls and searches, and mean NDG; `pareto` marks what no other "
        "configuration beats in both. Configurations with a call of unknown price are left out, "
        "not counted as free. The cost of evaluations is not in it.",
        CsvFile("runs_pareto", ("task_id", *LABELS, "cost_usd", "ndg", "pareto"), rows),
    )


def sensitivity(runs: Sequence[Run], ranges: dict[str, Range]) -> Section:
    """Aggregates over the tasks whose anchor ranges are known, over all allowed anchors."""
    usable = [run for run in runs if run.task.name in ranges and run.objective is not None]
    rows: list[tuple[Value, ...]] = []
    for point, native in zip(
        summaries.in_order(_groups(usable, lambda run: run.ndg or 0.0)),
        summaries.in_order(_groups(usable, lambda run: run.objective or 0.0)),
        strict=True,
    ):
        x0, sota = drawn_anchors(ranges, native.scores.tasks, seed=seed_of("anchors"))
        drawn = gains(native.scores.values, x0, sota)
        for name, statistic in AGGREGATES.items():
            values = statistic(drawn)
            value = float(statistic(point.scores.values))
            tasks = len(native.scores.tasks)
            lo, hi = float(np.min(values)), float(np.max(values))
            rows.append((*point.label, tasks, name, value, lo, hi))
    return Section(
        "Sensitivity to the anchors",
        f"Smallest and largest value over {DRAWS:,} draws of x0 and SOTA in the ranges that the "
        "paper's printed digits allow; tasks without such ranges (the ten simple ones) are not in "
        "it. Says nothing about anchors chosen by another rule.",
        CsvFile("runs_sensitivity", (*LABELS, "n_tasks", "aggregate", "value", "lo", "hi"), rows),
    )
