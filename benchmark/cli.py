"""The command line ``evoduet``: the one place where the parts of the project are put together.

Commands import what they need when they run, so that ``evoduet --help`` answers at once. Exit
codes: 0 ok, 1 invalid candidate or drift, 2 usage, 3 missing data, library or toolchain,
75 interrupted.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from benchmark.commands import (
    adapt,
    audit,
    baseline,
    bundle,
    catalogue,
    data,
    doctor,
    export,
    figures,
    import_recorded,
    oracle,
    plan,
    plot,
    regress,
    report,
    run,
    runs,
    score,
    suite,
    sweep,
    tables,
    verify,
)
from benchmark.commands.options import UsageProblem

INVALID, USAGE, MISSING, INTERRUPTED = 1, 2, 3, 75


class Commands(TyperGroup):
    """The commands, with this project's answer to Ctrl-C and a closed pipe instead of typer's."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _interrupted()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)


app = typer.Typer(
    name="evoduet",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"evoduet {version('evoduet')}")
        raise typer.Exit


@app.callback()
def evoduet(
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_show_version, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """EvoDuet bench: score programs on scientific optimisation tasks, run methods on them.

    Start with `evoduet doctor`, `evoduet tasks` and `evoduet score TASK PROGRAM`.
    """


app.command("tasks")(catalogue.tasks)
app.command("show")(catalogue.show)
app.command("score")(score.score)
app.command("suite")(suite.suite)
app.command("regress")(regress.regress)
app.command("plot")(plot.plot)
app.command("run")(run.run)
app.command("plan")(plan.plan)
app.command("resume")(runs.resume)
app.command("replay")(runs.replay)
app.command("runs")(runs.runs)
app.command("best")(runs.best)
app.command("trace")(runs.trace)
app.command("export")(export.export)
app.command("audit")(audit.audit)
app.command("import-recorded")(import_recorded.import_recorded)
app.command("verify")(verify.verify)
app.command("bundle")(bundle.bundle)
app.command("adapt")(adapt.adapt)
app.command("oracle")(oracle.oracle)
app.command("baseline")(baseline.baseline)
app.command("tables")(tables.tables)
app.command("figures")(figures.figures)
app.command("report")(report.report)
app.add_typer(data.app, name="data")
app.add_typer(sweep.app, name="sweep")
app.command("doctor")(doctor.doctor)


def main(arguments: list[str] | None = None) -> None:
    """Run a command; what the user can mend becomes one line on stderr and an exit code."""
    try:
        app(arguments)
    except KeyboardInterrupt:
        _interrupted()
    except Exception as error:
        code = _exit_code(error)
        if code is None:
            raise
        _leave(_one_line(error), code)


def _interrupted() -> NoReturn:
    """Leave at once, not waiting for candidates: their sandboxes die with us."""
    print("evoduet: interrupted", file=sys.stderr, flush=True)
    with suppress(OSError):
        sys.stdout.flush()  # results that are complete
    os._exit(INTERRUPTED)


def _exit_code(error: Exception) -> int | None:
    from benchmark.artifact import ArtifactError
    from benchmark.catalogue import UnknownTask
    from benchmark.evaluator import Unavailable
    from benchmark.sandbox.jail import SandboxBroken
    from benchmark.task import TaskError

    if getattr(error, "missing", False):
        return MISSING
    if type(error).__module__.startswith("method."):
        return USAGE  # its errors are all worded for users; the commands give the other codes
    codes: dict[type[Exception] | tuple[type[Exception], ...], int] = {
        (ArtifactError, TaskError, UnknownTask, UsageProblem, OSError): USAGE,
        (Unavailable, SandboxBroken): MISSING,
    }
    return next((code for kind, code in codes.items() if isinstance(error, kind)), None)


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _leave(message: str, code: int) -> Any:
    print(f"evoduet: {message}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
