"""A cluster in virtual time: the real driver and ledger, with workers that only wait.

The driver's own work is real and moves the clock by the CPU time it took; the workers' work moves
it without anybody waiting. So a sweep of 10,000 evaluations on 1,000 workers takes as long as its
bookkeeping. Run as a script it prints the table of docs/scaling.md.
"""

from __future__ import annotations

import heapq
import random
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from method.executors.jobs import Job, Outcome, Resources
from method.sweep.cells import Cell
from method.sweep.driver import Driver
from method.sweep.ledger import Ledger
from method.sweep.purse import Purse

RAY_S = 0.8e-3
"""CPU time of the driver's process for submitting a task to Ray and taking its result."""


@dataclass
class VirtualCluster:
    """Executor of ``workers``; an evaluation takes ``seconds`` on average (plus or minus half).

    ``overhead_s`` is what the executor's library takes of the driver's time for one job, ``sync_s``
    what the disk takes for one commit of the ledger; there is one for each turn of the driver.
    """

    workers: int
    seconds: float
    record: Mapping[str, Any]
    overhead_s: float = RAY_S
    sync_s: float = 0.0
    name: str = "virtual"
    now: float = 0.0
    worked: float = 0.0
    driving: float = 0.0
    turns: int = 0
    _ends: list[tuple[float, str]] = field(default_factory=list)
    _draw: random.Random = field(default_factory=lambda: random.Random(1))
    _mark: float = field(default_factory=time.process_time)

    def prepare(self, folder: Path) -> None:
        """Nothing."""

    def room(self, wanted: Resources) -> bool:
        return len(self._ends) < self.workers

    def submit(self, job: Job) -> None:
        self._drive(self.overhead_s / 2)
        seconds = self.seconds * self._draw.uniform(0.5, 1.5)
        self.worked += seconds
        heapq.heappush(self._ends, (self.now + seconds, job.id))

    def finished(self, timeout_s: float) -> list[Outcome]:
        self._drive(self.sync_s)
        self.turns += 1
        self.now = max(self.now, self._ends[0][0])
        found = []
        while self._ends and self._ends[0][0] <= self.now:
            found.append(Outcome(heapq.heappop(self._ends)[1], "done", data=self.record, host="n"))
        self._mark = time.process_time()
        self._drive(self.overhead_s / 2 * len(found))
        return found

    def _drive(self, more: float) -> None:
        """Time that the driver took since the last call, and some that it did not take really."""
        mark = time.process_time()
        took = mark - self._mark + more
        self.driving += took
        self.now += took
        self._mark = mark

    def interrupt(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


@dataclass(frozen=True)
class Measured:
    """Evaluations per second, the share of the workers' time that was used, driver's s per job."""

    throughput: float
    utilisation: float
    cost_s: float
    batch: float


def simulate(cluster: VirtualCluster, jobs: int, folder: Path) -> Measured:
    """Drive ``jobs`` evaluations on the cluster, with a real ledger in ``folder``."""
    cells = [
        Cell(Job(f"task/program-{n:06d}", "evaluation", {}, Resources(1, 1)), {"task": "t"}, 0)
        for n in range(jobs)
    ]
    with Ledger(folder) as ledger:
        cluster._mark = time.process_time()
        Driver(cells, ledger, cluster, Purse(None)).run()
    return Measured(
        throughput=jobs / cluster.now,
        utilisation=cluster.worked / (cluster.workers * cluster.now),
        cost_s=(cluster.driving - cluster.sync_s * cluster.turns) / jobs,
        batch=jobs / cluster.turns,
    )


def model(workers: int, seconds: float, cost_s: float, sync_s: float) -> float:
    """Evaluations per second on paper.

    Workers in a circle with one driver: each evaluation also waits for its turn, half a commit and
    its own cost; and the driver cannot serve more than one per ``cost_s``, since commits are shared
    by all that ended meanwhile.
    """
    return min(workers / (seconds + cost_s + 1.5 * sync_s), 1 / cost_s)


def main() -> None:
    """Print the table."""
    from benchmark import evaluate

    program = Path(tempfile.mkdtemp()) / "program.py"
    program.write_text("def run():\n    return 1\n")
    record = evaluate("cp26", program).to_json()
    print("workers  seconds  sync ms  per second  model  utilisation  ms per job  batch")
    for seconds, sync_s in ((1.0, 0.0), (1.0, 0.01), (10.0, 0.01)):
        for workers in (10, 100, 300, 1000):
            with tempfile.TemporaryDirectory() as folder:
                cluster = VirtualCluster(workers, seconds, record, sync_s=sync_s)
                found = simulate(cluster, min(20_000, 50 * workers), Path(folder))
            expected = model(workers, seconds, found.cost_s, sync_s)
            print(
                f"{workers:7d}  {seconds:7g}  {sync_s * 1e3:7g}  {found.throughput:10.1f}"
                f"  {expected:6.1f}  {found.utilisation:10.1%}  {found.cost_s * 1e3:10.2f}"
                f"  {found.batch:5.1f}"
            )


if __name__ == "__main__":
    sys.exit(main())
