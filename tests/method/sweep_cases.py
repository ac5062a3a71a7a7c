"""Plans, toy tasks and stand-ins for tests of sweeps."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toy_task import DECLARATION, write_toy_task

from method.executors.jobs import Job, Outcome, Resources
from method.sweep.ledger import Projection
from method.sweep.session import drive, open_session

COMMAND = [sys.executable, "-m", "benchmark.cli", "sweep"]
MISSING_DATA = """
[[data]]
name = "numbers.csv"
licence = "none"
size = 10
mirror = { path = "toys/numbers.csv", sha256 = "%s" }
""" % ("0" * 64)


def toy(parent: Path, name: str = "vector", *, declaration: str = DECLARATION) -> str:
    """A toy task that the offline stand-in for a model can change; its reference."""
    folder = write_toy_task(parent, name=name, declaration=declaration)
    (folder / "initial.py").write_text(
        "# EVOLVE-BLOCK-START\ndef run_code():\n    return [0.5, 0.25]\n# EVOLVE-BLOCK-END\n"
    )
    return str(folder)


def write_plan(folder: Path, text: str, name: str = "plan.toml") -> Path:
    """A plan file."""
    file = folder / name
    file.write_text(text)
    return file


def toy_plan(folder: Path, *tasks: str, iterations: int = 3, more: str = "") -> Path:
    """Runs of two arms on toy tasks; ``more`` goes to the end."""
    listed = ", ".join(f'"{task}"' for task in tasks)
    return write_plan(
        folder,
        f"""
[defaults]
model = "offline/perturb"
iterations = {iterations}
candidates = 1
[grid]
task = [{listed}]
method = ["none", "topk+none"]
{more}
""",
    )


class Instant:
    """An executor without workers: ``answer`` tells how each job ends."""

    name = "instant"

    def __init__(
        self,
        answer: Callable[[Job], Outcome] = lambda job: Outcome(job.id, "done"),
        capacity: int = 4,
    ) -> None:
        self.answer = answer
        self.capacity = capacity
        self.submitted: list[Job] = []
        self.running: dict[str, Job] = {}
        self.most = 0
        self.interrupts = 0

    def prepare(self, folder: Path) -> None:
        """Nothing."""

    def room(self, wanted: Resources) -> bool:
        used = sum(job.resources.cores for job in self.running.values())
        return used + wanted.cores <= self.capacity

    def submit(self, job: Job) -> None:
        self.submitted.append(job)
        self.running[job.id] = job
        self.most = max(self.most, len(self.running))

    def finished(self, timeout_s: float) -> list[Outcome]:
        """The oldest job that runs."""
        if not self.running:
            return []
        job = self.running.pop(next(iter(self.running)))
        return [self.answer(job)]

    def interrupt(self) -> None:
        self.interrupts += 1

    def close(self) -> None:
        """Nothing."""


def sweep(plan: Path, out: Path, executor: Any, **options: Any) -> tuple[str, Projection]:
    """Open and drive in one call."""
    retry = options.get("retry", False)
    session = open_session(plan, out, **options)
    return drive(session, executor, retry=retry)


def states(projection: Projection) -> dict[str, str]:
    """State of each job."""
    return {job.id: job.state for job in projection.plan}


def start_driver(plan: Path, out: Path, *more: str) -> subprocess.Popen[str]:
    """``evoduet sweep`` in a process of its own."""
    return subprocess.Popen(
        [*COMMAND, str(plan), "--out", str(out), "--json", *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ.copy(),
    )
