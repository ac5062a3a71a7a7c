"""Do iterations with documents improve more often, parent and time being equal? Observational."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.behaviour.iterations import RunFacts
from analysis.output import CsvFile, Value
from analysis.runs import LABELS, Configuration, Study
from analysis.statistics.regression import Estimate, least_squares
from analysis.summaries import Section

BASE = "no-op"
DECISIONS = ("look-up", "retrieve")
TERMS = (*DECISIONS, "parent_rank", "iteration")
OUTCOMES = ("beats_parent", "new_best")
DENOMINATORS = ("scored_child", "all_slots")


@dataclass(frozen=True)
class Slot:
    """An iteration of a run whose gate decided.

    ``parent_rank``: share of the other programs known before it that score higher than its parent
    (0: the parent is the best). ``time``: its place in the run, from 0 to 1.
    """

    task: str
    folder: Path
    decision: str
    parent_rank: float
    time: float
    scored: bool
    beats_parent: bool
    new_best: bool


def slots(facts: RunFacts) -> Iterator[Slot]:
    """Iterations with a gate decision; missing ones and those outages spoilt are left out."""
    first = facts.iterations[0].best_before if facts.iterations else None
    known = [] if first is None else [first]
    for found in facts.iterations:
        decided = found.decision in (BASE, *DECISIONS) and not found.excluded
        if decided and found.decision is not None and found.parent is not None:
            higher = len(known) - bisect_right(known, found.parent)
            yield Slot(
                facts.task.name, facts.folder, found.decision, higher / max(1, len(known) - 1),
                found.t / facts.slots, found.child is not None, found.beats_parent, found.new_best,
            )  # fmt: skip
        if found.child is not None:
            insort(known, found.child)


def section(study: Study, facts: Sequence[RunFacts]) -> Section:
    """The regressions by configuration, over complete EvoDuet runs whose traces could be read."""
    complete = {run.folder: run.configuration for run in study.runs if run.complete}
    found: dict[Configuration, list[Slot]] = {}
    for one in facts:
        if one.folder in complete and one.retriever == "evoduet":
            found.setdefault(complete[one.folder], []).extend(slots(one))
    rows: list[tuple[Value, ...]] = []
    for config, mine in sorted(found.items(), key=lambda item: item[0].key):
        for denominator in DENOMINATORS:
            used = [slot for slot in mine if slot.scored or denominator == "all_slots"]
            for outcome in OUTCOMES if used else ():
                rows += _rows(config, denominator, outcome, used)
    columns = (*LABELS, "denominator", "outcome", "n", "n_runs", "n_tasks", "term", "estimate",
               "std_error", "lo", "hi", "p")  # fmt: skip
    return Section("Gate decisions and improvement", _SAYS, CsvFile(_NAME, columns, rows))


_NAME = "runs_gate_regression"
_SAYS = (
    "Linear probability model by least squares: whether the child beats its parent, or the run's "
    "best, on the gate's decision (against no-op), with the parent's rank (share of known programs "
    "that score higher; 0 is the best), the place of the iteration in the run (0 to 1) and a "
    "constant for each task. Estimates are differences of probabilities; errors are robust to "
    "dependence within runs and too small with few runs. Observational: the gate chooses when to "
    "retrieve, for reasons that also bear on success, so no estimate is the effect of documents. "
    "`scored_child` counts iterations with a scored child, `all_slots` also those without one, as "
    "failures. An estimate is empty where the outcome never varies, or where the runs cannot tell "
    "the term from the others."
)


def _rows(
    config: Configuration, denominator: str, outcome: str, used: Sequence[Slot]
) -> list[tuple[Value, ...]]:
    tasks = sorted({slot.task for slot in used})
    columns: dict[str, list[float]] = {
        f"task {task}": [float(slot.task == task) for slot in used] for task in tasks
    }
    columns |= {d: [float(slot.decision == d) for slot in used] for d in DECISIONS}
    columns["parent_rank"] = [slot.parent_rank for slot in used]
    columns["iteration"] = [slot.time for slot in used]
    folders = [slot.folder for slot in used]
    reached = [float(getattr(slot, outcome)) for slot in used]
    varies = len(set(reached)) > 1  # what never or always happens has no explanation
    fit = least_squares(columns, reached, folders) if varies else {}
    return [
        (*config.label, denominator, outcome, len(used), len(set(folders)), len(tasks), term,
         *_numbers(fit.get(term)))
        for term in TERMS
    ]  # fmt: skip


def _numbers(found: Estimate | None) -> tuple[Value, ...]:
    if found is None:
        return (None,) * 5
    return (found.value, found.error, found.lo, found.hi, found.p)
