"""All files about the behaviour of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from analysis.behaviour import (
    decisions,
    dynamics,
    evidence,
    flags,
    hosts,
    outcomes,
    parent_rank,
    provenance,
    queries,
    recorded,
)
from analysis.behaviour.iterations import OUTCOMES, RunFacts
from analysis.output import CsvFile
from analysis.summaries import Section


def behaviour_files(runs: Sequence[RunFacts]) -> list[CsvFile]:
    """Counts from traces (analysis.md section 6) and what stands beside them.

    Decisions, hosts, look-ups and outcomes are those of the runs in which a model decides what is
    retrieved; queries and flags those of all runs.
    """
    chosen = decisions.pool(runs)
    return [
        *decisions.files(chosen),
        parent_rank.file(chosen),
        *evidence.files(chosen),
        *dynamics.files(chosen),
        *hosts.files(chosen),
        *provenance.provenance_files(chosen),
        *provenance.age_files(chosen),
        *outcomes.files(chosen),
        *queries.files(runs),
        recorded.file(runs),
    ]


_PAGE = {
    "fig8_summary": (
        "Retrievals",
        "Runs in which a model decides what is retrieved. A document is promising when its "
        "predicted score lies strictly above the parent's measured one.",
    ),
    "fig8_rates": (
        "Improvement after each decision",
        "Share of the iterations with a scored child that beat their parent, and the run's best. "
        "Observational: a gate that retrieves when it is stuck meets other parents.",
    ),
    "fig8_rates_all_slots": (
        "The same of all iterations", "Iterations without a child count as not improved.",
    ),
    "fig8_parent_rank": (
        "The same among parents of like rank",
        "Rank: share of the run's programs so far that score higher. The standardised rows weigh "
        "the strata alike for every group.",
    ),
    "fig8_corr_pooled": (
        "Predictions and scores",
        "Rank correlation of the prediction (largest, mean or first of the retained documents) "
        "and the child's score, pooled after scaling by task, and of single tasks.",
    ),
    "fig8_flags": (
        "Behaviours",
        "Runs that show a behaviour by the rules of `evoduet audit`; `confirmed` by a person, "
        "`undecided` where a program or page is missing. The rules are reconstructions.",
    ),
    "fig10_queries": (
        "Japanese phrases in queries", "Ideographs alone may be Chinese: see `fig10_matches.csv`.",
    ),
    "fig14_counts": (
        "Look-ups", "Pairs of a document and a look-up, by whether its first retrieval is known.",
    ),
    "fig15_medians": ("Ages of looked-up documents", "In iterations since the first retrieval."),
    "fig16_rates": (
        "Outcomes with and without documents in the prompt",
        "The first 100 iterations, without those that an external error spoilt. Intervals take "
        "iterations for independent, which those of one run are not.",
    ),
    "recorded_decisions": (
        "Decisions of imported runs",
        "Each run by itself: records that were chosen for their stories say nothing of others. "
        "Iterations whose decision is not on record are in no share.",
    ),
    "search_ends": ("Searches", "Of every run that searched; repeated is one URL found again."),
}  # fmt: skip


def page_of(files: Sequence[CsvFile]) -> list[Section]:
    """The small tables with what they say; the long ones are files alone."""
    by_name = {file.name: file for file in files}
    return [
        Section(title, says, by_name[name])
        for name, (title, says) in _PAGE.items()
        if by_name[name].rows
    ]


def flag_files(found: flags.Flags) -> list[CsvFile]:
    """Behaviour flags of all runs."""
    return flags.files(found)


def notes_of(runs: Sequence[RunFacts]) -> list[str]:
    """Runs with a gate that are in no statistic of decisions, and why."""
    gates = Counter(run.gate for run in runs if run.gate and not run.decides and not run.recorded)
    imported = sum(run.recorded for run in runs)
    found = [
        f"{count} runs with the gate {gate} are not in the statistics of decisions: a rule decides"
        for gate, count in sorted(gates.items())
    ]
    if imported:
        found.append(
            f"{imported} imported runs are in no rate: they were selected for their stories "
            "(see recorded_decisions.csv)"
        )
    return found + [note for run in runs if run.decides for note in _gaps(run)]


def _gaps(run: RunFacts) -> list[str]:
    """What the records of a run do not tell, and which counts lack it."""
    counted = [i for i in run.iterations if outcomes.in_figure(i)]
    gaps = {
        "the parent's score, so they are not in Figure 8(b)": sum(
            i.executed is not None and decisions.group_of(i) is None for i in run.iterations
        ),
        "what stood in the prompt, so they are not in Figure 16": sum(
            i.exposed is None for i in counted
        ),
        "how they ended, so they are not in Figure 16": sum(
            i.exposed is not None and i.outcome not in OUTCOMES for i in counted
        ),
    }
    return [
        f"{run.run_id}: {count} iterations do not tell {what}"
        for what, count in gaps.items()
        if count
    ]
