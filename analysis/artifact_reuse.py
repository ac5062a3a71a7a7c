"""The same tables without runs flagged for reuse of a public artifact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from analysis import run_statistics, summaries
from analysis.auditing.findings import ARTIFACT_REUSE
from analysis.auditing.population import AuditedRun
from analysis.behaviour.flags import Flags
from analysis.output import CsvFile, Value
from analysis.runs import LABELS, Study
from analysis.summaries import Section

SUFFIX = "_unflagged"
ABOUT = "Without runs flagged for reuse of a public artifact."


def flagged(flags: Flags) -> frozenset[Path]:
    """Folders of runs with a flag that no person rejected."""
    pairs = zip(flags.runs, flags.audited, strict=True)
    return frozenset(run.folder for run, audited in pairs if _reuses(audited))


def _reuses(audited: AuditedRun) -> bool:
    mine = [flag for flag in audited.audit.flags if flag.flag == ARTIFACT_REUSE]
    return any(audited.review.verdict(flag) != "rejected" for flag in mine)


def without(study: Study, folders: frozenset[Path]) -> Study:
    """The study without the runs in these folders."""
    kept = tuple(run for run in study.runs if run.folder not in folders)
    return Study(study.folder, kept, study.notes)


def sections(study: Study, flags: Flags) -> list[Section]:
    """Which runs are flagged, and cells, aggregates and pairs of the others."""
    others = without(study, flagged(flags))
    runs, groups = run_statistics.comparable(others), run_statistics.groups(others)
    return [
        _runs(study, flags),
        *map(
            _renamed,
            (
                run_statistics.cells(runs),
                summaries.aggregates("runs_aggregates", LABELS, groups),
                summaries.paired("runs_pairs", LABELS, groups),
            ),
        ),
    ]


def _renamed(section: Section) -> Section:
    return Section(
        f"{section.title} without runs flagged for artifact reuse",
        "As the table with all runs, which stands above.",
        replace(section.table, name=section.table.name + SUFFIX),
    )


def _runs(study: Study, flags: Flags) -> Section:
    known: Mapping[Path, AuditedRun] = {
        run.folder: audited for run, audited in zip(flags.runs, flags.audited, strict=True)
    }
    rows: list[tuple[Value, ...]] = []
    for run in study.runs:
        verdict, t, evidence = _verdict(known.get(run.folder))
        rows.append((run.run_id, run.task.name, *run.configuration.label, verdict, t, evidence))
    return Section(
        "Artifact reuse",
        "`yes`: a program of the run shares numbers with a page it was given, or fetches something "
        "when it runs (flag `artifact_reuse`, unless a person rejected it); `not decidable`: no "
        "such sign, but texts that would show it are missing. Only `yes` is left out of the tables "
        "without flagged runs. A flag is a reason to look, not a proof.",
        CsvFile(
            "runs_artifact_reuse",
            ("run_id", "task_id", *LABELS, "artifact_reuse", "first_t", "evidence"),
            rows,
        ),
    )


def _verdict(audited: AuditedRun | None) -> tuple[str, int | None, str]:
    if audited is None:
        return "not audited", None, ""
    mine = [flag for flag in audited.audit.flags if flag.flag == ARTIFACT_REUSE]
    if _reuses(audited):
        first = next(flag for flag in mine if audited.review.verdict(flag) != "rejected")
        return "yes", first.t, first.evidence
    if mine:
        return "rejected", mine[0].t, mine[0].evidence
    return ("not decidable" if audited.audit.undecided(ARTIFACT_REUSE) else "no"), None, ""
