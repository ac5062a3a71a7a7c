"""Kills real processes: ``python kill_driver.py FOLDER`` forks runs that end by SIGKILL.

Every child is killed at one event of its journal, either right after the event was appended (what
was not committed yet is lost with it) or right after the group with the event reached the disk.
Another child then goes on with the run. One line of JSON for each life tells what was left.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1])]

from fake_task import LocalEvaluator, clients, config  # noqa: E402

from method.journal import Journal, read_journal  # noqa: E402
from method.protocols import EvalResult  # noqa: E402
from method.runs import resume, run  # noqa: E402

CONFIG: dict[str, Any] = {"iterations": 6, "candidates": 2, "rounds": 1, "seed": 3}


class NotingEvaluator(LocalEvaluator):
    """Writes down every start of an evaluation, also of one that a kill interrupts."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._notes = folder / "evaluations.txt"

    async def evaluate(self, code: str) -> EvalResult:
        with self._notes.open("a") as file:
            file.write(json.dumps(code) + "\n")
        return await super().evaluate(code)


def in_child(work: Callable[[], Any]) -> int:
    """Wait status of a forked child that does the work."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(9)
    return os.waitpid(child, 0)[1]


def start(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    run(config(**CONFIG), folder, clients=clients(NotingEvaluator(folder)))


def go_on(folder: Path) -> None:
    """A run that was killed before its first line reached the disk is started again."""
    if (folder / "journal.jsonl").stat().st_size:
        resume(folder, clients=clients(NotingEvaluator(folder)))
    else:
        start(folder)


def die_at(event: int, when: str) -> Callable[[Path], None]:
    """A run that kills its own process: after ``event`` was appended, or was committed."""

    def killed(folder: Path) -> None:
        append, commit = Journal.append, Journal.commit

        def appending(self: Journal, *arguments: Any) -> Any:
            made = append(self, *arguments)
            if when == "appended" and made.seq == event:
                os.kill(os.getpid(), signal.SIGKILL)
            return made

        def committing(self: Journal) -> None:
            commit(self)
            if when == "committed" and len(self.events) > event:
                os.kill(os.getpid(), signal.SIGKILL)

        Journal.append, Journal.commit = appending, committing  # type: ignore
        start(folder)

    return killed


def life(root: Path, event: int, when: str) -> dict[str, Any]:
    """One run that is killed and goes on; how it ended and how many events the kill left."""
    folder = root / f"{event:03d}-{when}"
    killed = in_child(lambda: die_at(event, when)(folder))
    left = len(read_journal(folder))
    end = in_child(lambda: go_on(folder))
    return {"folder": folder.name, "signal": killed, "left": left, "end": end}


def main(root: Path) -> None:
    # A kill takes the process, not the system: what was written stays, synced or not.
    os.fsync = lambda fd: None
    start(root / "whole")  # here: what it imports and reads need not be read in every child
    on_disk = 0
    for event in range(len(read_journal(root / "whole"))):
        print(json.dumps(life(root, event, "appended")), flush=True)
        if event >= on_disk:  # events of one group reach the disk together
            committed = life(root, event, "committed")
            on_disk = committed["left"]
            print(json.dumps(committed), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
