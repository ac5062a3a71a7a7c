"""``evoduet resume``, ``replay``, ``runs``, ``best``, ``trace``: runs that there are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmark.commands.options import JsonOption, UsageProblem, console, print_json, write_text
from benchmark.commands.run_progress import readable, show_run

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")]


def resume(
    folder: RunArgument,
    iterations: Annotated[
        int | None,
        typer.Option("--iterations", "-T", help="Extend the run to so many iterations in all."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Go on with a run: nothing is asked, searched or evaluated twice.

    Examples: `evoduet resume results/runs/cp26-evoduet-42`,
    `evoduet resume results/runs/cp26-evoduet-42 --iterations 150`
    """
    from method.runs import resume as go_on

    show_run(
        lambda progress: go_on(folder, iterations=iterations, progress=progress), folder, as_json
    )


def replay(folder: RunArgument, as_json: JsonOption = False) -> None:
    """Run a journal again without any client; exit 0 only if everything is identical.

    Example: `evoduet replay results/runs/cp26-evoduet-42`
    """
    from method.runs import replay as again

    result = again(folder)
    if as_json:
        print_json(result.summary)
    else:
        typer.echo(f"{folder}: identical, {result.summary['done']} iterations")


def runs(
    folder: Annotated[Path, typer.Argument(help="Folder of runs.")] = Path("results/runs"),
    as_json: JsonOption = False,
) -> None:
    """List runs: status, best, cost. Those that cannot be read are named on stderr.

    Example: `evoduet runs results/runs`
    """
    from benchmark.catalogue import UnknownTask
    from method.journal import JournalError
    from method.runs import summarise

    journals = sorted(folder.rglob("journal.jsonl"))
    if not journals:
        raise UsageProblem(f"{folder}: no runs there")
    rows, problems = [], []
    for journal in journals:
        try:
            rows.append(summarise(journal.parent))
        except (JournalError, UnknownTask) as problem:
            problems.append({"run": str(journal.parent), "problem": str(problem)})
            typer.echo(f"evoduet: {journal.parent}: left out: {problem}", err=True)
    if as_json:
        print_json({"runs": rows, "unreadable": problems})
        return
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("run", "task", "method", "status", "done", "best search score", "NDG", "USD"):
        table.add_column(name, overflow="fold")
    for row in rows:
        score, usd = row["best"]["search_score"], readable(row["cost_usd"])
        table.add_row(
            row["run"], row["task"], row["method"], row["status"], f"{row['done']}/{row['T']}",
            repr(score), readable(row["ndg"]), usd,
        )  # fmt: skip
    console().print(table)


def best(
    folder: RunArgument,
    out: Annotated[Path | None, typer.Option(help="Write the program to this file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show or write the best program of a run.

    Example: `evoduet best results/runs/cp26-evoduet-42 --out best.py`
    """
    from method.runs import best_program

    code, summary = best_program(folder)
    if out is not None:
        write_text(out, code)
    if as_json:
        found = {"best": summary["best"], "ndg": summary["ndg"], "task": summary["task"]}
        print_json({**found, "program": code})
        return
    if out is None:
        typer.echo(code)
    best_found = summary["best"]
    typer.echo(
        f"{out or folder}: iteration {best_found['t']}, search score "
        f"{best_found['search_score']!r}, objective {readable(best_found['reporting'])}, "
        f"NDG {readable(summary['ndg'])}",
        err=out is None,
    )


def trace(folder: RunArgument, as_json: JsonOption = False) -> None:
    """Check a run's trace, write it anew and summarise it: one line for each iteration.

    Example: `evoduet trace results/runs/cp26-evoduet-42`
    """
    from method.journal import FILE_NAME
    from method.summary import is_recorded
    from method.trace import SCHEMA, check_trace, read_trace, read_written, write_trace

    own = (folder / FILE_NAME).is_file()
    records = read_written(folder, recorded=own and is_recorded(folder))
    if own or not records:  # without a journal the file is all there is
        records = read_trace(folder)
        check_trace(records, recorded=is_recorded(folder))
        write_trace(folder)
    if as_json:
        rows = [_row(record) for record in records]
        print_json({"run": str(folder), "schema": SCHEMA, "valid": True, "iterations": rows})
        return
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("t", "decision", "documents", "N", "parent", "child", "best"):
        table.add_column(name)
    for record in records:
        row = _row(record)
        child = "-" if row["child"] is None else readable(row["child"])
        table.add_row(
            str(row["t"]), row["decision"] or "-", str(row["documents"]), str(row["n_planned"]),
            readable(row["parent"]), child, readable(row["best"]),
        )  # fmt: skip
    console().print(table)


def _row(record: Mapping[str, Any]) -> dict[str, Any]:
    """An iteration in short."""
    child = record["child"]
    return {
        "t": record["t"],
        "decision": (record["gate"] or {}).get("executed"),
        "documents": len(record["documents"]),
        "n_planned": record["n_planned"],
        "parent": record["parent"]["score"],
        "child": None if child is None else child["search_score"],
        "best": record["run_best_after"],
    }
