"""``evoduet figures``: the paper's figures from its numbers, and figures of own runs."""

from __future__ import annotations

from typing import Annotated

import typer

from benchmark.commands.options import JsonOption, UsageProblem, print_json
from benchmark.commands.tables import (
    AnchorsOption,
    DataOption,
    OutOption,
    RunsOption,
    open_published,
    usage_problems,
)


def figures(
    out: OutOption,
    more: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="More names after --only.")
    ] = None,
    data: DataOption = None,
    runs: RunsOption = None,
    anchors: AnchorsOption = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="Draw this figure alone; several may follow."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Draw the paper's figures again: PDF, SVG and PNG, and the data of each as CSV.

    The same data give the same bytes. Names: fig3, fig4, fig6, fig7, profile, ranks; with `--runs`
    also runs_anytime, runs_search_score, runs_profile, runs_ranks.

    Examples: `evoduet figures --out results/figures`, `evoduet figures --out figs --only fig3 fig6`
    """
    if more and not only:
        raise UsageProblem(f"{more[0]}: write --only before the names of figures")
    with usage_problems():
        from analysis.figures.build import choose, draw, files
        from analysis.output import write_files

        names = choose([*(only or ()), *(more or ())], runs=runs is not None)
        published = open_published(data, anchors, out)
        content: dict[str, str | bytes] = {}
        for drawn in draw(names, published, runs):
            content |= files(drawn)
        written = write_files(out, content)
    if as_json:
        print_json({"out": str(out), "files": [path.name for path in written]})
    else:
        typer.echo(f"{out}: {len(written)} files")
