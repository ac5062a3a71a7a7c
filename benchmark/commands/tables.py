"""``evoduet tables``: the paper's tables from its numbers, and statistics of own runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmark.commands.options import JsonOption, UsageProblem, console, print_json

if TYPE_CHECKING:
    from analysis.published import Published

DataOption = Annotated[
    Path | None,
    typer.Option(help="Folder of published numbers; default the project's results/published."),
]
RunsOption = Annotated[
    Path | None, typer.Option(help="Folder of own runs; they go to files of their own.")
]
OutOption = Annotated[Path, typer.Option(help="Folder for the results; made when needed.")]
AnchorsOption = Annotated[
    Path | None,
    typer.Option(
        help="CSV with task_id and replay_x0, replay_sota (or recommended_*); "
        "default anchors_derived.csv of the data."
    ),
]


def tables(
    out: OutOption,
    data: DataOption = None,
    runs: RunsOption = None,
    anchors: AnchorsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compute the paper's tables and statistics again: CSV, Markdown and LaTeX.

    Everything follows from the files in `--data`: change a number there and the results change.

    Examples: `evoduet tables --out results/tables`, `evoduet tables --runs results/runs --out
    my_tables --anchors results/published/anchors_reconciled.csv`
    """
    with usage_problems():
        from analysis.comparison import by_setting, pairs
        from analysis.gains import notes_on_pairs
        from analysis.output import write_files
        from analysis.tables.build import published_files, run_files

        published = open_published(data, anchors, out)
        files = published_files(published)
        notes = notes_on_pairs(published)
        if runs is not None:
            own, more = run_files(runs, published)
            files |= own
            notes += more
        headline = by_setting(pairs(published))
        written = write_files(out, files)
    for note in notes:
        typer.echo(f"evoduet: {note}", err=True)
    if as_json:
        print_json(
            {
                "out": str(out),
                "files": [path.name for path in written],
                "notes": notes,
                "figure_6a": [
                    {"model": row.model, "N": row.n, "openevolve": row.baseline,
                     "evoduet": row.evoduet, "delta": row.delta}
                    for row in headline
                ],
            }
        )  # fmt: skip
        return
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("mean of the best NDG", "N", "OpenEvolve", "EvoDuet", "difference"):
        table.add_column(name, justify="left" if name[0] == "m" else "right")
    for row in headline:
        table.add_row(row.model, str(row.n), f"{row.baseline:.1f}", f"{row.evoduet:.1f}",
                      f"{row.delta:+.1f}")  # fmt: skip
    console().print(table)
    typer.echo(f"{out}: {len(written)} files")
    if runs is not None:
        count = files["runs.csv"].count("\n") - 1
        typer.echo(f"{count} own runs: begin with runs.csv, runs_statistics.md, runs_behaviour.md")


def open_published(data: Path | None, anchors: Path | None, out: Path) -> Published:
    """The folder of published numbers, after making sure that ``out`` is another one.

    Raises :class:`UsageProblem`; creates nothing.
    """
    from analysis.published import Published, default_folder

    folder = data or default_folder()
    if out.resolve() == folder.resolve():
        raise UsageProblem(
            f"--out {out}: is the folder of published numbers; results would overwrite them, "
            "name another folder"
        )
    if out.exists() and not out.is_dir():
        raise UsageProblem(f"--out {out}: is a file; name a folder")
    return Published(folder, anchors)


@contextmanager
def usage_problems() -> Iterator[None]:
    """What is wrong with the data is the user's to mend: one line and exit code 2."""
    from analysis.rows import DataProblem

    try:
        yield
    except DataProblem as problem:
        raise UsageProblem(str(problem)) from None
