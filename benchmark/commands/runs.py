"""``evoduet resume``, ``replay``, ``runs``, ``best``, ``trace``: runs that there are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

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

    show_run(lambda progress: go_on(folder, iterations=iterations, progress=progress), as_json)


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
    """List runs: status, best, cost.

    Example: `evoduet runs results/runs`
    """
    from method.runs import summarise

    journals = sorted(folder.rglob("journal.jsonl"))
    if not journals:
        raise UsageProblem(f"{folder}: no runs there")
    rows = [summarise(journal.parent) for journal in journals]
    if as_json:
        print_json({"runs": rows})
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
        print_json({"best": summary["best"], "task": summary["task"], "program": code})
    elif out is None:
        typer.echo(code)
    else:
        score = summary["best"]["search_score"]
        typer.echo(f"{out}: search score {score!r}, NDG {readable(summary['ndg'])}")


def trace(folder: RunArgument, as_json: JsonOption = False) -> None:
    """Check a run's trace and summarise it: one line for each iteration.

    Example: `evoduet trace results/runs/cp26-evoduet-42`
    """
    from method.summary import is_recorded
    from method.trace import check_trace, read_trace, write_trace

    records = read_trace(folder)
    check_trace(records, recorded=is_recorded(folder))
    write_trace(folder)
    if as_json:
        for record in records:
            print(json.dumps(record, ensure_ascii=False, allow_nan=False))
        return
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("t", "decision", "documents", "N", "parent", "child", "best"):
        table.add_column(name)
    for record in records:
        child = "-" if record["child"] is None else readable(record["child"]["search_score"])
        table.add_row(
            str(record["t"]), (record["gate"] or {}).get("executed") or "-",
            str(len(record["documents"])), str(record["n_planned"]),
            readable(record["parent"]["score"]), child, readable(record["run_best_after"]),
        )  # fmt: skip
    console().print(table)
