"""Evaluating many tasks: one program each, several at a time, a failure never stops the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from benchmark.evaluation import Evaluation, evaluate
from benchmark.harness import Harness
from benchmark.task import SUFFIXES, Task


@dataclass(frozen=True)
class Entry:
    """One program to evaluate on one task."""

    task: Task
    program: Path


def initial_entries(tasks: Sequence[Task]) -> list[Entry]:
    """The initial program of each task."""
    return [Entry(task, task.initial_program) for task in tasks]


def find_programs(tasks: Sequence[Task], folder: Path) -> tuple[list[Entry], list[Task]]:
    """Programs named ``<name>.py`` (``.cpp``, ``.rs``) in a folder or its domain folders.

    Returns the entries found and the tasks that have none. Raises ``FileNotFoundError`` when the
    folder does not exist.
    """
    if not folder.is_dir():
        raise FileNotFoundError(2, "there is no such folder of programs", str(folder))
    entries, without = [], []
    for task in tasks:
        program = next(_program_places(task, folder), None)
        if program is None:
            without.append(task)
        else:
            entries.append(Entry(task, program))
    return entries, without


def _program_places(task: Task, folder: Path) -> Iterator[Path]:
    suffixes = dict.fromkeys((SUFFIXES[task.declared.language], ".py"))
    for place in (folder, folder / task.domain):
        for suffix in suffixes:
            path = place / f"{task.name}{suffix}"
            if path.is_file():
                yield path


def run_suite(
    entries: Sequence[Entry],
    harness: Harness,
    *,
    workers: int = 1,
    stage: str = "search",
    finished: Callable[[Evaluation], None] = lambda evaluation: None,
) -> list[Evaluation]:
    """Evaluate all entries with ``workers`` at a time; results in the order of the entries.

    ``finished`` is called in this thread as each result arrives, so that an interrupted caller
    keeps what is done.
    """

    def one(entry: Entry) -> Evaluation:
        return evaluate(entry.task, entry.program, stage, harness=harness)

    results: dict[int, Evaluation] = {}
    executor = ThreadPoolExecutor(workers, thread_name_prefix="suite")
    try:
        pending: dict[Future[Evaluation], int] = {
            executor.submit(one, entry): index for index, entry in enumerate(entries)
        }
        while pending:
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                index = pending.pop(future)
                results[index] = future.result()
                finished(results[index])
    finally:
        # Not waiting: when interrupted, running candidates may have minutes to go.
        executor.shutdown(wait=False, cancel_futures=True)
    return [results[index] for index in range(len(entries))]
