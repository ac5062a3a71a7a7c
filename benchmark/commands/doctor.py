"""``evoduet doctor``: what works on this machine and what to do about the rest."""

from __future__ import annotations

from dataclasses import asdict

import typer

from benchmark.commands.options import JsonOption, console, print_json


def doctor(as_json: JsonOption = False) -> None:
    """Look at sandbox, compilers, data and keys. Exit 3 when nothing can be isolated here.

    Examples: `evoduet doctor`, `evoduet doctor --json`
    """
    from benchmark.doctor import examine

    findings = list(examine())
    if as_json:
        print_json({"findings": [asdict(finding) for finding in findings]})
    else:
        from rich.markup import escape
        from rich.table import Table

        table = Table(box=None, show_header=False, pad_edge=False)
        for name in ("state", "name", "detail", "help"):
            table.add_column(name, overflow="fold", no_wrap=name in ("state", "name"))
        colours = {"ok": "green", "limited": "yellow", "missing": "red"}
        for row in findings:
            remedy = "" if row.state == "ok" or not row.help else f"-> {row.help}"
            state = f"[{colours[row.state]}]{row.state}[/{colours[row.state]}]"
            table.add_row(state, row.name, escape(row.detail), escape(remedy))
        console().print(table)
    isolated = any(row.name.startswith("isolation") and row.state == "ok" for row in findings)
    raise typer.Exit(0 if isolated else 3)
