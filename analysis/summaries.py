"""Section by section: statistics of several methods on tasks, each with what it can and cannot say.

The same code serves published numbers (one value a task: the best run) and own runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from analysis.ordering import domain_key, model_key
from analysis.output import CsvFile, Value
from analysis.statistics.aggregates import AGGREGATES, mean, probability_of_improvement, task_means
from analysis.statistics.bootstrap import Interval, interval, seed_of, wilson
from analysis.statistics.paired import holm, paired_test
from analysis.statistics.profiles import profile
from analysis.statistics.ranks import Stability, compare, leave_out, ranking
from analysis.statistics.scores import Array, Scores

SETTING = 2
"""The first label columns, model and N, make a setting; the rest names the method."""


@dataclass(frozen=True)
class Group:
    """Scores of one method in one setting; ``label`` is aligned with the label columns."""

    label: tuple[Value, ...]
    scores: Scores

    @property
    def method(self) -> str:
        """Method and, where there are any, its settings."""
        return " ".join(str(part) for part in self.label[SETTING:] if part)

    @property
    def several_runs(self) -> bool:
        """Whether some task has more than one run, so that resampling runs means anything."""
        return len(self.scores.values[0]) > 1


@dataclass(frozen=True)
class Section:
    """A table of results and the sentence that stands beside it."""

    title: str
    says: str
    table: CsvFile


def in_order(groups: Sequence[Group]) -> list[Group]:
    """Groups sorted by their labels."""
    return sorted(groups, key=lambda group: [_label_key(part) for part in group.label])


def _label_key(part: Value) -> tuple[float, tuple[str, str]]:
    return (part, ("", "")) if isinstance(part, int) else (-1, model_key(str(part)))


def aggregates(name: str, columns: tuple[str, ...], groups: Sequence[Group]) -> Section:
    """Mean, median, IQM and optimality gap of each group, with two intervals."""
    rows: list[tuple[Value, ...]] = []
    for group in in_order(groups):
        n_runs = int(group.scores.counts.sum())
        for aggregate, statistic in AGGREGATES.items():
            seed = seed_of(aggregate, *group.label)
            within = None
            if group.several_runs:
                within = interval(statistic, group.scores, tasks=False, seed=seed)
            across = interval(statistic, group.scores, tasks=True, seed=seed)
            value = float(statistic(group.scores.values))
            rows.append(
                (*group.label, len(group.scores.tasks), n_runs, aggregate, value, *_ends(within),
                 *_ends(across))
            )  # fmt: skip
    return Section(
        "Aggregates over tasks",
        "Intervals are 95 % percentile bootstraps with 10,000 resamples: `runs_*` resamples the "
        "runs within each task and says how far other seeds would move the number on these tasks "
        "(empty where there is one value a task; weak with one to four runs, because a bootstrap "
        "cannot see what few runs never drew); `tasks_*` also resamples the tasks and says how "
        "far another selection of similar tasks would move it. Neither covers the choice of "
        "anchors or of models.",
        CsvFile(
            name,
            (*columns, "n_tasks", "n_runs", "aggregate", "value", "runs_lo", "runs_hi",
             "tasks_lo", "tasks_hi"),
            rows,
        ),
    )  # fmt: skip


def paired(name: str, columns: tuple[str, ...], groups: Sequence[Group]) -> Section:
    """Every two methods of a setting on their common tasks; Holm over the rows."""
    rows: list[list[Value]] = []
    for one, other in combinations(in_order(groups), 2):
        tasks = sorted(set(one.scores.tasks) & set(other.scores.tasks))
        if one.label[:SETTING] != other.label[:SETTING] or not tasks:
            continue
        rows.append(
            [*one.label[:SETTING], one.method, other.method, *_comparison(one, other, tasks)]
        )
    for column in (-3, -1):
        for row, adjusted in zip(
            rows, holm([float(r[column - 1] or 0) for r in rows]), strict=True
        ):
            row[column] = adjusted
    return Section(
        "Pairs of methods",
        "`delta` is the mean over common tasks of ours minus theirs, its interval resamples tasks "
        "and runs; P(X > Y) is the chance that a run of ours beats one of theirs on the same "
        "task, ties one half. The tests ask whether the tasks' differences lie on one side; Holm's "
        "correction is over the rows of this table. With few tasks a large p value says little, "
        "and with unequal numbers of runs behind the values (the paper's bests) a small one says "
        "nothing about the methods.",
        CsvFile(
            name,
            (*columns[:SETTING], "ours", "theirs", "n_tasks", "delta", "delta_lo", "delta_hi",
             "p_improvement", "p_improvement_lo", "p_improvement_hi", "n_up", "n_down", "n_equal",
             "share_up_lo", "share_up_hi", "wilcoxon_p", "wilcoxon_holm", "sign_p", "sign_holm"),
            rows,
        ),
    )  # fmt: skip


def _comparison(one: Group, other: Group, tasks: Sequence[str]) -> list[Value]:
    ours, theirs = one.scores.only(tasks), other.scores.only(tasks)
    seed = seed_of(*one.label, *other.label)

    def difference(x: Array, y: Array) -> Array:
        return mean(x) - mean(y)

    test = paired_test((task_means(ours.values) - task_means(theirs.values)).tolist())
    chance = float(probability_of_improvement(ours.values, theirs.values))
    return [
        len(tasks),
        float(difference(ours.values, theirs.values)),
        *_ends(interval(difference, ours, theirs, tasks=True, seed=seed)),
        chance,
        *_ends(interval(probability_of_improvement, ours, theirs, tasks=True, seed=seed)),
        test.n_up, test.n_down, test.n_equal, *_ends(wilson(test.n_up, len(tasks))),
        test.wilcoxon_p, None, test.sign_p, None,
    ]  # fmt: skip


def profiles(name: str, columns: tuple[str, ...], groups: Sequence[Group]) -> Section:
    """Share of values that reach each level of NDG."""
    rows: list[tuple[Value, ...]] = []
    for group in in_order(groups):
        found = profile(group.scores, tasks=True, seed=seed_of("profile", *group.label))
        for tau, *shares in zip(found.taus, found.share, found.lo, found.hi, strict=True):
            rows.append((*group.label, tau, *map(float, shares)))
    return Section(
        "Performance profiles",
        "Share of run x task values with NDG of at least tau, with a pointwise 95 % band that "
        "resamples tasks and runs. A curve that lies above another everywhere is better at every "
        "level; where they cross, the order depends on the level. Close to tau = 100 the curves "
        "of published numbers hang on the last printed digit.",
        CsvFile(name, (*columns, "tau", "share", "lo", "hi"), rows),
    )


def ranks(name: str, columns: tuple[str, ...], groups: Sequence[Group]) -> Section:
    """Mean ranks on the common tasks, Friedman test, Nemenyi's critical difference."""
    ordered, tasks, values = matrix(groups)
    found = ranking([group.method for group in ordered], values) if tasks else None
    rows: list[tuple[Value, ...]] = []
    if found is not None:
        rows = [
            (*group.label, len(tasks), float(rank), found.friedman_p, found.critical_difference)
            for group, rank in zip(ordered, found.mean_ranks, strict=True)
        ]
    return Section(
        "Ranks",
        "Mean rank over the tasks that all have (1 is best). The Friedman test asks whether the "
        "methods differ at all; two of them differ at the 5 % level when their mean ranks are "
        "apart by the critical difference (Nemenyi). Ranks ignore how large a difference is, and "
        "a rank depends on which other methods are compared.",
        CsvFile(
            name, (*columns, "n_tasks", "mean_rank", "friedman_p", "critical_difference"), rows
        ),
    )


def stability(
    name: str,
    groups: Sequence[Group],
    domains: Mapping[str, str],
    variants: Mapping[str, Sequence[Group]],
) -> Section:
    """Order of methods by mean NDG without single tasks, without domains, and by other rules."""
    ordered, tasks, values = matrix(groups)
    found: list[Stability] = []
    if tasks:
        found += leave_out(values, {f"without {task}": [i] for i, task in enumerate(tasks)})
        titles = sorted({domains[task] for task in tasks}, key=domain_key)
        members = {d: [i for i, task in enumerate(tasks) if domains[task] == d] for d in titles}
        found += leave_out(values, {f"without {d}": places for d, places in members.items()})
        for variant, other in variants.items():
            same = {group.label: group for group in other}
            changed, _, theirs = matrix([same[group.label] for group in ordered])
            assert [group.label for group in changed] == [group.label for group in ordered]
            found.append(compare(variant, values.mean(axis=1), theirs.mean(axis=1)))
    return Section(
        "Stability of the order",
        "Kendall's tau between the order of methods by mean NDG over all tasks and the order when "
        "something is changed: 1 is the same order, 0 no relation; empty where it is not defined. "
        "It says how much the order hangs on one task or rule, not whether the order is right.",
        CsvFile(
            name,
            ("change", "kendall_tau", "same_leader"),
            [(row.left_out, row.tau, row.same_leader) for row in found],
        ),
    )


def matrix(groups: Sequence[Group]) -> tuple[list[Group], list[str], Array]:
    """Groups in order, the tasks that all have, and task means of shape (groups, tasks)."""
    ordered = in_order(groups)
    if not ordered:
        return [], [], np.zeros((0, 0))
    tasks = sorted(set.intersection(*(set(group.scores.tasks) for group in ordered)))
    if not tasks:
        return ordered, [], np.zeros((len(ordered), 0))
    return ordered, tasks, np.stack([task_means(g.scores.only(tasks).values) for g in ordered])


def _ends(found: Interval | None) -> tuple[float | None, float | None]:
    return (None, None) if found is None else (found.lo, found.hi)
