"""``evoduet plot``: a picture of what was found."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from benchmark.commands.options import (
    IsolationOption,
    SetOption,
    UsageProblem,
    one_of,
    prepare_output,
    settings,
)


def plot(
    task: Annotated[str, typer.Argument(help="A task's id or name, or a task folder.")],
    program: Annotated[Path | None, typer.Argument(help="The program to run and draw.")] = None,
    artifact: Annotated[Path | None, typer.Option(help="A stored artifact instead.")] = None,
    out: Annotated[Path, typer.Option(help="Picture file: .png, .svg or .pdf.")] = Path("plot.png"),
    stage: Annotated[str, typer.Option(help="search or report.")] = "search",
    variant: Annotated[str | None, typer.Option(help="Data variant.")] = None,
    set_: SetOption = None,
    isolation: IsolationOption = "auto",
) -> None:
    """Draw what a program or a stored artifact found.

    Examples: `evoduet plot cp26 my_program.py --out packing.png`, `evoduet plot erdos --artifact
    h.npz --out overlap.pdf`
    """
    if (program is None) == (artifact is None):
        raise UsageProblem("give either a program or --artifact FILE")
    from benchmark.evaluation import evaluate, prepare
    from benchmark.harness import Harness
    from benchmark.pictures import FORMATS, save_picture

    if out.suffix not in FORMATS:
        raise UsageProblem(f"--out {out}: use one of {', '.join(FORMATS)}")
    one_of("--stage", stage, ("search", "report"))
    one_of("--isolation", isolation, ("auto", "bubblewrap", "process"))
    prepare_output(out)
    setup = prepare(task, variant, settings(set_))
    with Harness(isolation) if program is not None else nullcontext() as harness:
        evaluation = evaluate(
            setup.task, program, stage, artifact=artifact, variant=setup.variant,
            options=settings(set_), harness=harness,
        )  # fmt: skip
    if not evaluation.valid or evaluation.artifact is None:
        typer.echo(f"evoduet: {evaluation.status}: {evaluation.reason}; nothing drawn", err=True)
        raise typer.Exit(3 if evaluation.status == "unavailable" else 1)
    save_picture(setup, evaluation.artifact, out)
    typer.echo(f"{out}: {evaluation.task}, search score {evaluation.search!r}")
