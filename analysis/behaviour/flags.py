"""Behaviour flags of a study (Figure 8(c)); the rules are :mod:`analysis.audit`'s."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from analysis.auditing.population import AuditedRun, BehaviourCount, audited_run, behaviour_counts
from analysis.behaviour.iterations import RunFacts
from analysis.output import CsvFile, Value
from analysis.rows import DataProblem
from analysis.statistics.proportions import bounds
from analysis.traces import open_trace

WORTH_PROCESSES = 24
"""Runs from which auditing on several processors pays."""


@dataclass(frozen=True)
class Flags:
    """Audits of runs, aligned with ``runs``, and what could not be audited."""

    runs: tuple[RunFacts, ...]
    audited: tuple[AuditedRun, ...]
    notes: tuple[str, ...]

    @property
    def counts(self) -> list[BehaviourCount]:
        """Counts of runs by flag over the pool in which a model decides."""
        return self.counts_of(None)

    def counts_of(self, model: str | None) -> list[BehaviourCount]:
        """The same for one model."""
        pairs = zip(self.runs, self.audited, strict=True)
        return behaviour_counts(
            audited for run, audited in pairs if run.decides and model in (None, run.model)
        )


def read_flags(runs: Sequence[RunFacts]) -> Flags:
    """Audit runs: from `audit.json` where it fits the trace, else in memory on all processors."""
    folders = [run.folder for run in runs]
    if len(runs) < WORTH_PROCESSES:
        found = list(map(_audited, folders))
    else:
        with ProcessPoolExecutor() as processes:
            found = list(processes.map(_audited, folders, chunksize=4))
    pairs = [
        (run, answer)
        for run, answer in zip(runs, found, strict=True)
        if isinstance(answer, AuditedRun)
    ]
    return Flags(
        tuple(run for run, _ in pairs),
        tuple(audited for _, audited in pairs),
        tuple(f"no flags: {answer}" for answer in found if isinstance(answer, str)),
    )


def _audited(folder: Path) -> AuditedRun | str:
    """The audit, or what is wrong with the run."""
    try:
        return audited_run(open_trace(folder))
    except DataProblem as problem:
        return str(problem)


def files(flags: Flags) -> list[CsvFile]:
    """The first sign of every flag in every run, and counts of runs."""
    rows: list[tuple[Value, ...]] = []
    for run, found in zip(flags.runs, flags.audited, strict=True):
        seen: set[str] = set()
        for flag in found.audit.flags:
            if flag.flag not in seen:
                rows.append((run.run_id, flag.flag, flag.t, flag.evidence))
            seen.add(flag.flag)
    columns = ("flag", "runs", "automatic", "share", "lo", "hi", "confirmed", "undecided")
    counts = [
        (c.flag, c.runs, c.automatic, c.share, *bounds(c.automatic, c.runs), c.confirmed,
         c.undecided)
        for c in flags.counts
    ]  # fmt: skip
    return [
        CsvFile("flags", ("run_id", "flag", "first_t", "evidence"), rows),
        CsvFile("fig8_flags", columns, counts),
    ]
