"""Jobs on this machine, in child processes, within its cores and memory."""

from __future__ import annotations

import queue
import threading
from pathlib import Path

from benchmark import provenance
from method.executors.jobs import Job, Outcome, Resources
from method.executors.processes import WorkerProcess

_CGROUP = Path("/sys/fs/cgroup/memory.max")


def this_machine() -> Resources:
    """Cores and memory that this process may use."""
    text = next(
        line for line in Path("/proc/meminfo").read_text().splitlines() if "MemTotal" in line
    )
    memory_mb = int(text.split()[1]) >> 10
    if _CGROUP.is_file() and (limit := _CGROUP.read_text().strip()).isdigit():
        memory_mb = min(memory_mb, int(limit) >> 20)
    return Resources(provenance.cores(), memory_mb)


class LocalExecutor:
    """Each run has a process (group) of its own; evaluations share processes one after another."""

    name = "local"

    def __init__(self, capacity: Resources | None = None) -> None:
        self.capacity = capacity or this_machine()
        self._outcomes: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle: list[WorkerProcess] = []
        self._running: dict[str, tuple[Resources, WorkerProcess]] = {}
        self._interrupts = 0

    def prepare(self, folder: Path) -> None:
        """Nothing: what this process can write, its children can."""

    def room(self, wanted: Resources) -> bool:
        """Whether cores and memory that are not given away suffice."""
        wanted = wanted.clamped(self.capacity)
        with self._lock:
            used = [resources for resources, _ in self._running.values()]
        return (
            sum(each.cores for each in used) + wanted.cores <= self.capacity.cores
            and sum(each.memory_mb for each in used) + wanted.memory_mb <= self.capacity.memory_mb
        )

    def submit(self, job: Job) -> None:
        """Give the job to a process: a new one, or one that waits for evaluations."""
        with self._lock:
            worker = self._waiting() if job.kind == "evaluation" else None
            worker = worker or WorkerProcess()
            self._running[job.id] = (job.resources.clamped(self.capacity), worker)
        threading.Thread(target=self._perform, args=(job, worker), daemon=True).start()

    def _waiting(self) -> WorkerProcess | None:
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
            worker.close()
        return None

    def _perform(self, job: Job, worker: WorkerProcess) -> None:
        outcome = worker.perform(job)
        reusable = job.kind == "evaluation" and not outcome.lost
        if not reusable:
            worker.close()
        with self._lock:
            if reusable:
                self._idle.append(worker)
            self._running.pop(job.id, None)
        self._outcomes.put(outcome)

    def finished(self, timeout_s: float) -> list[Outcome]:
        """What arrived."""
        found: list[Outcome] = []
        try:
            found.append(self._outcomes.get(timeout=timeout_s))
            while True:
                found.append(self._outcomes.get_nowait())
        except queue.Empty:
            return found

    def workers(self) -> dict[str, int]:
        """Process ids of the jobs that run."""
        with self._lock:
            return {job: worker.pid for job, (_, worker) in self._running.items()}

    def interrupt(self) -> None:
        """SIGTERM: runs finish their calls in flight, the second time at once; then SIGKILL."""
        self._interrupts += 1
        with self._lock:
            for _, worker in self._running.values():
                if self._interrupts > 2:
                    worker.kill()
                else:
                    worker.interrupt()

    def close(self) -> None:
        """Kill what runs, let the others leave."""
        with self._lock:
            running = [worker for _, worker in self._running.values()]
            idle, self._idle = self._idle, []
        for worker in running:
            worker.kill()
        for worker in idle:
            worker.close()
