"""Finding tasks: the folders of this distribution's ``tasks`` package, and those of others.

A distribution offers tasks through the entry-point group ``evoduet.tasks``, whose value is a
package: every folder below it with a ``task.toml`` is a task.
"""

from __future__ import annotations

import difflib
import importlib.util
import re
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

from benchmark.task import Task, TaskError, read_task

GROUP = "evoduet.tasks"
_ID = re.compile(r"(\w+/)?\w+")


class UnknownTask(LookupError):
    """No task has that id; the message suggests near names."""


@cache
def packages() -> dict[str, Path]:
    """Import name and folder of every package that offers tasks."""
    found: dict[str, Path] = {}
    for point in metadata.entry_points(group=GROUP):
        package = point.value
        spec = importlib.util.find_spec(package)
        locations = list(spec.submodule_search_locations or ()) if spec else []
        if not locations:
            raise TaskError(f"entry point {point.name} of {GROUP}: no package {package}")
        found[package] = Path(locations[0]).resolve()
    return found


@cache
def catalogue() -> dict[str, Task]:
    """All tasks by id, sorted. Raises :class:`TaskError` for a broken one or a name used twice."""
    tasks = sorted(map(_task_at, _folders("**")), key=lambda task: task.id)
    by_name: dict[str, Task] = {}
    for task in tasks:
        other = by_name.setdefault(task.name, task)
        if other is not task:
            raise TaskError(f"{task.folder} and {other.folder}: two tasks named {task.name}")
    return {task.id: task for task in tasks}


def _folders(pattern: str) -> Iterator[Path]:
    for root in packages().values():
        yield from (file.parent for file in sorted(root.glob(f"{pattern}/task.toml")))


@cache
def _task_at(folder: Path) -> Task:
    """The one :class:`Task` of a folder; its package follows from the root it lies below."""
    for package, root in packages().items():
        if folder.is_relative_to(root):
            return read_task(folder, ".".join((package, *folder.relative_to(root).parts)))
    return read_task(folder)


def find_task(reference: str) -> Task:
    """The task with this id or unique name, or in this folder (a path with a ``task.toml``).

    Reads no other task, so that a broken one elsewhere does no harm. Raises :class:`UnknownTask`
    or :class:`TaskError`.
    """
    folder = Path(reference)
    if (folder / "task.toml").is_file():
        return _task_at(folder.resolve())
    if _ID.fullmatch(reference):
        pattern = reference if "/" in reference else f"*/{reference}"
        for found in _folders(pattern):
            return _task_at(found)
    names = [*catalogue(), *(task.name for task in catalogue().values())]
    near = difflib.get_close_matches(reference, names, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else "see `evoduet tasks`"
    raise UnknownTask(f"unknown task {reference!r}: {hint}")


def select(selection: str) -> list[Task]:
    """Tasks named by ``cheap``, ``all``, a domain, ids or names, separated by commas."""
    chosen: dict[str, Task] = {}
    for word in filter(None, (part.strip() for part in selection.split(","))):
        group = [task for task in catalogue().values() if _belongs(task, word)]
        for task in group or [find_task(word)]:
            chosen[task.id] = task
    if not chosen:
        raise UnknownTask(f"--select {selection!r} names no task; see `evoduet tasks`")
    return list(chosen.values())


def _belongs(task: Task, word: str) -> bool:
    return word == "all" or word == task.domain or word == task.declared.cost
