"""``evoduet figures``: the paper's figures from its numbers, and figures of own runs."""

from __future__ import annotations

from typing import Annotated

import typer

from benchmark.commands.options import (
    IsolationOption,
    JsonOption,
    UsageProblem,
    one_of,
    print_json,
)
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
    tasks: Annotated[
        str | None,
        typer.Option(help="Tasks of runs_fig7, with commas; default all with runs at every N."),
    ] = None,
    pair: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TASK=A,B",
            help="Draw two outputs of a task side by side (Figures 17-21); each of A, B is "
            "`initial`, a program, a stored artifact or a run folder.",
        ),
    ] = None,
    stage: Annotated[
        str, typer.Option(help="Stage at which programs of --pair are run: search or report.")
    ] = "search",
    variant: Annotated[str | None, typer.Option(help="Data variant for --pair.")] = None,
    isolation: IsolationOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Draw the paper's figures again: PDF, SVG and PNG, and the data of each as CSV.

    The same data give the same bytes. Names: fig1 to fig7, fig9, profile, ranks; with `--runs`
    also runs_anytime, runs_search_score, runs_fig4, runs_fig7, runs_profile, runs_ranks, fig8 and
    fig10 to fig16; with `--pair` fig17 to fig21, or pair_TASK for other tasks.

    Examples: `evoduet figures --out results/figures`, `evoduet figures --out figs --only fig3`,
    `evoduet figures --out figs --only fig21 --pair erdos=initial,results/runs/erdos-1`
    """
    one_of("--isolation", isolation, ("auto", "bubblewrap", "process"))
    if more and not only:
        raise UsageProblem(f"{more[0]}: write --only before the names of figures")
    if tasks and runs is None:
        raise UsageProblem(
            "--tasks is the list of runs_fig7, which shows own runs: give --runs DIR"
        )
    with usage_problems():
        from analysis.figures.build import choose, draw, files
        from analysis.figures.stored_pairs import Pair, check
        from analysis.output import write_files
        from benchmark.commands.stored import read_pair

        declared = [name.strip() for name in (tasks or "").split(",") if name.strip()]
        names = choose([*(only or ()), *(more or ())], runs=runs is not None)
        published = open_published(data, anchors, out)
        one_of("--stage", stage, ("search", "report"))
        pairs = [Pair(*read_pair(text, stage, variant, isolation)) for text in pair or ()]
        check([*(only or ()), *(more or ())], pairs)
        content: dict[str, str | bytes] = {}
        notes: list[str] = []
        for drawn in draw(names, published, runs, tasks=declared, pairs=pairs, notes=notes):
            content |= files(drawn)
        written = write_files(out, content)
    for note in notes:
        typer.echo(f"evoduet: {note}", err=True)
    if as_json:
        print_json({"out": str(out), "files": [path.name for path in written], "notes": notes})
    else:
        typer.echo(f"{out}: {len(written)} files")
