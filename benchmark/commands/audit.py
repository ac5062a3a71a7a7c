"""``evoduet audit``: what the programs of a run took from elsewhere, and its behaviour flags."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmark.commands.options import JsonOption, console, print_json
from benchmark.commands.tables import usage_problems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analysis.audit import Audit
    from analysis.auditing.review import Count, Review

_EVIDENCE = 160


def audit(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    as_json: JsonOption = False,
) -> None:
    """Look for copies, network use and behaviours in a run; writes audit.json beside its trace.

    Nothing is executed. Rules are reconstructions: each flag comes with its evidence, for a person
    to confirm or reject in audit_review.json beside it.

    Example: `evoduet audit results/runs/cp26-evoduet-42`
    """
    with usage_problems():
        from analysis.audit import write_audit
        from analysis.auditing.review import count, read_review
        from analysis.traces import open_trace

        trace = open_trace(folder)
        review = read_review(folder)
        found, path = write_audit(trace)
        counts = count(found.flags, review)
        stale = review.stale(found.flags)
    for name, t in stale:
        typer.echo(f"evoduet: the review has a verdict on {name}, t {t}, which is not raised",
                   err=True)  # fmt: skip
    for note in trace.notes:
        typer.echo(f"evoduet: {note}", err=True)
    if as_json:
        rows = {
            name: {"automatic": c.automatic, "confirmed": c.confirmed, "rejected": c.rejected}
            for name, c in counts.items()
        }
        print_json({**found.to_json(), "out": str(path), "counts": rows})
        return
    _show(found, review, counts)
    typer.echo(f"{path}: {len(found.flags)} flags")


def _show(found: Audit, review: Review, counts: Mapping[str, Count]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("flag", "t", "verdict", "evidence"):
        table.add_column(name, justify="right" if name == "t" else "left", overflow="fold")
    for flag in found.flags:
        evidence = flag.evidence
        if len(evidence) > _EVIDENCE:
            evidence = f"{evidence[:_EVIDENCE]}..."
        table.add_row(
            flag.flag, "run" if flag.t is None else str(flag.t),
            review.verdict(flag) or "open", Text(evidence),
        )  # fmt: skip
    shown = console()
    if found.flags:
        shown.print(table)
    for name, c in counts.items():
        typer.echo(f"{name}: {c.automatic} automatic, {c.confirmed} confirmed, "
                   f"{c.rejected} rejected")  # fmt: skip
    rows = found.candidates
    typer.echo(
        f"{len(rows)} programs: {sum(bool(r.numeric_copy) for r in rows)} with a numeric copy, "
        f"{sum(bool(r.copied_lines) for r in rows)} with copied lines, "
        f"{sum(bool(r.network_calls) for r in rows)} with network calls"
    )
    for gap in found.undecidable:
        place = "the run" if gap.t is None else f"iteration {gap.t}"
        typer.echo(f"not decidable, {place}: {gap.reason}")
