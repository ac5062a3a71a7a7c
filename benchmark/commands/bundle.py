"""``evoduet bundle``: a run as one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmark.commands.options import JsonOption, prepare_output, print_json
from benchmark.commands.runs import RunArgument


def bundle(
    folder: RunArgument,
    out: Annotated[Path, typer.Option(help="The file to write: NAME.tar.zst or NAME.tar.gz.")],
    with_pages: Annotated[
        bool,
        typer.Option("--with-pages", help="Also the text of web pages, which others may own."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Pack a run into one file that `evoduet verify` accepts on another machine.

    Journal, programs, artifacts, prompts, answers, trace, summary and the environment. The text of
    web pages is left out unless asked for: its hashes are in, so that the journal can be checked.

    Example: `evoduet bundle results/runs/cp26-evoduet-42 --out cp26.tar.zst`
    """
    from method.archive import suffix_of
    from method.bundle import bundle as pack

    suffix_of(out)
    done = pack(folder, prepare_output(out), with_pages=with_pages)
    if as_json:
        print_json(
            {
                "out": str(done.path),
                "sha256": done.sha256,
                "members": done.members,
                "pages": done.pages,
                "pages_left_out": done.left_out,
                "redacted_texts": done.redacted_texts,
            }
        )
        return
    typer.echo(f"{done.path}: {done.members} files, sha256 {done.sha256}")
    if done.left_out:
        typer.echo(
            f"text of {done.left_out} pages left out, and where {done.redacted_texts} texts quote "
            "them; --with-pages packs it"
        )
