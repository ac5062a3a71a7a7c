"""What a person names when they mean an output of a task: ``--pair TASK=A,B``."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.commands.options import UsageProblem

if TYPE_CHECKING:
    from benchmark.artifact import Artifact
    from benchmark.evaluator import Setup
    from benchmark.task import Task

INITIAL = "initial"
ARTIFACTS = (".json", ".npz")


def read_pair(
    text: str, stage: str, variant: str | None, isolation: str
) -> tuple[Setup, list[tuple[str, Artifact]]]:
    """Task and labelled artifacts of ``TASK=A,B``.

    Each of A, B is ``initial`` (the task's initial program), a run folder (its best program), a
    program, or a stored artifact; programs are run first. Raises :class:`UsageProblem`.
    """
    from benchmark.evaluation import prepare

    task, equals, sides = text.partition("=")
    named = [side.strip() for side in sides.split(",")]
    if not equals or len(named) != 2 or not all(named):
        raise UsageProblem(f"--pair {text}: write TASK=A,B")
    setup = prepare(task, variant, {})
    artifacts = [_artifact(setup, side, stage, isolation) for side in named]
    return setup, list(zip(labels(named), artifacts, strict=True))


def labels(sides: Sequence[str]) -> list[str]:
    """Names in the picture: files without suffix or folders, as short as tells them apart."""
    paths = [Path(side) if side == INITIAL else Path(side).resolve() for side in sides]
    for short in (
        [path.stem for path in paths],
        [path.name for path in paths],
        ["/".join(path.parts[-2:]) for path in paths],
    ):
        if len(set(short)) == len(short):
            return short
    return list(sides)


def _artifact(setup: Setup, side: str, stage: str, isolation: str) -> Artifact:
    from benchmark.artifact import load

    path = Path(side)
    if side == INITIAL:
        return _produced(setup, setup.task.initial_program, side, stage, isolation)
    if path.is_dir():
        with tempfile.TemporaryDirectory() as folder:
            program = _best_of_run(setup.task, path, Path(folder))
            return _produced(setup, program, side, stage, isolation)
    if not path.is_file():
        raise UsageProblem(
            f"--pair: {side} is no file or run folder; write `{INITIAL}`, a program, an artifact "
            "(.json, .npz) or a run folder"
        )
    if path.suffix in ARTIFACTS:
        return load(path)
    return _produced(setup, path, side, stage, isolation)


def _best_of_run(task: Task, run: Path, folder: Path) -> Path:
    from method.runs import best_program

    if not (run / "journal.jsonl").is_file():
        raise UsageProblem(f"--pair: {run} holds no run (no journal.jsonl)")
    source, summary = best_program(run)
    if summary["task"] not in (task.id, task.name):
        raise UsageProblem(f"--pair: {run} is a run of {summary['task']}, not of {task.id}")
    program = folder / task.initial_program.with_stem("best").name
    program.write_text(source, encoding="utf-8")
    return program


def _produced(setup: Setup, program: Path, side: str, stage: str, isolation: str) -> Artifact:
    from benchmark.evaluation import evaluate
    from benchmark.harness import Harness

    with Harness(isolation) as harness:
        found = evaluate(setup.task, program, stage, variant=setup.variant, harness=harness)
    if not found.valid or found.artifact is None:
        raise UsageProblem(f"--pair: {side} is {found.status}: {found.reason}; nothing drawn")
    return found.artifact
