"""Audit of a run as the page shows it: of `audit.json` while it fits the trace, else computed."""

from __future__ import annotations

from typing import Any

from analysis.audit import FILE_NAME, audit, saved_audit
from analysis.traces import Trace


def audit_of(trace: Trace) -> dict[str, Any]:
    """``flags`` (flag, t, evidence), ``undecidable`` (t, reason), and their ``source``.

    ``t`` is ``None`` for what concerns the run. Raises :class:`~analysis.rows.DataProblem`.
    """
    saved = saved_audit(trace)
    found = saved or audit(trace)
    return {
        "flags": [{"flag": f.flag, "t": f.t, "evidence": f.evidence} for f in found.flags],
        "undecidable": [{"t": gap.t, "reason": gap.reason} for gap in found.undecidable],
        "source": FILE_NAME if saved else "computed from trace and blobs",
    }
