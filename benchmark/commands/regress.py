"""``evoduet regress``: do the initial programs still score what they scored?"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmark.commands.options import (
    IsolationOption,
    JsonOption,
    console,
    one_of,
    prepare_output,
    print_json,
    write_text,
)
from benchmark.commands.suite import run_watched

if TYPE_CHECKING:
    from benchmark.evaluation import Evaluation
    from benchmark.regress import Comparison

BASELINE = Path("results/baselines/cheap.json")


def regress(
    baseline: Annotated[Path, typer.Option(help="File with the accepted scores.")] = BASELINE,
    select: Annotated[str, typer.Option(help="As in `evoduet suite`.")] = "cheap",
    workers: Annotated[int, typer.Option(min=1, help="Evaluations at a time.")] = 1,
    update: Annotated[
        bool, typer.Option("--update", help="Accept today's scores as the baseline.")
    ] = False,
    isolation: IsolationOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Compare the initial programs' scores with the committed baseline; exit 1 on drift.

    Tasks that are unavailable here are named and skipped; `--update` keeps their old records.

    Examples: `evoduet regress`, `evoduet regress --update`
    """
    one_of("--isolation", isolation, ("auto", "bubblewrap", "process"))
    from benchmark.catalogue import select as select_tasks
    from benchmark.regress import compare, read_baseline
    from benchmark.suite import initial_entries

    if update:
        prepare_output(baseline)
    before = {} if update and not baseline.exists() else read_baseline(baseline)
    tasks = select_tasks(select)
    results = run_watched(initial_entries(tasks), [], workers, "search", isolation, quiet=as_json)
    comparisons = compare(tasks, results, before)
    if as_json:
        print_json({"comparisons": [asdict(comparison) for comparison in comparisons]})
    else:
        _print(comparisons)
    if update:
        _accept(baseline, before, results)
        typer.echo(f"{baseline}: updated", err=True)
        return
    failed = [comparison for comparison in comparisons if comparison.outcome in ("drift", "new")]
    raise typer.Exit(1 if failed else 0)


def _accept(baseline: Path, before: dict[str, dict[str, object]], now: list[Evaluation]) -> None:
    from benchmark.regress import baseline_record

    records = dict(before)
    for result in now:
        if result.status != "unavailable":
            records[result.task] = baseline_record(result)
    content = {"results": [records[task] for task in sorted(records)]}
    write_text(baseline, json.dumps(content, indent=1) + "\n")


def _print(comparisons: list[Comparison]) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("task", "outcome", "baseline", "now", "reason"):
        table.add_column(name, overflow="fold")
    colours = {"same": "green", "drift": "red", "new": "yellow", "skipped": "yellow"}
    for row in comparisons:
        outcome = f"[{colours[row.outcome]}]{row.outcome}[/{colours[row.outcome]}]"
        table.add_row(row.task, outcome, row.before, row.now, escape(row.reason))
    console().print(table)
    counts = Counter(row.outcome for row in comparisons)
    typer.echo(", ".join(f"{n} {outcome}" for outcome, n in counts.items()))
