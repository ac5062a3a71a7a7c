"""``evoduet score``: a verdict on programs and stored artifacts."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchmark.commands.options import (
    IsolationOption,
    JsonOption,
    SetOption,
    StageOption,
    UsageProblem,
    console,
    one_of,
    prepare_output,
    print_json,
    settings,
)
from benchmark.commands.results import save_results

if TYPE_CHECKING:
    from benchmark.evaluation import Evaluation
    from benchmark.task import Task

EXIT_CODES = {"valid": 0, "unavailable": 3}
"""Exit code of each status; 1 for those that are not here."""


def score(
    task: Annotated[str, typer.Argument(help="A task's id or name, or a task folder.")],
    programs: Annotated[list[Path] | None, typer.Argument(help="Programs to evaluate.")] = None,
    artifact: Annotated[
        list[Path] | None,
        typer.Option(help="A stored artifact (.json, .npz) to score instead; repeatable."),
    ] = None,
    stage: StageOption = "search",
    variant: Annotated[
        str | None, typer.Option(help="Data variant: official, embedded or partial.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Evaluate so often; report the mean.")] = 1,
    set_: SetOption = None,
    timeout: Annotated[
        float | None, typer.Option(min=0.001, help="Wall seconds instead of the task's limit.")
    ] = None,
    memory: Annotated[
        int | None, typer.Option(min=64, help="Memory in MB instead of the task's limit.")
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Add the exact certificate.")] = False,
    isolation: IsolationOption = "auto",
    allow_network: Annotated[
        bool, typer.Option("--allow-network", help="Let programs use the network (recorded).")
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save",
            "--out",
            help="Also write the results to this file, and what was made beside it.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Score programs or stored artifacts on a task.

    Exit code: the worst verdict (0 valid, 1 invalid or failed, 3 unavailable).

    Examples: `evoduet score erdos my_program.py`, `evoduet score cp26 --artifact circles.json
    --exact --json`
    """
    one_of("--stage", stage, ("search", "report", "both"))
    one_of("--isolation", isolation, ("auto", "bubblewrap", "process"))
    inputs: list[dict[str, Any]] = [{"program": path} for path in programs or []]
    inputs += [{"artifact": path} for path in artifact or []]
    if not inputs:
        raise UsageProblem("nothing to score: give a program or --artifact FILE")
    if repeats > 1 and artifact:
        raise UsageProblem("--repeats is for programs; an artifact always scores the same")
    from benchmark.catalogue import find_task
    from benchmark.evaluation import evaluate
    from benchmark.harness import Harness

    found = find_task(task)
    options = settings(set_)
    worst = 0
    file = None if save is None else prepare_output(save, "--save")
    results: list[Evaluation] = []
    with ExitStack() as stack:
        harness = None  # a stored artifact is scored without any sandbox
        if programs:
            harness = stack.enter_context(Harness(isolation, network=allow_network))
        for given in inputs:
            evaluation = evaluate(
                found,
                stage=stage,
                variant=variant,
                options=options,
                repeats=repeats,
                wall_s=timeout,
                memory_mb=memory,
                exact=exact,
                harness=harness,
                **given,
            )
            results.append(evaluation)
            if file is not None:
                save_results(file, results)
            if as_json:
                print_json(evaluation.to_json())
            else:
                print_evaluation(found, evaluation, next(iter(given.values())))
            worst = max(worst, EXIT_CODES.get(evaluation.status, 1))
    raise typer.Exit(worst)


def print_evaluation(task: Task, evaluation: Evaluation, source: Path) -> None:
    """The verdict for people: status first, then the numbers, then what it cost."""
    from rich.markup import escape
    from rich.table import Table

    out = console()
    colour = "green" if evaluation.valid else "red"
    out.print(
        f"[bold]{task.id}[/bold]  {escape(str(source))}: "
        f"[{colour}]{evaluation.status}[/{colour}]"
        + (f"  {escape(evaluation.reason)}" if evaluation.reason else "")
    )
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in _rows(task, evaluation):
        table.add_row(f"  {label}", escape(text))
    out.print(table)


def _rows(task: Task, evaluation: Evaluation) -> list[tuple[str, str]]:
    declared = task.declared
    rows: list[tuple[str, str]] = []
    if evaluation.valid:
        anchors = declared.anchors
        scale = f"x0 {anchors.initial.value:.6g}, SOTA {anchors.sota.value:.6g}"
        if evaluation.objective is not None:
            rows.append((declared.reporting_metric, f"{evaluation.objective!r} ({scale})"))
        else:
            rows.append((declared.reporting_metric, "held out: ask for it with --stage both"))
        rows.append(("NDG", _ndg(evaluation)))
        rows.append(("search score", repr(evaluation.search)))
    rows += [(name, f"{value:.12g}") for name, value in evaluation.metrics.items()]
    rows += list(evaluation.certificate.items())
    rows += [(f"repeat {i + 1}", str(row["search"])) for i, row in enumerate(evaluation.repeats)]
    if evaluation.feedback:
        rows.append(("feedback", evaluation.feedback))
    rows += list(evaluation.attachments.items())
    if not evaluation.valid and evaluation.stderr_tail:
        rows.append(("stderr", evaluation.stderr_tail.strip()[-1500:]))
    variant = evaluation.provenance.get("variant", "official")
    if variant != "official":
        rows.append(("data", f"{variant} (not comparable with official scores)"))
    if evaluation.program is not None:
        cost = f"{evaluation.wall_s:.2f} s wall, {evaluation.cpu_s:.2f} s CPU"
        rows.append(("cost", f"{cost}, {evaluation.peak_mb:.0f} MB, {evaluation.isolation}"))
    return rows


def _ndg(evaluation: Evaluation) -> str:
    if evaluation.ndg is None:
        return "not defined without a comparable objective"
    raw = evaluation.ndg_raw
    below = f" (unfloored {raw:.4g})" if raw is not None and raw < 0 else ""
    return f"{evaluation.ndg:.4g}{below}"
