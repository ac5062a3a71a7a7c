"""``evoduet tasks`` and ``evoduet show``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchmark.commands.options import JsonOption, console, print_json

if TYPE_CHECKING:
    from benchmark.task import Task


def tasks(
    select: Annotated[
        str, typer.Option(help="cheap, moderate, expensive, all, domains, ids or names.")
    ] = "all",
    as_json: JsonOption = False,
) -> None:
    """List the tasks: direction, anchors, cost, and what this machine lacks for them.

    Examples: `evoduet tasks`, `evoduet tasks --select mathematics --json`
    """
    from benchmark.catalogue import select as select_tasks

    rows = [_row(task) for task in select_tasks(select)]
    if as_json:
        print_json({"tasks": rows})
        return
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("task", "reporting metric", "goal"):
        table.add_column(name, overflow="fold")
    for name in ("x0", "SOTA"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("cost")
    table.add_column("status", overflow="fold")
    for row in rows:
        table.add_row(
            row["task"], row["reporting_metric"], row["direction"], f"{row['x0']:.6g}",
            f"{row['sota']:.6g}", row["cost"], row["status"],
        )  # fmt: skip
    console().print(table)


def _row(task: Task) -> dict[str, Any]:
    from benchmark.availability import availability

    declared = task.declared
    state = availability(task)
    return {
        "task": task.id,
        "title": declared.title,
        "domain": declared.domain_title,
        "direction": declared.direction,
        "reporting_metric": declared.reporting_metric,
        "x0": declared.anchors.initial.value,
        "sota": declared.anchors.sota.value,
        "language": declared.language,
        "cost": declared.cost,
        "variants": list(declared.variants),
        "variant": state.variant,
        "toolchain": list(declared.toolchain),
        "available": state.available,
        "status": state.summary,
    }


def show(
    task: Annotated[str, typer.Argument(help="A task's id or name, or a task folder.")],
    as_json: JsonOption = False,
) -> None:
    """Show one task: problem, interface, limits, settings, and anchors with their sources.

    Examples: `evoduet show erdos`, `evoduet show mathematics/cp26 --json`
    """
    from benchmark.catalogue import find_task

    found = find_task(task)
    if as_json:
        print_json(
            {
                **_row(found),
                "version": found.declared.version,
                "instructions": found.instructions,
                "initial_program": str(found.initial_program),
                "declaration": found.declared.model_dump(mode="json"),
            }
        )
        return
    _show_text(found)


def _show_text(task: Task) -> None:
    from rich.markdown import Markdown
    from rich.table import Table

    declared, out = task.declared, console()
    out.print(f"[bold]{task.id}[/bold]  {declared.title} ({declared.domain_title})\n")
    out.print(Markdown(task.instructions))
    facts = Table(box=None, show_header=False, pad_edge=False)
    facts.add_column(style="bold", no_wrap=True)
    facts.add_column(overflow="fold")
    goal = {"min": "minimise", "max": "maximise"}[declared.direction]
    facts.add_row("reporting metric", f"{declared.reporting_metric} ({goal})")
    for label, anchor in (("x0", declared.anchors.initial), ("SOTA", declared.anchors.sota)):
        note = f"; {anchor.note}" if anchor.note else ""
        facts.add_row(label, f"{anchor.value!r} ({anchor.status}: {anchor.source}{note})")
    limits = declared.limits
    cpu = f", {limits.cpu_s:g} s CPU" if limits.cpu_s is not None else ""
    facts.add_row("limits", f"{limits.wall_s:g} s wall{cpu}, {limits.memory_mb} MB memory")
    facts.add_row("initial program", str(task.initial_program))
    facts.add_row("variants", ", ".join(declared.variants))
    for name, option in declared.options.items():
        choices = f" ({', '.join(map(str, option.choices))})" if option.choices else ""
        facts.add_row(f"--set {name}=", f"{option.help}{choices}; default {option.default}")
    facts.add_row("status", _row(task)["status"])
    out.print()
    out.print(facts)
