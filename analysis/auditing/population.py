"""Figure 8(c): in how many runs of a study a behaviour was seen.

The unit is the run, however often it shows the behaviour; categories overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.audit import audit, saved_audit
from analysis.auditing.findings import (
    ARTIFACT_REUSE,
    CROSS_DOMAIN,
    FLAGS,
    LIVE_DOCUMENTATION_IMPROVED,
    METHOD_TRANSFER,
    OVER_REACH,
    TARGET_INFORMED,
    Audit,
)
from analysis.auditing.review import Review, read_review
from analysis.rows import read_rows
from analysis.traces import Trace

PUBLISHED_FILE = "page_behaviour_counts.csv"
CATEGORIES: Mapping[str, str] = {
    "method_transfer": METHOD_TRANSFER,
    "target_reconstruction": TARGET_INFORMED,
    "documentation": LIVE_DOCUMENTATION_IMPROVED,
    "cross_domain": CROSS_DOMAIN,
    "over_reach": OVER_REACH,
    "artifact_reuse": ARTIFACT_REUSE,
}
"""Categories of the published counts and the flags that match their definitions."""


@dataclass(frozen=True)
class AuditedRun:
    """A run's audit with a person's verdicts on it."""

    audit: Audit
    review: Review


@dataclass(frozen=True)
class BehaviourCount:
    """How many of ``runs`` show a behaviour.

    ``automatic``: a flag was raised and not every one of it rejected by a person; ``confirmed``: a
    person confirmed one; ``undecided``: no flag, but something that it needs was missing, so that
    the share is a lower bound.
    """

    flag: str
    runs: int
    automatic: int
    confirmed: int
    undecided: int

    @property
    def share(self) -> float | None:
        """Share of runs, ``None`` without runs."""
        return self.automatic / self.runs if self.runs else None


@dataclass(frozen=True)
class PublishedCount:
    """A row of the published counts; ``flag`` is ours for the category."""

    category: str
    label: str
    flag: str
    count: int
    runs: int
    model: str


def audited_run(trace: Trace) -> AuditedRun:
    """A run's audit, saved or computed in memory, and its review."""
    return AuditedRun(saved_audit(trace) or audit(trace), read_review(trace.folder))


def behaviour_counts(
    runs: Iterable[AuditedRun], flags: Sequence[str] = FLAGS
) -> list[BehaviourCount]:
    """Counts of runs by flag. Pass own runs alone: recorded ones were chosen for their stories."""
    found = list(runs)
    return [_count(flag, found) for flag in flags]


def _count(flag: str, runs: Sequence[AuditedRun]) -> BehaviourCount:
    automatic = confirmed = undecided = 0
    for run in runs:
        verdicts = [run.review.verdict(f) for f in run.audit.flags if f.flag == flag]
        automatic += any(verdict != "rejected" for verdict in verdicts)
        confirmed += "confirmed" in verdicts
        undecided += not verdicts and run.audit.undecided(flag)
    return BehaviourCount(flag, len(runs), automatic, confirmed, undecided)


def published_counts(folder: Path) -> list[PublishedCount]:
    """The paper's counts, in the order of the file. Raises :class:`DataProblem`."""
    columns = ("category", "label", "count", "runs", "model")
    return [
        PublishedCount(
            category=row.one_of("category", CATEGORIES),
            label=row.text("label"),
            flag=CATEGORIES[row.text("category")],
            count=row.integer("count"),
            runs=row.integer("runs"),
            model=row.text("model"),
        )
        for row in read_rows(folder / PUBLISHED_FILE, columns)
    ]
