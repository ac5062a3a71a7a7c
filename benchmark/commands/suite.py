"""``evoduet suite``: one program for each of many tasks."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmark.commands.options import (
    IsolationOption,
    JsonOption,
    StageOption,
    UsageProblem,
    console,
    one_of,
    prepare_output,
    print_json,
)
from benchmark.commands.results import save_results

if TYPE_CHECKING:
    from benchmark.evaluation import Evaluation
    from benchmark.suite import Entry
    from benchmark.task import Task


def suite(
    select: Annotated[
        str, typer.Option(help="cheap, moderate, expensive, all, domains, ids or names.")
    ] = "cheap",
    initial: Annotated[
        bool, typer.Option("--initial", help="Evaluate the initial programs (the default).")
    ] = False,
    programs: Annotated[
        Path | None, typer.Option(help="Folder with one program for each task, NAME.py.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Evaluations at a time.")] = 1,
    stage: StageOption = "search",
    out: Annotated[
        Path | None, typer.Option(help="Result file; default results/suite/TIME.json.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 3 when a selected task was unavailable.")
    ] = False,
    isolation: IsolationOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Evaluate the initial programs, or your own, on many tasks; write all results to a file.

    Examples: `evoduet suite`, `evoduet suite --select mathematics,sindy_2d --workers 2`,
    `evoduet suite --select all --programs my_programs --json`
    """
    if initial and programs is not None:
        raise UsageProblem("give either --initial or --programs DIR")
    one_of("--stage", stage, ("search", "report", "both"))
    one_of("--isolation", isolation, ("auto", "bubblewrap", "process"))
    from benchmark.catalogue import select as select_tasks

    entries = _entries(select_tasks(select), programs)
    file = prepare_output(out or Path(time.strftime("results/suite/%Y%m%d-%H%M%S.json")))
    done: list[Evaluation] = []
    try:
        results = run_watched(entries, done, workers, stage, isolation, quiet=as_json)
    except KeyboardInterrupt:
        save_results(file, done)
        rest = ",".join(e.task.id for e in entries if e.task.id not in {d.task for d in done})
        own = "" if programs is None else f" --programs {programs}"
        typer.echo(f"\nevoduet: interrupted; {file} has what is done, go on with: "
                   f"evoduet suite --select {rest}{own}", err=True)  # fmt: skip
        # Waiting candidates may have minutes to go: leave at once, their sandboxes die with us.
        os._exit(75)
    save_results(file, results)
    if as_json:
        print_json({"results": [result.to_json() for result in results]})
    else:
        print_table(results, [entry.task for entry in entries])
        typer.echo(f"results: {file}")
    unavailable = [result for result in results if result.status == "unavailable"]
    raise typer.Exit(3 if strict and unavailable else 0)


def _entries(tasks: list[Task], folder: Path | None) -> list[Entry]:
    from benchmark.suite import find_programs, initial_entries

    if folder is None:
        return initial_entries(tasks)
    entries, without = find_programs(tasks, folder)
    if not entries:
        raise UsageProblem(f"--programs {folder}: no file named <task name>.py for these tasks")
    if without:
        names = ", ".join(task.name for task in without)
        typer.echo(f"no program in {folder} for: {names}", err=True)
    return entries


def run_watched(
    entries: list[Entry],
    done: list[Evaluation],
    workers: int,
    stage: str,
    isolation: str,
    *,
    quiet: bool,
) -> list[Evaluation]:
    """Evaluate all with a bar on stderr, unless ``quiet``; ``done`` grows as results arrive."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from benchmark.harness import Harness
    from benchmark.suite import run_suite

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    progress = Progress(
        *columns, TimeElapsedColumn(), console=Console(stderr=True), disable=quiet, transient=True
    )
    with progress, Harness(isolation, workers=workers) as harness:
        bar = progress.add_task("evaluating", total=len(entries))

        def finished(evaluation: Evaluation) -> None:
            done.append(evaluation)
            progress.update(bar, advance=1, description=evaluation.task)

        return run_suite(entries, harness, workers=workers, stage=stage, finished=finished)


def print_table(results: list[Evaluation], tasks: list[Task]) -> None:
    """Verdict, objective, NDG and time of each task."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("task", "verdict"):
        table.add_column(name, no_wrap=True)
    for name in ("objective", "NDG", "wall s"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for task, result in zip(tasks, results, strict=True):
        colour = "green" if result.valid else "red"
        objective = "" if result.objective is None else f"{result.objective:.10g}"
        gain = "" if result.ndg is None else f"{result.ndg:.2f}"
        note = result.reason or _note(result)
        table.add_row(
            task.id, f"[{colour}]{result.status}[/{colour}]", objective, gain,
            f"{result.wall_s:.2f}", escape(note),
        )  # fmt: skip
    console().print(table)


def _note(result: Evaluation) -> str:
    variant = result.provenance.get("variant", "official")
    if variant != "official":
        return f"{variant} data, not comparable"
    return "objective is held out: --stage both" if result.objective is None else ""
