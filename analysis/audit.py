"""Audit of a run: copies, network use and behaviour flags, each with its evidence.

Computed from trace and blobs alone, without the model and without running anything. `evoduet audit`
writes `audit.json` beside the trace; tables, figures and reports ask :func:`flags_of`, which uses
that file while it fits the trace and otherwise computes the same in memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from analysis.auditing.behaviours import RunFacts, Step, behaviours
from analysis.auditing.facts import Facts, facts_of
from analysis.auditing.findings import (
    ARTIFACT_REUSE,
    FLAGS,
    NETWORK_USE,
    Audit,
    AuditedCandidate,
    Flag,
    Undecidable,
)
from analysis.auditing.fixation import fixation
from analysis.auditing.programs import Programs
from analysis.auditing.sources import Sources
from analysis.output import write_files
from analysis.rows import DataProblem
from analysis.trace_fields import fill_bests
from analysis.traces import Trace

FILE_NAME = "audit.json"
WEB_ACCESS = "runtime web access, as recorded"

__all__ = ["FILE_NAME", "Audit", "Flag", "audit", "flags_of", "saved_audit", "write_audit"]


def audit(trace: Trace) -> Audit:
    """Audit a run. The same trace and blobs give the same audit.

    Raises :class:`DataProblem` for a trace that cannot be read.
    """
    sha256 = trace.trace_sha256  # before reading: a trace that grows meanwhile will not fit
    records = sorted(trace.iter_records(), key=lambda record: record["t"])
    fill_bests(records, (trace.summary.get("x0") or {}).get("search_score"))
    sources = Sources(trace, records)
    run = _run_facts(trace, records)
    programs = Programs(sources, _language(trace))
    recorded = _recorded(trace)
    candidates: list[AuditedCandidate] = []
    findings: list[Flag | Undecidable] = [*_run_gaps(recorded, records)]
    all_facts: list[Facts] = []
    for record in records:
        facts = facts_of(record)
        all_facts.append(facts)
        audited = programs.audit(record)
        candidates += [entry.row for entry in audited]
        findings += [gap for entry in audited for gap in entry.gaps]
        selected = record.get("selected_slot"), record.get("attempts")
        child = next(
            (
                entry
                for entry in audited
                if record.get("child") and (entry.row.slot, entry.row.attempt) == selected
            ),
            None,
        )
        findings += behaviours(Step(facts, record, child, audited, sources), run)
    findings += fixation(all_facts)
    for t in recorded.get("runtime_web_access", ()):
        row = AuditedCandidate(t, None, None, None, None, None, (WEB_ACCESS,))
        candidates.append(row)
        findings += [Flag(NETWORK_USE, t, WEB_ACCESS), Flag(ARTIFACT_REUSE, t, WEB_ACCESS)]
    return Audit(
        run_id=trace.run_id,
        trace_sha256=sha256,
        candidates=tuple(candidates),
        flags=_sorted_flags(findings),
        undecidable=_sorted_gaps(findings),
    )


def flags_of(trace: Trace) -> list[Flag]:
    """Flags of a run: of its `audit.json` where that fits the trace, else computed in memory.

    Leaves the run folder as it is. Raises :class:`DataProblem` for a trace that cannot be read.
    """
    return list((saved_audit(trace) or audit(trace)).flags)


def saved_audit(trace: Trace) -> Audit | None:
    """The audit beside a trace; ``None`` when there is none that fits it."""
    path = trace.folder / FILE_NAME
    with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        found = Audit.from_json(json.loads(path.read_text(encoding="utf-8")))
        if found.trace_sha256 is not None and found.trace_sha256 == trace.trace_sha256:
            return found
    return None


def write_audit(trace: Trace) -> tuple[Audit, Path]:
    """Audit a run and write `audit.json` beside its trace, whole or not at all."""
    found = audit(trace)
    text = json.dumps(found.to_json(), ensure_ascii=False, allow_nan=False, indent=1)
    content = (text + "\n").encode("utf-8", errors="replace")
    (path,) = write_files(trace.folder, {FILE_NAME: content})
    return found, path


def _run_facts(trace: Trace, records: Sequence[Mapping[str, Any]]) -> RunFacts:
    domain, sota = "", None
    with suppress(DataProblem):
        domain = trace.task.id.partition("/")[0]
        sota = trace.task.declared.anchors.sota.value
    bests = [r["run_best_after"] for r in records if r.get("run_best_after") is not None]
    start = (trace.summary.get("x0") or {}).get("search_score")
    if start is None and records[0]["t"] == 1:
        start = records[0].get("run_best_before")
    gain = None if start is None or not bests else max(bests) - start
    return RunFacts(domain, sota, gain)


def _language(trace: Trace) -> str:
    with suppress(DataProblem):
        return trace.task.declared.language
    return "python"


def _recorded(trace: Trace) -> Mapping[str, Any]:
    """What the manifest of an imported record tells; empty for own runs."""
    found: Mapping[str, Any] = trace.manifest.get("recorded") or {}
    return found


def _run_gaps(
    recorded: Mapping[str, Any], records: Sequence[Mapping[str, Any]]
) -> Iterator[Undecidable]:
    if recorded:
        steps = len(recorded.get("selected_steps") or ())
        yield Undecidable(
            None,
            f"recorded run: queries and documents are known for {steps} of {len(records)} "
            "iterations, programs and page texts for none",
        )


def _sorted_flags(findings: Sequence[Flag | Undecidable]) -> tuple[Flag, ...]:
    """One entry for each flag and iteration, evidence joined; by iteration, then report order."""
    joined: dict[tuple[str, int | None], list[str]] = {}
    for finding in findings:
        if isinstance(finding, Flag):
            evidence = joined.setdefault((finding.flag, finding.t), [])
            if finding.evidence not in evidence:
                evidence.append(finding.evidence)
    flags = [Flag(name, t, "; ".join(texts)) for (name, t), texts in joined.items()]
    return tuple(sorted(flags, key=lambda flag: (flag.t or 0, FLAGS.index(flag.flag))))


def _sorted_gaps(findings: Sequence[Flag | Undecidable]) -> tuple[Undecidable, ...]:
    gaps = {finding for finding in findings if isinstance(finding, Undecidable)}
    return tuple(sorted(gaps, key=lambda gap: (gap.t or 0, gap.reason)))
