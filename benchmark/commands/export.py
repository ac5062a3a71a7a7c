"""``evoduet export``: a run's programs as another system keeps them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmark.commands.options import JsonOption, one_of, print_json
from benchmark.commands.runs import RunArgument

FORMATS = ("openevolve",)


def export(
    folder: RunArgument,
    out: Annotated[Path, typer.Option(help="The folder to write: new, or empty.")],
    format_: Annotated[str, typer.Option("--format", help="openevolve: a checkpoint folder.")] = (
        "openevolve"
    ),
    as_json: JsonOption = False,
) -> None:
    """Write a run's programs as a checkpoint of OpenEvolve, to look at or to go on from there.

    One way: nothing is read back. Example: `evoduet export results/runs/cp26-evoduet-42
    --format openevolve --out checkpoint_100`
    """
    from method.export import openevolve_checkpoint, write_checkpoint

    if format_ not in FORMATS:
        one_of("--format", format_, FORMATS)
    checkpoint = openevolve_checkpoint(folder)
    write_checkpoint(checkpoint, out)
    if as_json:
        print_json(
            {
                "run": str(folder),
                "format": format_,
                "out": str(out),
                "programs": len(checkpoint.programs),
                "best": checkpoint.metadata["best_program_id"],
            }
        )
        return
    typer.echo(
        f"{out}: {len(checkpoint.programs)} programs, the last of iteration "
        f"{checkpoint.metadata['last_iteration']}"
    )
