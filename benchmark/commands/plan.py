"""``evoduet plan``: what a run may cost, and the settings that have a name."""

from __future__ import annotations

from typing import Annotated

import typer

from benchmark.commands.options import JsonOption, console, print_json
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


def plan(
    task: TaskOption = None,
    method: MethodOption = None,
    model: Annotated[str | None, typer.Option(help="As in `evoduet run`.")] = None,
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
    max_hours: MaxHoursOption = None,
    usd_per_call: Annotated[float | None, typer.Option(help="Price of a model call.")] = None,
    usd_per_search: Annotated[float | None, typer.Option(help="Price of a search.")] = None,
    presets: Annotated[
        bool, typer.Option("--presets", help="List the presets and what they set.")
    ] = False,
    option: KeyOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say what a run may do at worst: model calls, searches, evaluations, cost.

    Takes the options of `evoduet run` that a method is configured with, limits included, though
    none of these makes the bound smaller.

    Examples: `evoduet plan --task cp26 --method evoduet --preset N16 --usd-per-call 0.01`,
    `evoduet plan --presets`
    """
    if presets:
        _list_presets(as_json)
        return
    from method.planning import plan as bound

    if model is None and config is None:
        model = "offline/perturb"  # the bound does not depend on it
    worst = bound(
        configuration(
            config, preset, as_released, option, task=task, method=method, model=model,
            search=search, blocklist=False if no_blocklist else None, rules=rules, edit=edit,
            gate=gate, rounds=rounds, queries=queries, per_query=per_query, retain=retain,
            candidates=candidates, iterations=iterations, seed=seed, max_cost=max_cost,
            max_hours=max_hours,
        )
    )  # fmt: skip
    cost = worst.cost_usd(usd_per_call, usd_per_search)
    if as_json:
        print_json({**worst.to_json(), "cost_usd": cost})
        return
    for name, value in worst.to_json().items():
        typer.echo(f"{name.replace('_', ' '):12s} at most {value}")
    shown = "unknown: give --usd-per-call and --usd-per-search" if cost is None else f"{cost:.2f}"
    typer.echo(f"cost in USD  at most {shown}")


def _list_presets(as_json: bool) -> None:
    from method.presets import PRESETS

    if as_json:
        rows = [
            {"name": name, "about": preset.about, "settings": dict(preset.settings)}
            for name, preset in PRESETS.items()
        ]
        print_json({"presets": rows})
        return
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("preset", "sets", "what it is"):
        table.add_column(name, overflow="fold")
    for name, preset in PRESETS.items():
        sets = ", ".join(f"{key} = {_plain(value)}" for key, value in preset.settings.items())
        table.add_row(name, sets, preset.about)
    console().print(table)


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_plain(item)}" for key, item in value.items()) + "}"
    return str(value).lower() if isinstance(value, bool) else str(value)
