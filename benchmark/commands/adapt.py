"""``evoduet adapt``: a task as another system reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmark.commands.options import JsonOption, one_of, print_json


def adapt(
    task: Annotated[str, typer.Argument(help="A task's id or name, or a task folder.")],
    system: Annotated[
        str, typer.Option("--for", help="openevolve, skydiscover, simpletes, shinka or harbor.")
    ],
    out: Annotated[Path, typer.Option(help="The folder to write: new, or empty.")],
    as_json: JsonOption = False,
) -> None:
    """Write a folder from which another system optimises a task unchanged.

    It holds the initial program, an evaluator that scores with EvoDuet bench, the instruction, a
    configuration, and a README with the command to run.

    Examples: `evoduet adapt cp26 --for openevolve --out cp26_openevolve`,
    `evoduet adapt mathematics/erdos --for shinka --out erdos_shinka --json`,
    `evoduet adapt ahc058 --for harbor --out ahc058_harbor`
    """
    from benchmark.availability import availability
    from benchmark.catalogue import find_task
    from benchmark.peers.folder import SYSTEMS, contents, write

    one_of("--for", system, tuple(SYSTEMS))
    found, chosen = find_task(task), SYSTEMS[system]
    files = contents(found, chosen)
    write(files, out)
    command = chosen.command(found) if chosen.command is not None else None
    state = availability(found)
    if as_json:
        print_json(
            {
                "task": found.id,
                "system": system,
                "out": str(out),
                "files": sorted(files),
                "command": command,
                "available": state.available,
                "missing": list(state.missing),
            }
        )
        return
    typer.echo(f"{out}: {found.id} for {chosen.title} ({', '.join(sorted(files))})")
    if command is None:
        typer.echo(f"how to run it: {out / 'README.md'}")
    else:
        typer.echo(f"run in that folder: {command}")
    if not state.available:
        typer.echo(f"evoduet: this machine cannot evaluate it yet: {state.summary}", err=True)
