"""``evoduet run``: a method on a task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from benchmark.commands.options import JsonOption, SetOption, settings
from benchmark.commands.run_options import (
    BlocklistOption,
    CandidatesOption,
    ConfigOption,
    EditOption,
    GateOption,
    IterationsOption,
    KeyOption,
    MaxCostOption,
    MaxHoursOption,
    MethodOption,
    PerQueryOption,
    PresetOption,
    QueriesOption,
    ReleasedOption,
    RetainOption,
    RoundsOption,
    RulesOption,
    SearchOption,
    SeedOption,
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
    search: SearchOption = None,
    no_blocklist: BlocklistOption = False,
    rules: RulesOption = None,
    edit: EditOption = None,
    gate: GateOption = None,
    rounds: RoundsOption = None,
    queries: QueriesOption = None,
    per_query: PerQueryOption = None,
    retain: RetainOption = None,
    candidates: CandidatesOption = None,
    iterations: IterationsOption = None,
    seed: SeedOption = None,
    max_cost: MaxCostOption = None,
    prices: Annotated[
        str | None, typer.Option(help="Price file (TOML, USD), or the preset paper-gateway.")
    ] = None,
    max_hours: MaxHoursOption = None,
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
    from method.manifest import new_folder
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
    folder = out or new_folder(chosen)
    if not as_json:
        _say_notes(chosen)
    show_run(lambda progress: start(chosen, folder, progress=progress), folder, as_json)


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
