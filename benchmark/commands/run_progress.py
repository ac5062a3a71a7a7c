"""A run as the terminal sees it: live progress, how it ended, exit codes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from benchmark.commands.options import print_json

if TYPE_CHECKING:
    from method.runs import Progress, RunResult

INVALID, MISSING, INTERRUPTED = 1, 3, 75


def show_run(action: Callable[[Progress], RunResult], folder: Path, as_json: bool) -> None:
    """Run in ``folder`` with live progress, print the summary, leave with the run's exit code.

    JSON is printed of every run that has a journal, however it ended.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from method.engine import EvaluatorUnavailable, InvalidSeed, Stopped
    from method.ports import Paused

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    terminal = Console(stderr=True)
    quiet = as_json or not terminal.is_terminal
    shown = Progress(*columns, console=terminal, disable=quiet, transient=True)
    try:
        with shown:
            bar = shown.add_task("starting", total=None)

            def progress(record: Mapping[str, Any]) -> None:
                decision = (record["gate"] or {}).get("executed") or ""
                text = f"iteration {record['t']}  best {record['run_best_after']:.8g}  {decision}"
                shown.update(bar, description=text, completed=record["t"], total=record.get("T"))

            result = action(progress)
    except InvalidSeed as problem:
        _stop(str(problem), INVALID, folder, as_json)
    except EvaluatorUnavailable as problem:
        _stop(str(problem), MISSING, folder, as_json)
    except (Paused, Stopped) as problem:
        text = f"{problem}; go on with `evoduet resume {folder}`"
        _stop(text, INTERRUPTED, folder, as_json)
    else:
        _print(result, as_json)


def _stop(message: str, code: int, folder: Path, as_json: bool) -> None:
    from method.journal import FILE_NAME
    from method.runs import summarise

    if as_json and (folder / FILE_NAME).is_file():
        print_json(summarise(folder))
    typer.echo(f"evoduet: {message}", err=True)
    raise typer.Exit(code)


def _print(result: RunResult, as_json: bool) -> None:
    if as_json:
        print_json(result.summary)
        return
    summary = result.summary
    best_found = summary["best"]
    why = {"budget": "stopped at its budget", "finished": "finished"}.get(
        result.status, result.status
    )
    typer.echo(f"{result.folder}: {why} after {summary['done']} of {summary['T']} iterations")
    typer.echo(
        f"best search score {best_found['search_score']!r} (iteration {best_found['t']}), "
        f"initial {summary['x0']['search_score']!r}, NDG {readable(summary['ndg'])}"
    )
    if summary["unpriced_calls"]:
        typer.echo(f"{summary['unpriced_calls']} calls of unknown cost")


def readable(value: float | None) -> str:
    """Six digits of a number for a table."""
    return "unknown" if value is None else f"{value:.6g}"
