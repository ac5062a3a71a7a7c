"""``evoduet sweep``: many runs or evaluations from one plan, and how far they are."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchmark.commands.options import JsonOption, UsageProblem, console, one_of, print_json

if TYPE_CHECKING:
    from method.executors.jobs import Executor
    from method.sweep.session import Session

OK, FAILED, MISSING, INTERRUPTED = 0, 1, 3, 75
_ROWS = 40
_REFRESH_S, _LINE_S = 2.0, 10.0


class _PlanFirst(typer.core.TyperGroup):
    """`sweep PLAN` is `sweep start PLAN`; `sweep status PLAN` is what it says."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, "-h", "--help"):
            args = ["start", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_PlanFirst,
    no_args_is_help=True,
    help="Do what a plan asks for and is not done yet: `evoduet sweep PLAN.toml`. "
    "The options are those of `evoduet sweep start --help`.",
)

PlanArgument = Annotated[Path, typer.Argument(metavar="PLAN", help="The plan, a TOML file.")]


@app.command("start")
def start(
    plan: PlanArgument,
    executor: Annotated[str, typer.Option(help="local (this machine) or ray (a cluster).")] = (
        "local"
    ),
    address: Annotated[
        str | None, typer.Option(help="Of a Ray cluster; else RAY_ADDRESS, else a local one.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the runs; default results/runs/<plan name>.")
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(min=0, help="Cap in USD for all runs together.")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Try what failed again, too.")] = False,
    as_released: Annotated[
        bool, typer.Option("--as-released", help="Arms may differ in conditions of evaluation.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan, its calls and cost; do nothing.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Do what is missing of a plan; can be stopped at any time and called again.

    Example: `evoduet sweep plan.toml --dry-run`, then `evoduet sweep plan.toml --max-cost 20`
    """
    one_of("--executor", executor, ("local", "ray"))
    if address is not None and executor != "ray":
        raise UsageProblem("--address: of a Ray cluster, goes with --executor ray")
    from method.executors.jobs import ExecutorMissing
    from method.sweep.session import open_session

    session = open_session(plan, out, max_cost=max_cost, as_released=as_released, retry=retry)
    if dry_run:
        _show_plan(session, retry, as_json)
        return
    if not as_json:
        for note in session.notes:
            typer.echo(note, err=True)
        typer.echo(_what_is_to_do(session, retry), err=True)
    try:
        current = _drive(session, executor, address, retry, quiet=as_json)
    except ExecutorMissing as problem:
        typer.echo(f"evoduet: {problem}", err=True)
        raise typer.Exit(MISSING) from None
    if as_json:
        print_json(current)
    else:
        _print(current)
    raise typer.Exit(_exit_code(current))


@app.command("status")
def show_status(
    sweep: Annotated[Path, typer.Argument(metavar="PLAN|DIR", help="A plan, or its folder.")],
    watch: Annotated[bool, typer.Option("--watch", help="Show it until interrupted.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Tell how far a sweep is.

    Example: `evoduet sweep status results/runs/gates --watch`
    """
    from method.sweep.session import folder_of
    from method.sweep.status import status

    folder = sweep if sweep.is_dir() else folder_of(sweep)
    if as_json:
        print_json(status(folder))
    elif watch:
        _watch(folder)
    else:
        _print(status(folder))


def _drive(
    session: Session, executor: str, address: str | None, retry: bool, *, quiet: bool
) -> dict[str, Any]:
    from contextlib import nullcontext

    from rich.console import Console
    from rich.live import Live

    from method.sweep.ledger import Projection
    from method.sweep.session import drive
    from method.sweep.status import headline, report, table

    screen = Console(stderr=True)
    shown = None if quiet or not screen.is_terminal else Live(console=screen, transient=True)
    due = 0.0

    def watching(projection: Projection) -> None:
        nonlocal due
        if quiet or time.monotonic() < due:
            return
        due = time.monotonic() + (_REFRESH_S if shown else _LINE_S)
        current = report(projection, session.out, alive=True, details=shown is not None)
        if shown:
            shown.update(table(current, _rows(screen)))
        else:
            typer.echo(headline(current), err=True)

    with shown or nullcontext(), _executor(executor, address) as where:
        ending, projection = drive(session, where, retry=retry, watching=watching)
    return {**report(projection, session.out, alive=False), "ending": ending}


def _executor(name: str, address: str | None) -> Any:
    from contextlib import closing

    made: Executor
    if name == "ray":
        from method.executors.ray import RayExecutor

        made = RayExecutor(address)
    else:
        from method.executors.local import LocalExecutor

        made = LocalExecutor()
    return closing(made)


def _what_is_to_do(session: Session, retry: bool) -> str:
    cells = session.missing(retry)
    estimate = session.estimate(cells)
    cost = (
        "at a cost that is unknown without usd_per_call and usd_per_search in the plan"
        if estimate.cost_usd is None
        else f"at most {estimate.cost_usd:.2f} USD"
    )
    what = "runs" if session.plan.kind == "runs" else "evaluations"
    return (
        f"{session.out}: {estimate.jobs} of {len(session.cells)} {what} to do; at worst "
        f"{estimate.model_calls} model calls, {estimate.searches} searches, "
        f"{estimate.evaluations} evaluations, {cost}"
    )


def _show_plan(session: Session, retry: bool, as_json: bool) -> None:
    missing = {cell.job.id for cell in session.missing(retry)}
    arms: dict[str, list[Any]] = {}
    for cell in session.cells:
        arms.setdefault(cell.label, []).append(cell)
    if as_json:
        print_json(
            {
                "sweep": session.plan.name,
                "out": str(session.out),
                "max_cost": session.max_cost,
                "notes": list(session.notes),
                "to_do": session.estimate(session.missing(retry)).to_json(),
                "all": session.estimate(session.cells).to_json(),
                "arms": {label: session.estimate(cells).to_json() for label, cells in arms.items()},
                "jobs": [
                    {"job": cell.job.id, "axes": dict(cell.axes), "to_do": cell.job.id in missing}
                    for cell in session.cells
                ],
            }
        )
        return
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("arm", overflow="fold")
    for name in ("jobs", "to do", "model calls", "searches", "evaluations", "USD at worst"):
        table.add_column(name, justify="right", no_wrap=True)
    for label, cells in [*arms.items(), ("all", session.cells)]:
        estimate = session.estimate(cells)
        cost = "unknown" if estimate.cost_usd is None else f"{estimate.cost_usd:.2f}"
        table.add_row(
            label, str(len(cells)), str(sum(cell.job.id in missing for cell in cells)),
            str(estimate.model_calls), str(estimate.searches), str(estimate.evaluations), cost,
        )  # fmt: skip
    console().print(table)
    for note in session.notes:
        typer.echo(note)
    typer.echo(_what_is_to_do(session, retry))


def _watch(folder: Path) -> None:
    from rich.live import Live

    from method.sweep.status import status, table

    screen = console()
    try:
        with Live(console=screen, auto_refresh=False, screen=screen.is_terminal) as live:
            while True:
                current = status(folder)
                live.update(table(current, _rows(screen)), refresh=True)
                if not current["driven"]:
                    break
                time.sleep(_REFRESH_S)
    except KeyboardInterrupt:
        pass
    _print(status(folder))


def _rows(screen: Any) -> int:
    height: int = screen.height
    return max(5, min(_ROWS, height - 6))


def _print(current: dict[str, Any]) -> None:
    from method.sweep.status import headline, table

    shown = table(current)
    shown.caption = None
    console().print(shown)
    typer.echo(f"{current['out']}: {headline(current)}")


def _exit_code(current: dict[str, Any]) -> int:
    counts: dict[str, int] = current["counts"]
    if current["ending"] == "interrupted" or counts.get("interrupted"):
        return INTERRUPTED
    if counts.get("failed"):
        return FAILED
    return MISSING if counts.get("blocked") else OK
