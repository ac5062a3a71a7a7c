"""Verifying what a score depends on besides the candidate: task, evaluator, data, environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmark import provenance
from benchmark.catalogue import UnknownTask, find_task
from benchmark.data import data_store, remedy
from benchmark.task import Task
from benchmark.verification.checks import Check, compared


def trusted_task(reference: str, named: Task | None) -> Task:
    """The installed task of that id, or the one that the user named.

    What is verified may come from anybody, and a task is code: a folder outside the installed
    packages is used only when the user names it. Raises
    :class:`~benchmark.catalogue.UnknownTask` or :class:`~benchmark.task.TaskError`.
    """
    if named is not None:
        if reference not in (named.id, named.name) and Path(reference).resolve() != named.folder:
            raise UnknownTask(f"--task {named.folder} is {named.id}, but this is of {reference}")
        return named
    advice = "name its folder with --task if you trust it: a task is code"
    try:
        task = find_task(reference)
    except UnknownTask as error:
        raise UnknownTask(f"{error}; {advice}") from None
    if task.package is None:
        raise UnknownTask(f"the task {reference} is in no installed package; {advice}")
    return task


def check_task(task: Task, told: Mapping[str, Any]) -> Iterator[Check]:
    """Version, evaluator and data files of a task against a record's provenance."""
    if "task_version" in told:
        yield compared(
            "task version",
            told["task_version"],
            task.declared.version,
            "the task has another version here: install the evoduet that gave this score",
        )
    made_by = (told.get("versions") or {}).get("evoduet", "?")
    yield compared(
        "evaluator",
        told["evaluator_digest"],
        provenance.evaluator_digest(task),
        f"the evaluator of {task.id} is not the one that gave this score: its files (task.toml, "
        f"code, data of the task) have changed; the score was given by evoduet {made_by}",
    )
    yield from check_data(task, told.get("data") or {})
    yield from check_environment(told)


def check_data(task: Task, recorded: Mapping[str, str]) -> Iterator[Check]:
    """Each data file that gave the score, read again here."""
    states = {state.file.name: state for state in data_store().status(task, again=True).files}
    for name, sha256 in recorded.items():
        label, state = f"data {name}", states.get(name)
        if state is None:
            message = f"{task.id} has no data file {name} any more"
            yield Check(label, "differs", message, recorded=sha256)
        elif state.path is not None:
            if state.sha256 == sha256:
                yield Check(label, "same")
            elif state.file.check is not None:
                message = "other bytes than then, but the task's check of the content passes"
                yield Check(label, "note", message, sha256, state.sha256)
            else:
                message = f"the data file {name} is another one than gave this score"
                yield Check(label, "differs", message, sha256, state.sha256)
        elif state.place == "wrong":
            message = f"the data file {name} has changed: {state.problem}"
            yield Check(label, "differs", message, recorded=sha256)
        elif state.place != "rebuild":
            message = f"the data file {name} is not here: {remedy(state, task)}"
            yield Check(label, "missing", message, recorded=sha256)


def check_declared_data(task: Task, variant: str) -> Iterator[Check]:
    """The data files of a variant against their declaration, where no digests were recorded."""
    for state in data_store().status(task, again=True).files:
        if variant not in state.file.variants:
            continue
        label = f"data {state.file.name}"
        if state.available:
            yield Check(label, "same", "as the task declares it")
        elif state.place == "wrong":
            message = f"the data file {state.file.name} has changed: {state.problem}"
            yield Check(label, "differs", message)
        else:
            message = f"the data file {state.file.name} is not here: {remedy(state, task)}"
            yield Check(label, "missing", message)


def check_environment(told: Mapping[str, Any]) -> Iterator[Check]:
    """A note when libraries, processor or compilers are not those that were recorded."""
    differing = environment_differs(told)
    if differing:
        yield Check("environment", "note", f"another environment than then: {'; '.join(differing)}")


def environment_differs(told: Mapping[str, Any]) -> list[str]:
    """What is not as it was among library versions, processor and compilers, in words."""
    versions, machine = told.get("versions") or {}, told.get("machine") or {}
    extra = tuple(name for name in versions if name not in ("python", "evoduet", "numpy", "scipy"))
    here = provenance.versions(extra)
    pairs = [
        (name, versions[name], here.get(name, "none"))
        for name in sorted(versions)
        if not name.startswith("method ")  # a plug-in's place, no version
    ]
    there = provenance.machine()
    for name in ("architecture", "cpu", *provenance.COMPILERS):
        if name in machine:
            pairs.append((name, machine[name], there.get(name, "none")))
    return [f"{name} {now}, then {then}" for name, then, now in pairs if then != now]
