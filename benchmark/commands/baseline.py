"""``evoduet baseline``: methods of others on a task, judged as candidates are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmark.commands.options import (
    JsonOption,
    SetOption,
    UsageProblem,
    prepare_output,
    print_json,
    settings,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmark.artifact import Artifact
    from benchmark.evaluator import Setup


def baseline(
    task: Annotated[str, typer.Argument(help="A task's id or name, or a task folder.")],
    name: Annotated[
        str | None,
        typer.Option("--name", "--router", help="Which baseline (default: list those there are)."),
    ] = None,
    trials: Annotated[
        str, typer.Option(help="How hard it tries, in its own terms (default: as the task does).")
    ] = "",
    out: Annotated[Path | None, typer.Option(help="Store the artifact (.json or .npz).")] = None,
    variant: Annotated[str | None, typer.Option(help="Data variant.")] = None,
    set_: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a baseline that comes with a task, and score what it found.

    Baselines are well-known libraries, trusted and not sandboxed. Exit 3 when one is not installed.

    Examples: `evoduet baseline swap_reduction`, `evoduet baseline swap_reduction --router
    qiskit-sabre --trials 4x4`
    """
    from benchmark.artifact import save
    from benchmark.commands.score import EXIT_CODES, print_evaluation
    from benchmark.evaluation import evaluate, prepare

    setup = prepare(task, variant, settings(set_))
    known = _baselines(setup)
    if name is None:
        if as_json:
            print_json({"task": setup.task.id, "baselines": sorted(known)})
        else:
            typer.echo("\n".join(sorted(known)) or f"{setup.task.id} comes with no baseline")
        return
    if name not in known:
        listed = ", ".join(sorted(known)) or "none"
        raise UsageProblem(f"--name {name}: {setup.task.id} has {listed}")
    if out is not None:
        prepare_output(out)
    try:
        artifact = known[name](trials)
    except ValueError as error:
        raise UsageProblem(f"--trials {trials}: {error}") from None
    if out is not None:
        save(artifact, out)
    evaluation = evaluate(
        setup.task, artifact=artifact, variant=setup.variant, options=settings(set_)
    )
    if as_json:
        print_json(evaluation.to_json())
    else:
        print_evaluation(setup.task, evaluation, Path(name))
    raise typer.Exit(EXIT_CODES.get(evaluation.status, 1))


def _baselines(setup: Setup) -> Mapping[str, Callable[[str], Artifact]]:
    """What the task's evaluator offers in its attribute ``baselines``, by name."""
    from benchmark.evaluation import load_evaluator

    found: Mapping[str, Callable[[str], Artifact]] = getattr(load_evaluator(setup), "baselines", {})
    return found
