"""``evoduet report``: one HTML file that shows runs in any browser, without network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from benchmark.commands.options import JsonOption, one_of, prepare_output, print_json
from benchmark.commands.tables import usage_problems

PlacesArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="RUN|DIR",
        help="Run folders, or folders of runs; default results/runs.",
        show_default=False,
    ),
]
OutOption = Annotated[Path, typer.Option(help="HTML file to write.")]
DetailsOption = Annotated[
    str,
    typer.Option(
        help="Which iterations can be opened with documents, differences and all: none, improving "
        "(a new best, the way to the best, or flagged) or all (a larger file)."
    ),
]
DETAILS = ("none", "improving", "all")


def report(
    out: OutOption,
    places: PlacesArgument = None,
    details: DetailsOption = "improving",
    as_json: JsonOption = False,
) -> None:
    """Write one HTML file with methods, runs and iterations; it needs no network.

    Held-out values are labelled, unknown costs are shown as unknown. The same runs give the same
    bytes.

    Examples: `evoduet report results/runs --out report.html`, `evoduet report RUN --out run.html
    --details all`
    """
    one_of("--details", details, DETAILS)
    with usage_problems():
        from analysis.report.build import write_report
        from analysis.report.study import Details

        chosen = places or [Path("results/runs")]
        study = write_report(chosen, prepare_output(out), cast(Details, details))
    for note in study.notes:
        typer.echo(f"evoduet: {note}", err=True)
    size = out.stat().st_size
    if as_json:
        print_json(
            {
                "out": str(out),
                "bytes": size,
                "runs": len(study.runs),
                "iterations": study.iterations,
                "detailed_iterations": study.detailed,
                "details": details,
                "notes": study.notes,
            }
        )
        return
    runs = f"{len(study.runs)} run{'s'[: len(study.runs) != 1]}"
    typer.echo(
        f"{out}: {runs}, {study.iterations} iterations "
        f"({study.detailed} can be opened in full), {size / 1e6:.1f} MB"
    )
