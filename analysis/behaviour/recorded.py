"""Decisions of imported runs, each by itself: records chosen for their stories are in no rate.

A slot without a point in the record has an unknown decision, which is not a missing one: it is
counted among the slots and left out of the denominators of decisions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analysis.behaviour.decisions import LOOK_UP, NO_OP
from analysis.behaviour.dynamics import bin_label, bin_of
from analysis.behaviour.iterations import Iteration, RunFacts
from analysis.output import CsvFile, Value
from analysis.statistics.proportions import share

DECISIONS = ("retrieve", LOOK_UP, NO_OP)
ALL = "all"
"""Stands for all iterations in the place of a bin."""


def file(runs: Sequence[RunFacts]) -> CsvFile:
    """By run, bin of ten iterations (and all of them) and decision.

    ``share`` is that of the decision in the iterations whose decision is known, ``new_best`` how
    many of the decision's iterations brought a new best of the run.
    """
    rows = [row for run in runs if run.recorded for row in _rows(run)]
    columns = ("run_id", "task_id", "model", "bin", "slots", "decided", "decision", "k", "share",
               "new_best", "rate_best")  # fmt: skip
    return CsvFile("recorded_decisions", columns, rows)


def _rows(run: RunFacts) -> Iterator[tuple[Value, ...]]:
    by_bin: dict[int | None, list[Iteration]] = {}
    for iteration in run.iterations:
        by_bin.setdefault(bin_of(iteration.t), []).append(iteration)
    slots = [bin_of(t) for t in range(1, run.slots + 1)]
    groups = [(ALL, run.slots, list(run.iterations))]
    for place in sorted({place for place in slots if place is not None}):
        groups.append((bin_label(place), slots.count(place), by_bin.get(place, [])))
    for label, scheduled, mine in groups:
        decided = [i for i in mine if i.decision in DECISIONS]
        for decision in DECISIONS:
            found = [i for i in decided if i.decision == decision]
            best = sum(i.new_best for i in found)
            yield (run.run_id, run.task.name, run.model, label, scheduled, len(decided), decision,
                   len(found), share(len(found), len(decided)), best,
                   share(best, len(found)))  # fmt: skip
