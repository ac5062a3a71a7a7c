"""Options of a run's configuration that `run` and `plan` share, and how they are put together.

Each stands for a key of a configuration file; the paper's letters and the names of the authors'
command line are accepted beside ours.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchmark.commands.options import UsageProblem

if TYPE_CHECKING:
    from method.config import RunConfig

TaskOption = Annotated[str | None, typer.Option(help="A task's id or name.")]
MethodOption = Annotated[
    str | None,
    typer.Option(
        help="[SCAFFOLD+]RETRIEVER, for example evoduet or topk+none, or an installed method; "
        "with --command, a name for the results."
    ),
]
RoundsOption = Annotated[
    int | None,
    typer.Option("--rounds", "--inner-rounds", "-R", help="R, search rounds of a retrieve."),
]
QueriesOption = Annotated[
    int | None, typer.Option("--queries", "--query-count", "-J", help="J, queries of a round.")
]
PerQueryOption = Annotated[
    int | None,
    typer.Option("--per-query", "--documents-per-query", "-M", help="M, documents of a query."),
]
RetainOption = Annotated[
    int | None, typer.Option("--retain", "--search-top-k", "-D", help="D, documents kept.")
]
CandidatesOption = Annotated[
    int | None,
    typer.Option("--candidates", "--num-generations", "-N", help="N, candidates of an iteration."),
]
IterationsOption = Annotated[
    int | None, typer.Option("--iterations", "-T", help="T, outer iterations in all.")
]
SearchOption = Annotated[
    str | None,
    typer.Option(
        "--search", help="tavily (the web), offline (oracle documents), a folder, or none."
    ),
]
BlocklistOption = Annotated[
    bool, typer.Option("--no-blocklist", help="Search results may name this benchmark's pages.")
]
RulesOption = Annotated[str | None, typer.Option("--rules", help="official or robust.")]
EditOption = Annotated[str | None, typer.Option("--edit", help="diff or full.")]
GateOption = Annotated[
    str | None, typer.Option("--gate", help="knowledge, random, stagnation, always or never.")
]
SeedOption = Annotated[int | None, typer.Option("--seed", help="Seed of the run.")]
MaxCostOption = Annotated[
    float | None, typer.Option("--max-cost", help="Stop at this cost in USD.")
]
MaxHoursOption = Annotated[
    float | None, typer.Option("--max-hours", help="Stop after so many hours of this session.")
]
PresetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--preset",
        metavar="NAME",
        help="A setting of the paper (N16, J3k5, random-gate, ...; `evoduet plan --presets` lists "
        "them); repeatable. Single options win over it.",
    ),
]
ReleasedOption = Annotated[
    bool,
    typer.Option(
        "--as-released",
        help="Send, search, wait and evaluate as the authors' release does; the preset of that "
        "name.",
    ),
]
KeyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="KEY=VALUE",
        help="Any key of a configuration file, for example sampling.temperature=0.2 or "
        "retriever_options.max_reflect=2; repeatable.",
    ),
]
ConfigOption = Annotated[
    Path | None, typer.Option(help="TOML or YAML file of a run; options win over it.")
]


def configuration(
    file: Path | None,
    presets: list[str] | None,
    as_released: bool,
    keys: list[str] | None,
    **options: Any,
) -> RunConfig:
    """The configuration of a command line; options that are ``None`` were not given.

    Raises :class:`UsageProblem` or :class:`~method.config.ConfigProblem`.
    """
    from method.config import make_config
    from method.config_sources import assignments

    try:
        given = assignments(keys or ())
    except ValueError as error:
        raise UsageProblem(f"--option {error}") from None
    for name, value in options.items():
        if value is None:
            continue
        if name in given:
            raise UsageProblem(f"--option {name}: given by an option of its own, too")
        given[name] = value
    chosen = [*(["as-released"] if as_released else []), *(presets or ())]
    if chosen:
        given["presets"] = [*given.get("presets", ()), *chosen]
    return make_config(file, **given)
