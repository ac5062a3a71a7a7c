"""The command line ``evoduet``: the one place where the parts of the project are put together.

Commands import what they need when they run, so that ``evoduet --help`` answers at once. Exit
codes: 0 ok, 1 invalid candidate or drift, 2 usage, 3 missing data, library or toolchain,
75 interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import typer

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

app = typer.Typer(
    name="evoduet",
    help="EvoDuet bench: score programs on 31 scientific optimisation tasks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
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
        print("evoduet: interrupted", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)  # not waiting for candidates: their sandboxes die with us
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        code = _exit_code(error)
        if code is None:
            raise
        _leave(_one_line(error), code)


def _exit_code(error: Exception) -> int | None:
    from benchmark.artifact import ArtifactError
    from benchmark.catalogue import UnknownTask
    from benchmark.evaluator import Unavailable
    from benchmark.sandbox.jail import SandboxBroken
    from benchmark.task import TaskError

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
