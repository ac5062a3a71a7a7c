"""``evoduet oracle``: the documents that the oracle baseline hands to a model."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, cast

import typer

from benchmark.commands.options import JsonOption, UsageProblem, one_of, print_json

if TYPE_CHECKING:
    from benchmark.oracle import Level, OracleDocument, Source


def oracle(
    task: Annotated[str, typer.Argument(help="A task's id or name, or a task folder.")],
    level: Annotated[
        str | None,
        typer.Option(
            help="direct (states the answer) or inferential (states facts that lead to it); "
            "default: direct where there is such a document."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the source documents of a task, as the oracle baseline gives them to a model.

    Examples: `evoduet oracle lj_13`, `evoduet oracle lj_13 --level inferential`,
    `evoduet oracle mathematics/erdos --json`
    """
    if level is not None:
        one_of("--level", level, ("direct", "inferential"))
    from benchmark.catalogue import find_task
    from benchmark.oracle import of_level, read_documents

    found = find_task(task)
    documents = read_documents(found.name)
    chosen = of_level(documents, cast("Level | None", level))
    if not chosen:
        raise UsageProblem(f"--level {level}: {found.id} has {documents[0].level} documents only")
    if as_json:
        rows = [{**asdict(document), "url": document.url} for document in chosen]
        print_json({"task": found.id, "level": chosen[0].level, "documents": rows})
        return
    typer.echo("\n\n".join(map(_as_text, chosen)))


def _as_text(document: OracleDocument) -> str:
    """Plain text on purpose: a pipe gets the body byte for byte as a model gets it."""
    note = "" if document.verified else ", holds facts not compared with their sources"
    lines = [
        f"# {document.title}",
        f"({document.level}, {document.kind}{note})",
        "",
        *map(_citation, document.sources),
        "",
        document.body,
    ]
    return "\n".join(lines)


def _citation(source: Source) -> str:
    year = str(source.year) if source.year is not None else None
    parts = [source.authors, source.title, year, source.id, source.url]
    note = "" if source.verified else " [not compared with the source]"
    return f"- {', '.join(part for part in parts if part)}{note}"
