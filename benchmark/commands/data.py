"""``evoduet data``: third-party data files on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchmark.commands.options import JsonOption, UsageProblem, console, print_json

if TYPE_CHECKING:
    from benchmark.data import DataStore, FileState, TaskData
    from benchmark.task import Task

MISSING = 3

app = typer.Typer(
    help="Third-party data files: what is here, bringing them here, checking them.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

TaskArgument = Annotated[
    str | None,
    typer.Argument(help="A task's id or name, a domain, all (default: all tasks with data)."),
]


@app.command()
def status(task: TaskArgument = None, as_json: JsonOption = False) -> None:
    """Show which files are here, what is missing, and which data variant runs. No network.

    Examples: `evoduet data status`, `evoduet data status perovskites --json`
    """
    from benchmark.data import data_store

    store = data_store()
    _report(store, [store.status(each) for each in _tasks(task)], as_json)


@app.command()
def fetch(
    task: TaskArgument = None,
    variant: Annotated[
        str | None, typer.Option(help="official, embedded or partial (default: the first).")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Bring what is missing into the cache: from the mirror, else from the public source.

    Goes on where an interrupted download stopped. Files that only an option of a task needs come
    when that one task is named. Exit 3 when a file could not be had; the others are kept.

    Examples: `evoduet data fetch perovskites`, `evoduet data fetch simple_science`,
    `EVODUET_DATA_MIRROR=https://host/mirror evoduet data fetch`
    """
    from benchmark.data import data_store, wanted_files

    tasks = _tasks(task)
    for each in tasks:
        if variant is not None and task is not None and variant not in each.declared.variants:
            known = ", ".join(each.declared.variants)
            raise UsageProblem(f"--variant {variant}: {each.id} has {known}")
    optional = task is not None and len(tasks) == 1
    wanted = [wanted_files(each, variant, optional=optional) for each in tasks]
    store = data_store()
    with _Bars() as bars:
        results = [store.fetch(*pair, bars.show) for pair in zip(tasks, wanted, strict=True)]
    _report(store, results, as_json, advise=False)
    lacking = any(
        state.file in files and not state.available
        for result, files in zip(results, wanted, strict=True)
        for state in result.files
    )
    raise typer.Exit(MISSING if lacking else 0)


@app.command()
def verify(task: TaskArgument = None, as_json: JsonOption = False) -> None:
    """Read every file again and compare its checksum.

    Exit 3 when a file is wrong, or when a task cannot run because its data are not here.

    Examples: `evoduet data verify`, `evoduet data verify baumgartner --json`
    """
    from benchmark.data import data_store

    store = data_store()
    results = [store.status(each, again=True) for each in _tasks(task)]
    _report(store, results, as_json)
    bad = any(not result.variant or any(s.problem for s in result.files) for result in results)
    raise typer.Exit(MISSING if bad else 0)


@app.command()
def where(task: TaskArgument = None, as_json: JsonOption = False) -> None:
    """Print the cache folder and the mirror; with a task, where each of its files is or would be.

    Examples: `evoduet data where`, `evoduet data where feynman_i_27_6`
    """
    from benchmark.data import CACHE_VARIABLE, MIRROR_VARIABLE, data_store

    store = data_store()
    places: dict[str, Any] = _places(store)
    if task is not None:
        places["files"] = {
            f"{each.id}/{state.file.name}": str(state.path or store.cached(each, state.file))
            for each in _tasks(task)
            for state in store.status(each).files
        }
    if as_json:
        print_json(places)
        return
    print(f"cache   {places['cache']}  ({CACHE_VARIABLE} changes it)")
    print(f"mirror  {places['mirror'] or 'none'}  ({MIRROR_VARIABLE}: folder or URL)")
    for name, path in places.get("files", {}).items():
        print(f"{name}  {path}")


def _tasks(reference: str | None) -> list[Task]:
    from benchmark.catalogue import select

    chosen = select(reference or "all")
    return chosen if reference else [task for task in chosen if task.declared.data]


def _places(store: DataStore) -> dict[str, Any]:
    return {"cache": str(store.cache), "mirror": str(store.mirror) if store.mirror else None}


def _report(
    store: DataStore, results: list[TaskData], as_json: bool, *, advise: bool = True
) -> None:
    if as_json:
        print_json({**_places(store), "tasks": [_task_json(result) for result in results]})
        return
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("task", "runs on", "file", "state", "size", "licence"):
        table.add_column(name, overflow="fold", justify="right" if name == "size" else "left")
    for result in results:
        runs = result.variant or "[red]unavailable[/red]"
        if not result.files:
            table.add_row(result.task.id, runs, "needs no data", "", "", "")
        for number, state in enumerate(result.files):
            task = (result.task.id, runs) if number == 0 else ("", "")
            table.add_row(
                *task, state.file.name, _state(state), _size(state.file.size),
                escape(state.file.licence),
            )  # fmt: skip
    out = console()
    out.print(table)
    for line in filter(None, [store.mirror_trouble(), *_notes(results, advise)]):
        out.print(escape(line), soft_wrap=True)


_STATES = {
    "mirror": "[green]in the mirror[/green]",
    "cache": "[green]in the cache[/green]",
    "rebuild": "[green]made here on demand[/green]",
    "missing": "[yellow]missing[/yellow]",
    "wrong": "[red]wrong, not used[/red]",
}


def _state(state: FileState) -> str:
    if state.place == "missing" and not state.file.variants:
        return "not here, only for an option"
    return _STATES[state.place]


def _notes(results: list[TaskData], advise: bool) -> list[str]:
    from benchmark.data import remedy

    lines = []
    for result in results:
        lines += [f"{result.task.id}/{s.file.name}: {s.problem}" for s in result.files if s.problem]
        if result.missing and advise:
            instead = f"runs on its {result.variant} data" if result.variant else "cannot run"
            lines.append(f"{result.task.id} {instead}: {remedy(result.missing[0], result.task)}")
    return lines


def _task_json(result: TaskData) -> dict[str, Any]:
    return {
        "task": result.task.id,
        "variant": result.variant,
        "available": result.variant is not None,
        "missing": [state.file.name for state in result.missing],
        "files": [_file_json(state) for state in result.files],
    }


def _file_json(state: FileState) -> dict[str, Any]:
    return {
        "name": state.file.name,
        "variants": list(state.file.variants),
        "state": state.place,
        "path": str(state.path) if state.path else None,
        "problem": state.problem,
        "size": state.file.size,
        "licence": state.file.licence,
        "urls": [part.url for part in state.file.source.downloads] if state.file.source else [],
    }


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"


class _Bars:
    """One progress bar for each download, on stderr where that is a terminal."""

    def __enter__(self) -> _Bars:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

        stderr = Console(stderr=True)
        self._bars = Progress(
            TextColumn("{task.description}"), BarColumn(), DownloadColumn(),
            console=stderr, disable=not stderr.is_terminal,
        )  # fmt: skip
        self._ids: dict[str, Any] = {}
        self._bars.start()
        return self

    def show(self, name: str, done: int, total: int | None) -> None:
        """Told by the downloads; names are shown without the prefix that makes them unique."""
        if name not in self._ids:
            self._ids[name] = self._bars.add_task(name.partition("-")[2] or name, total=total)
        self._bars.update(self._ids[name], completed=done, total=total)

    def __exit__(self, *exception: object) -> None:
        self._bars.stop()
