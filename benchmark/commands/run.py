"""``evoduet run``: a method on a task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmark.commands.options import JsonOption, SetOption, UsageProblem, settings
from benchmark.commands.run_options import (
    CandidatesOption,
    ConfigOption,
    IterationsOption,
    KeyOption,
    MethodOption,
    PerQueryOption,
    PresetOption,
    QueriesOption,
    ReleasedOption,
    RetainOption,
    RoundsOption,
    TaskOption,
    configuration,
)
from benchmark.commands.run_progress import show_run

if TYPE_CHECKING:
    from method.config import RunConfig


def run(
    task: TaskOption = None,
    method: MethodOption = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="PROVIDER/NAME as litellm writes it, offline/perturb (no model) or scripted:FILE."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="New folder of the run; default results/runs/<...>.")
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Run this process as the method: it proposes programs as JSON lines, see "
            "docs/adding-a-method.md.",
        ),
    ] = None,
    preset: PresetOption = None,
    as_released: ReleasedOption = False,
    search: Annotated[
        str | None,
        typer.Option(help="tavily (the web), offline (oracle documents), a folder, or none."),
    ] = None,
    no_blocklist: Annotated[
        bool, typer.Option("--no-blocklist", help="Search results may name this benchmark's pages.")
    ] = False,
    rules: Annotated[str | None, typer.Option(help="official or robust.")] = None,
    edit: Annotated[str | None, typer.Option(help="diff or full.")] = None,
    gate: Annotated[
        str | None, typer.Option(help="knowledge, random, stagnation, always or never.")
    ] = None,
    rounds: RoundsOption = None,
    queries: QueriesOption = None,
    per_query: PerQueryOption = None,
    retain: RetainOption = None,
    candidates: CandidatesOption = None,
    iterations: IterationsOption = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the run.")] = None,
    max_cost: Annotated[float | None, typer.Option(help="Stop at this cost in USD.")] = None,
    prices: Annotated[
        str | None, typer.Option(help="Price file (TOML, USD), or the preset paper-gateway.")
    ] = None,
    max_hours: Annotated[float | None, typer.Option(help="Stop after so many hours.")] = None,
    cassette: Annotated[
        str | None, typer.Option(help="Record model and search answers into this new file.")
    ] = None,
    replay_: Annotated[
        bool, typer.Option("--replay", help="Answer from the cassette alone; nothing is paid.")
    ] = False,
    variant: Annotated[str | None, typer.Option(help="Data variant of the task.")] = None,
    set_: SetOption = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Evaluations at a time.")] = None,
    isolation: Annotated[
        str | None,
        typer.Option(help="auto, bubblewrap (namespaces) or process (weaker, needs nothing)."),
    ] = None,
    option: KeyOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a method on a task; stops by itself, can be interrupted and resumed.

    Examples: `evoduet run --task cp26 --method evoduet --model offline/perturb --iterations 10`,
    `evoduet run --task cp26 --command "python my_method.py" --iterations 50`
    """
    from method.runs import run as start

    chosen = configuration(
        config, preset, as_released, option, task=task, method=method, model=model,
        command=command, search=search, rules=rules, edit=edit, gate=gate, rounds=rounds,
        queries=queries, per_query=per_query, retain=retain, candidates=candidates,
        iterations=iterations, seed=seed, max_cost=max_cost, max_hours=max_hours, variant=variant,
        options=settings(set_) or None, workers=workers, isolation=isolation,
        blocklist=False if no_blocklist else None, prices=prices, cassette=cassette,
        cassette_mode="replay" if replay_ else None,
    )  # fmt: skip
    folder = out or _new_folder(chosen)
    if not as_json:
        _say_notes(chosen)
    show_run(lambda progress: start(chosen, folder, progress=progress), as_json)


def _say_notes(config: RunConfig) -> None:
    """What a reader of the results must know before the run begins."""
    from benchmark.catalogue import find_task
    from method.presets import released_notes
    from method.runs import resolved

    if config.model.startswith("offline/"):
        from method.llm.perturb import NOTICE

        typer.echo(NOTICE, err=True)
    declared = find_task(config.task).declared.search.iterations
    for note in released_notes(resolved(config), declared):
        typer.echo(f"note: {note}", err=True)


def _new_folder(config: RunConfig) -> Path:
    from method.naming import SCAFFOLDS

    method = config.method.removeprefix(f"{SCAFFOLDS[0]}+")
    name = f"{config.task.rpartition('/')[2]}-{method}-{config.seed}"
    for number in range(1, 10_000):
        folder = Path("results/runs") / (name if number == 1 else f"{name}-{number}")
        if not folder.exists():
            return folder
    raise UsageProblem("--out: name a folder")
