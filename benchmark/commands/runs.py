"""``evoduet run``, ``resume``, ``replay``, ``runs``, ``best``, ``trace``: methods on tasks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmark.commands.options import (
    IsolationOption,
    JsonOption,
    SetOption,
    UsageProblem,
    console,
    print_json,
    settings,
    write_text,
)

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")]
INVALID, MISSING, INTERRUPTED = 1, 3, 75


def run(
    task: Annotated[str | None, typer.Option(help="A task's id or name.")] = None,
    method: Annotated[
        str | None, typer.Option(help="[SCAFFOLD+]RETRIEVER, for example evoduet or topk+none.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="PROVIDER/NAME as litellm writes it, offline/perturb (no model) or scripted:FILE."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="New folder of the run; default results/runs/<...>.")
    ] = None,
    search: Annotated[
        str | None,
        typer.Option(help="tavily (the web), offline (oracle documents), a folder, or none."),
    ] = None,
    no_blocklist: Annotated[
        bool, typer.Option("--no-blocklist", help="Search results may name this benchmark's pages.")
    ] = False,
    rules: Annotated[str | None, typer.Option(help="official or robust.")] = None,
    edit: Annotated[str | None, typer.Option(help="diff or full.")] = None,
    gate: Annotated[
        str | None, typer.Option(help="knowledge, random, stagnation, always or never.")
    ] = None,
    rounds: Annotated[int | None, typer.Option(help="R, search rounds of a retrieve.")] = None,
    queries: Annotated[int | None, typer.Option(help="J, queries of a round.")] = None,
    per_query: Annotated[int | None, typer.Option(help="M, documents of a query.")] = None,
    retain: Annotated[int | None, typer.Option(help="D, documents kept.")] = None,
    candidates: Annotated[int | None, typer.Option(help="N, candidates of an iteration.")] = None,
    iterations: Annotated[int | None, typer.Option(help="T, outer iterations.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the run.")] = None,
    max_cost: Annotated[float | None, typer.Option(help="Stop at this cost in USD.")] = None,
    prices: Annotated[
        str | None, typer.Option(help="Price file (TOML, USD), or the preset paper-gateway.")
    ] = None,
    max_hours: Annotated[float | None, typer.Option(help="Stop after so many hours.")] = None,
    cassette: Annotated[
        str | None, typer.Option(help="Record model and search answers into this new file.")
    ] = None,
    replay_: Annotated[
        bool, typer.Option("--replay", help="Answer from the cassette alone; nothing is paid.")
    ] = False,
    variant: Annotated[str | None, typer.Option(help="Data variant of the task.")] = None,
    set_: SetOption = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Evaluations at a time.")] = None,
    isolation: IsolationOption = "auto",
    config: Annotated[Path | None, typer.Option(help="TOML file; options win over it.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a method on a task; stops by itself, can be interrupted and resumed.

    Example: `evoduet run --task cp26 --method evoduet --model offline/perturb --iterations 10`
    """
    from method.config import make_config
    from method.runs import run as start

    chosen = make_config(
        config, task=task, method=method, model=model, search=search, rules=rules, edit=edit,
        gate=gate, rounds=rounds, queries=queries, per_query=per_query, retain=retain,
        candidates=candidates, iterations=iterations, seed=seed, max_cost=max_cost,
        max_hours=max_hours, variant=variant, options=settings(set_) or None, workers=workers,
        isolation=isolation, blocklist=False if no_blocklist else None, prices=prices,
        cassette=cassette, cassette_mode="replay" if replay_ else None,
    )  # fmt: skip
    folder = out or _new_folder(chosen)
    if not as_json and chosen.model.startswith("offline/"):
        from method.llm.perturb import NOTICE

        typer.echo(NOTICE, err=True)
    _finish(lambda progress: start(chosen, folder, progress=progress), as_json)


def plan(
    task: Annotated[str | None, typer.Option(help="A task's id or name.")] = None,
    method: Annotated[str | None, typer.Option(help="[SCAFFOLD+]RETRIEVER.")] = None,
    model: Annotated[str, typer.Option(help="As in `evoduet run`.")] = "offline/perturb",
    rounds: Annotated[int | None, typer.Option(help="R, search rounds of a retrieve.")] = None,
    queries: Annotated[int | None, typer.Option(help="J, queries of a round.")] = None,
    candidates: Annotated[int | None, typer.Option(help="N, candidates of an iteration.")] = None,
    iterations: Annotated[int | None, typer.Option(help="T, outer iterations.")] = None,
    usd_per_call: Annotated[float | None, typer.Option(help="Price of a model call.")] = None,
    usd_per_search: Annotated[float | None, typer.Option(help="Price of a search.")] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file of a run.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Say what a run may do at worst: model calls, searches, evaluations, cost.

    Example: `evoduet plan --task cp26 --method evoduet --candidates 8 --usd-per-call 0.01`
    """
    from method.config import make_config
    from method.planning import plan as bound

    worst = bound(
        make_config(
            config, task=task, method=method, model=model, rounds=rounds, queries=queries,
            candidates=candidates, iterations=iterations,
        )
    )  # fmt: skip
    cost = worst.cost_usd(usd_per_call, usd_per_search)
    if as_json:
        print_json({**worst.to_json(), "cost_usd": cost})
        return
    for name, value in worst.to_json().items():
        typer.echo(f"{name.replace('_', ' '):12s} at most {value}")
    shown = "unknown: give --usd-per-call and --usd-per-search" if cost is None else f"{cost:.2f}"
    typer.echo(f"cost in USD  at most {shown}")


def resume(folder: RunArgument, as_json: JsonOption = False) -> None:
    """Go on with an interrupted run: nothing is asked, searched or evaluated twice.

    Example: `evoduet resume results/runs/cp26-evoduet-42`
    """
    from method.runs import resume as go_on

    _finish(lambda progress: go_on(folder, progress=progress), as_json)


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
        score, usd = row["best"]["search_score"], _number(row["cost_usd"])
        table.add_row(
            row["run"], row["task"], row["method"], row["status"], f"{row['done']}/{row['T']}",
            repr(score), _number(row["ndg"]), usd,
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
        typer.echo(f"{out}: search score {score!r}, NDG {_number(summary['ndg'])}")


def trace(folder: RunArgument, as_json: JsonOption = False) -> None:
    """Check a run's trace and summarise it: one line for each iteration.

    Example: `evoduet trace results/runs/cp26-evoduet-42`
    """
    from method.trace import check_trace, read_trace, write_trace

    records = read_trace(folder)
    check_trace(records)
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
        child = "-" if record["child"] is None else _number(record["child"]["search_score"])
        table.add_row(
            str(record["t"]), (record["gate"] or {}).get("executed") or "-",
            str(len(record["documents"])), str(record["n_planned"]),
            _number(record["parent"]["score"]), child, _number(record["run_best_after"]),
        )  # fmt: skip
    console().print(table)


def _new_folder(config: Any) -> Path:
    name = f"{config.task.rpartition('/')[2]}-{config.method}-{config.seed}"
    for number in range(1, 10_000):
        folder = Path("results/runs") / (name if number == 1 else f"{name}-{number}")
        if not folder.exists():
            return folder
    raise UsageProblem("--out: name a folder")


def _finish(action: Any, as_json: bool) -> None:
    """Run with live progress; print the summary; turn the ways to end into exit codes."""
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
    shown = Progress(*columns, console=Console(stderr=True), disable=as_json, transient=True)
    try:
        with shown:
            bar = shown.add_task("starting", total=None)

            def progress(record: Mapping[str, Any]) -> None:
                decision = (record["gate"] or {}).get("executed") or ""
                text = f"iteration {record['t']}  best {record['run_best_after']:.8g}  {decision}"
                shown.update(bar, description=text, completed=record["t"], total=record.get("T"))

            result = action(progress)
    except InvalidSeed as problem:
        _stop(str(problem), INVALID)
    except EvaluatorUnavailable as problem:
        _stop(str(problem), MISSING)
    except (Paused, Stopped) as problem:
        _stop(f"{problem}; go on with `evoduet resume`", INTERRUPTED)
    else:
        _print(result, as_json)


def _stop(message: str, code: int) -> None:
    typer.echo(f"evoduet: {message}", err=True)
    raise typer.Exit(code)


def _print(result: Any, as_json: bool) -> None:
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
        f"initial {summary['x0']['search_score']!r}, NDG {_number(summary['ndg'])}"
    )
    if summary["unpriced_calls"]:
        typer.echo(f"{summary['unpriced_calls']} calls of unknown cost")


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.6g}"
