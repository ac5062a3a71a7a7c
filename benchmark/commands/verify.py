"""``evoduet verify``: is a recorded score still what its program or artifact gets?"""

from __future__ import annotations

import tempfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmark.commands.options import (
    IsolationOption,
    JsonOption,
    UsageProblem,
    console,
    one_of,
    print_json,
)

if TYPE_CHECKING:
    from benchmark.harness import Harness
    from benchmark.task import Task
    from benchmark.verification.checks import Verification

BUNDLES = (".tar.gz", ".tar.zst")


def verify(
    target: Annotated[
        Path,
        typer.Argument(
            metavar="RESULT|RUN|BUNDLE",
            help="Output of `score --json`, file of `suite`, folder of a run or of runs, bundle.",
        ),
    ],
    artifact: Annotated[
        list[Path] | None,
        typer.Option(help="A stored artifact of the result, found by its digest; repeatable."),
    ] = None,
    program: Annotated[
        list[Path] | None,
        typer.Option(help="A program of the result that lies elsewhere now; repeatable."),
    ] = None,
    task: Annotated[
        Path | None,
        typer.Option(help="The task's folder, where it is in no installed package (it is code)."),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Of a run: also its held-out score; may take hours.")
    ] = False,
    isolation: IsolationOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Score again what a result, a run or a bundle holds, and compare everything.

    A stored artifact is scored again; where there is only the program, it is evaluated again, and
    the output says so. Exit code: 0 identical, 1 something differs, 2 usage, 3 data or another
    thing that is needed is missing.

    Examples: `evoduet verify result.json`, `evoduet verify results/runs/cp26-evoduet-42`,
    `evoduet verify cp26.tar.zst --json`
    """
    one_of("--isolation", isolation, ("auto", "bubblewrap", "process"))
    if not target.exists():
        raise UsageProblem(f"{target}: there is no such file or folder")
    is_run = target.is_dir() or target.name.endswith(BUNDLES)
    if is_run and (artifact or program):
        raise UsageProblem("--artifact and --program go with a result; a run has its own")
    if report and not is_run:
        raise UsageProblem("--report goes with a run or a bundle; a result names its stage")
    named = None
    if task is not None:
        from benchmark.catalogue import find_task

        named = find_task(str(task))
    with ExitStack() as stack:
        if is_run:
            from benchmark.harness import Harness

            harness = stack.enter_context(Harness(isolation))
            found = [_verify_run(run, harness, report, named, stack) for run in _runs(target)]
        else:
            found = _verify_results(target, artifact or [], program or [], isolation, named)
    if as_json:
        codes = [verification.exit_code for verification in found]
        print_json({"verified": [item.to_json() for item in found], "exit_code": _worst(codes)})
    else:
        for verification in found:
            _print(verification)
    raise typer.Exit(_worst([verification.exit_code for verification in found]))


def _runs(target: Path) -> list[Path]:
    """The bundle or run itself, or every run below a folder of runs (a sweep's, for example)."""
    if target.is_file() or (target / "journal.jsonl").is_file():
        return [target]
    runs = sorted(path.parent for path in target.rglob("journal.jsonl"))
    if not runs:
        raise UsageProblem(f"{target}: no run there (no journal.jsonl)")
    return runs


def _verify_run(
    target: Path, harness: Harness, report: bool, task: Task | None, stack: ExitStack
) -> Verification:
    from method.bundle import open_bundle
    from method.verification import verify_bundle, verify_run

    if target.is_dir():
        return verify_run(target, harness, report=report)
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="evoduet-bundle-"))
    opened = open_bundle(target, Path(folder))
    return verify_bundle(opened, target, harness, report=report, task=task)


def _verify_results(
    target: Path, artifacts: list[Path], programs: list[Path], isolation: str, task: Task | None
) -> list[Verification]:
    from benchmark.harness import Harness
    from benchmark.verification.material import Places
    from benchmark.verification.records import ResultProblem, read_results, verify_record

    try:
        records = read_results(target)
    except ResultProblem as problem:
        raise UsageProblem(str(problem)) from None
    for path in (*artifacts, *programs):
        if not path.is_file():
            raise UsageProblem(f"{path}: there is no such file")
    places = Places(programs, artifacts, target.absolute().parent)
    harness = None if isolation == "auto" else Harness(isolation)
    return [verify_record(record, places, harness, task) for record in records]


def _worst(codes: list[int]) -> int:
    """A difference weighs more than something that is missing."""
    return 1 if 1 in codes else max(codes)


def _print(verification: Verification) -> None:
    from rich.markup import escape

    out = console()
    word = {0: "[green]identical[/green]", 1: "[red]differs[/red]", 3: "[yellow]missing[/yellow]"}
    code = verification.exit_code
    subject = escape(verification.subject)
    out.print(f"[bold]{verification.task}[/bold]  {subject}: {word[code]}", soft_wrap=True)
    colours = {"differs": "red", "missing": "yellow", "note": "dim"}
    for check in verification.checks:
        if check.outcome != "same":
            colour = colours[check.outcome]
            line = f"  [{colour}]{check.outcome:8s}[/{colour}] {escape(check.name)}: "
            out.print(line + escape(check.message), soft_wrap=True)
    same = Counter(check.name for check in verification.checks if check.outcome == "same")
    if same:
        out.print(f"  same     {escape(', '.join(same))}", soft_wrap=True)
