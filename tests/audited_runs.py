"""Runs to audit: synthetic run folders whose manifest knows the initial program."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from synthetic_traces import Made, SyntheticRuns, sha256

from analysis.audit import Audit, audit
from analysis.traces import open_trace

X0 = "x = 0.5\n"


class AuditedRuns:
    """Writes runs below ``folder`` and audits them."""

    def __init__(self, folder: Path) -> None:
        self._runs = SyntheticRuns(folder)

    def write(
        self, name: str, slots: Sequence[Made | None], *, x0_code: str = X0, **options: Any
    ) -> Path:
        """A run folder; see :meth:`SyntheticRuns.run`."""
        folder = self._runs.run(name, slots, x0_code=x0_code, **options)
        journal = folder / "journal.jsonl"
        event = json.loads(journal.read_text())
        event["data"]["x0"] = sha256(x0_code)
        journal.write_text(json.dumps(event) + "\n")
        return folder

    def audit(self, name: str, slots: Sequence[Made | None], **options: Any) -> Audit:
        """Audit of a run that is written for it."""
        return audit(open_trace(self.write(name, slots, **options)))


def drop_blob(folder: Path, text: str) -> None:
    """Lose a text of a run."""
    name = sha256(text)
    (folder / "blobs" / name[:2] / name).unlink()


def add_searches(folder: Path, t: int, bodies: Mapping[str, str]) -> None:
    """Journal a search of iteration ``t`` whose results have these texts by URL."""
    results = []
    for url, text in bodies.items():
        name = sha256(text)
        path = folder / "blobs" / name[:2] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        results.append({"url": url, "title": "A page", "snippet": name, "raw": None})
    event = {"seq": 1, "prev": "", "time": "", "event": "search",
             "data": {"t": t, "answer": {"results": results}}}  # fmt: skip
    with (folder / "journal.jsonl").open("a") as file:
        file.write(json.dumps(event, separators=(",", ":")) + "\n")


def raised(found: Audit, flag: str) -> list[int | None]:
    """Iterations in which a flag was raised."""
    return [row.t for row in found.flags if row.flag == flag]
