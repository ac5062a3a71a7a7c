"""What follows a decision: improvement rates by group (Figure 8(b)), and what else is told of them.

Groups are no-op, look-up, and retrieve with or without a promising document: one whose predicted
score lies strictly above the parent's measured search score. Rates are shares of the iterations of
a group that have a scored child; the other reading, of all its iterations, stands beside it. The
comparison is observational: a gate that retrieves when it is stuck meets other parents than one
that does not, and promising documents are easier to find for poor parents.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from analysis.behaviour.iterations import LOWER, UNKNOWN, Iteration, RunFacts
from analysis.output import CsvFile, Value
from analysis.statistics.proportions import bounds, share

NO_OP, LOOK_UP = "no-op", "look-up"
PROMISING, OTHER = "retrieve_promising", "retrieve_other"
GROUPS = (NO_OP, LOOK_UP, PROMISING, OTHER)
RATE_COLUMNS = ("n", "parent_improved", "new_best", "rate_parent", "rate_best")


@dataclass
class Tally:
    """Counts of a group: all iterations, those with a scored child, and what these reached."""

    slots: int = 0
    scored: int = 0
    parent_improved: int = 0
    new_best: int = 0

    def add(self, iteration: Iteration) -> None:
        """Count an iteration."""
        self.slots += 1
        self.scored += iteration.child is not None
        self.parent_improved += iteration.beats_parent
        self.new_best += iteration.new_best

    def row(self, n: int) -> tuple[Value, ...]:
        """Values of :data:`RATE_COLUMNS` with ``n`` as denominator."""
        rates = (share(self.parent_improved, n), share(self.new_best, n))
        return (n, self.parent_improved, self.new_best, *rates)


def group_of(iteration: Iteration) -> str | None:
    """Group of an iteration.

    ``None`` when its decision is missing, nobody decided, or what it needs of the parent's score is
    not on record.
    """
    if iteration.child is not None and iteration.outcome == UNKNOWN:
        return None
    if iteration.executed == "retrieve":
        if iteration.parent is None and iteration.predictions and not iteration.said_promising:
            return None
        return PROMISING if iteration.promising else OTHER
    return iteration.executed if iteration.executed in GROUPS else None


def tallies(iterations: Iterable[Iteration]) -> dict[str, Tally]:
    """Counts of every group."""
    found = {group: Tally() for group in GROUPS}
    for iteration in iterations:
        group = group_of(iteration)
        if group is not None:
            found[group].add(iteration)
    return found


def pool(runs: Iterable[RunFacts]) -> list[RunFacts]:
    """Runs in which a model decides what is retrieved."""
    return [run for run in runs if run.decides]


def iterations_of(runs: Iterable[RunFacts]) -> Iterator[Iteration]:
    """All iterations of these runs."""
    for run in runs:
        yield from run.iterations


def by_model(runs: Iterable[RunFacts]) -> dict[str, list[RunFacts]]:
    """Runs of each model, sorted by name."""
    found: dict[str, list[RunFacts]] = {}
    for run in sorted(runs, key=lambda run: (run.model, run.key)):
        found.setdefault(run.model, []).append(run)
    return found


def by_task(runs: Iterable[RunFacts]) -> dict[str, list[RunFacts]]:
    """Runs of each task, sorted by its name."""
    found: dict[str, list[RunFacts]] = {}
    for run in sorted(runs, key=lambda run: (run.task.name, run.key)):
        found.setdefault(run.task.name, []).append(run)
    return found


def files(runs: Sequence[RunFacts]) -> list[CsvFile]:
    """Rates of the pool, of each model and task, on both denominators and with intervals.

    The pool holds all models; Figure 8 draws each by itself, as `fig8_rates_models` counts them.
    """
    chosen = pool(runs)
    found = tallies(iterations_of(chosen))
    return [
        CsvFile("fig8_rates", ("group", *RATE_COLUMNS),
                [(group, *tally.row(tally.scored)) for group, tally in found.items()]),
        CsvFile("fig8_rates_all_slots", ("group", *RATE_COLUMNS),
                [(group, *tally.row(tally.slots)) for group, tally in found.items()]),
        CsvFile("fig8_rates_models", ("model", "group", *RATE_COLUMNS),
                list(_rows(by_model(chosen)))),
        CsvFile("fig8_rates_tasks", ("task_id", "group", *RATE_COLUMNS),
                list(_rows(by_task(chosen)))),
        CsvFile("fig8_intervals", ("denominator", "group", "rate", "k", "n", "share", "lo", "hi"),
                list(_intervals(found))),
        summary(chosen),
    ]  # fmt: skip


def _rows(groups: Mapping[str, Sequence[RunFacts]]) -> Iterator[tuple[Value, ...]]:
    for name, runs in groups.items():
        for group, tally in tallies(iterations_of(runs)).items():
            yield (name, group, *tally.row(tally.scored))


def _intervals(found: Mapping[str, Tally]) -> Iterator[tuple[Value, ...]]:
    for group, tally in found.items():
        for denominator, n in (("scored child", tally.scored), ("all iterations", tally.slots)):
            for rate, k in (("parent", tally.parent_improved), ("best", tally.new_best)):
                yield (denominator, group, rate, k, n, share(k, n), *bounds(k, n))


def summary(chosen: Sequence[RunFacts]) -> CsvFile:
    """What the text tells beside the bars."""
    found = tallies(iterations_of(chosen))
    retrievals = found[PROMISING].slots + found[OTHER].slots
    worse = sum(i.outcome == LOWER for i in iterations_of(chosen) if group_of(i) == PROMISING)
    missed = [run for run in chosen if any(map(_found_alone, run.iterations))]
    rates = list(task_rates(chosen))
    rows: list[tuple[str, Value]] = [
        ("runs", len(chosen)),
        ("retrievals", retrievals),
        ("retrievals_without_promising", found[OTHER].slots),
        ("share_without_promising", share(found[OTHER].slots, retrievals)),
        ("promising_scored", found[PROMISING].scored),
        ("promising_with_worse_child", worse),
        ("share_promising_with_worse_child", share(worse, found[PROMISING].scored)),
        ("runs_with_search_miss_and_new_best", len(missed)),
        ("tasks_compared", len(rates)),
        ("tasks_promising_above_no_op", sum(ours > theirs for _, ours, theirs in rates)),
        ("tasks_promising_below_no_op", sum(ours < theirs for _, ours, theirs in rates)),
        ("median_task_rate_promising", _median([ours for _, ours, _ in rates])),
        ("median_task_rate_no_op", _median([theirs for _, _, theirs in rates])),
    ]
    return CsvFile("fig8_summary", ("key", "value"), rows)


def task_rates(chosen: Sequence[RunFacts]) -> Iterator[tuple[str, float, float]]:
    """Task, rate of improved parents with a promising document, and with no-op; where both are."""
    for task, runs in by_task(chosen).items():
        found = tallies(iterations_of(runs))
        ours, theirs = (
            share(found[group].parent_improved, found[group].scored) for group in (PROMISING, NO_OP)
        )
        if ours is not None and theirs is not None:
            yield task, ours, theirs


def _found_alone(iteration: Iteration) -> bool:
    """A search that promised nothing, and progress all the same."""
    return group_of(iteration) == OTHER and iteration.new_best


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None
