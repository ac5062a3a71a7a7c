"""``evoduet import-recorded``: recorded runs of the project page as run folders."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchmark.commands.options import JsonOption, UsageProblem, print_json
from benchmark.commands.tables import usage_problems

if TYPE_CHECKING:
    from analysis.recorded.run import RecordedRun


def import_recorded(
    file: Annotated[Path, typer.Argument(metavar="FILE.json", help="A downloaded record.")],
    out: Annotated[Path, typer.Option(help="New folder of the run.")],
    task: Annotated[
        str | None, typer.Option(help="A task's id or name, where the file's is not ours.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Turn a recorded run of the paper's project page into a run folder for the analysis.

    Reads no network. What the record does not tell stays unknown, and the run is marked as recorded
    in every table: records were chosen for their stories, never average them with own runs.

    Example: `evoduet import-recorded galileo.json --out results/recorded/galileo`
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageProblem(f"--out {out}: exists already; name a new folder")
    with usage_problems():
        from analysis.recorded.run import read_recorded

        recorded = read_recorded(file, out.resolve().name, task)
        flags = _write(recorded, out)
    for note in recorded.notes:
        typer.echo(f"evoduet: {note}", err=True)
    summary = {**recorded.summary, "run": str(out), "out": str(out)}
    if as_json:
        print_json({**summary, "notes": list(recorded.notes), "flags": flags})
        return
    best, ndg = summary["best"], summary["ndg"]
    shown = "unknown" if ndg is None else f"{ndg:.6g}"
    steps = len(recorded.manifest["recorded"]["selected_steps"])
    typer.echo(
        f"{out}: {summary['done']} of {summary['T']} iterations on record, {steps} with queries "
        f"and documents\nbest search score {best['search_score']!r} (iteration {best['t']}), "
        f"initial {summary['x0']['search_score']!r}, NDG {shown}, {flags} flags in audit.json"
    )


def _write(recorded: RecordedRun, out: Path) -> int:
    """Write the run folder, whole or not at all; returns how many flags its audit raises."""
    from analysis.audit import write_audit
    from analysis.traces import open_trace

    partial = out.with_name(f".{out.name}.partial-{os.getpid()}")
    partial.mkdir(parents=True)
    try:
        _write_journal(recorded, partial)
        summary = {**recorded.summary, "run": str(out), "out": str(out)}
        text = json.dumps(summary, ensure_ascii=False, allow_nan=False, indent=1)
        (partial / "summary.json").write_text(text + "\n", encoding="utf-8")
        found, _ = write_audit(open_trace(partial))
        partial.replace(out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return len(found.flags)


def _write_journal(recorded: RecordedRun, folder: Path) -> None:
    """Journal, blobs and the trace that folds from them; times are not on record."""
    from method.journal import Blobs, Journal
    from method.trace import write_trace

    blobs = Blobs(folder)
    for text in recorded.blobs.values():
        blobs.put(text)
    start = dict(recorded.start)
    with Journal(folder, clock=lambda: "") as journal:
        journal.append("run_started", recorded.manifest)
        result: dict[str, Any] = {"status": "ok", **start}
        journal.append("evaluation", {"key": [0, 0, 0], "t": 0, "result": result, "reruns": 0})
        journal.append("seed_evaluated", {"id": None, "search_score": start["search_score"]})
        for record in recorded.records:
            journal.append("iteration_done", {"key": [record["t"]], **record})
        done = len(recorded.records)
        journal.append("run_finished", {"status": "finished", "done": done})
    (folder / ".lock").unlink(missing_ok=True)
    write_trace(folder)
