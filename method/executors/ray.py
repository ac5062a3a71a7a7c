"""Jobs as tasks of a Ray cluster: an existing one by its address, or a local one.

Every node has this distribution installed, the keys of models in its environment, and sees the run
folders under the same path: a run *is* its journal, which is locked, appended to and, when a node
is lost, taken up by another one, so it cannot wait for the end of a task in an object store.
Programs to evaluate and their results do travel through Ray and need no shared path.

Ray itself never repeats a task here: a lost one is an outcome like that of a killed process of
:mod:`method.executors.local`, and the sweep gives it out again and writes it down.
"""

from __future__ import annotations

import json
import os
import queue
import secrets
import socket
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmark import provenance
from method.executors.cores import claimed
from method.executors.jobs import ExecutorMissing, ExecutorProblem, Job, Outcome, Resources
from method.executors.processes import WorkerProcess
from method.executors.work import work

_REFRESH_S = 2.0
_PROBE_S = 60.0
_CONNECT_S = 5.0
_POLL_S = 0.2
_OBJECT_STORE = 128 << 20


def require_ray() -> ModuleType:
    """The library. Raises :class:`ExecutorMissing`."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to its makers
    # Jobs ask for no GPU: what a node shows of its own is left as it is.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError as error:
        raise ExecutorMissing(
            f"--executor ray needs ray ({error}); pip install 'evoduet[ray]'"
        ) from None
    return ray


class RayExecutor:
    """Each job is a task that asks for its cores (``num_cpus``) and memory.

    ``address``: of a cluster that runs (``auto``: one on this machine); by default what
    ``RAY_ADDRESS`` says, else a local one that ends with the executor. Where this process is
    connected already, that connection is used and left alone. Raises :class:`ExecutorProblem`.
    """

    name = "ray"

    def __init__(self, address: str | None = None) -> None:
        self._ray = require_ray()
        self._owned = not self._ray.is_initialized()
        if self._owned:
            self._connect(address)
        self._outcomes: queue.SimpleQueue[tuple[str, Future[Any]]] = queue.SimpleQueue()
        self._running: dict[str, tuple[Resources, Any]] = {}
        self._perform = self._ray.remote(perform)
        self._nodes: list[Resources] = []
        self._looked = -_REFRESH_S
        self._interrupts = 0

    def _connect(self, address: str | None) -> None:
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        address = address or os.environ.get("RAY_ADDRESS") or "local"
        if address == "local":
            options |= {"num_cpus": provenance.cores(), "object_store_memory": _OBJECT_STORE}
        _check_reachable(address)
        try:
            self._ray.init(address, include_dashboard=False, **options)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise ExecutorProblem(f"--executor ray: no cluster at {address} ({error})") from None

    def prepare(self, folder: Path) -> None:
        """Ask every node whether it sees a file that was just written below ``folder``."""
        marker = folder / f".shared-{secrets.token_hex(8)}"
        marker.write_text("")
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as OnNode

        look = self._ray.remote(_sees)
        try:
            asked = {
                node["NodeManagerHostname"]: look.options(
                    num_cpus=0, scheduling_strategy=OnNode(node["NodeID"], soft=False)
                ).remote(str(marker))
                for node in self._ray.nodes()
                if node["Alive"]
            }
            for host, answer in asked.items():
                if not self._ray.get(answer, timeout=_PROBE_S):
                    raise ExecutorProblem(
                        f"--out {folder}: node {host} does not see this folder; "
                        "runs need one that all nodes share under the same path"
                    )
        except self._ray.exceptions.RayError as error:
            raise ExecutorProblem(f"--executor ray: a node does not answer ({error})") from None
        finally:
            marker.unlink()

    def room(self, wanted: Resources) -> bool:
        """Whether the living nodes together have so much that is not given away."""
        if not self._running:
            return True
        self._look()
        used = [resources for resources, _ in self._running.values()]
        wanted = self._clamped(wanted)
        cores = sum(each.cores for each in used) + wanted.cores
        memory_mb = sum(each.memory_mb for each in used) + wanted.memory_mb
        return cores <= sum(node.cores for node in self._nodes) and memory_mb <= sum(
            node.memory_mb for node in self._nodes
        )

    def _look(self) -> None:
        if time.monotonic() - self._looked < _REFRESH_S:
            return
        self._looked = time.monotonic()
        self._nodes = [
            Resources(
                int(node["Resources"].get("CPU", 0)),
                int(node["Resources"].get("memory", 0)) >> 20,
            )
            for node in self._ray.nodes()
            if node["Alive"]
        ]

    def _clamped(self, wanted: Resources) -> Resources:
        self._look()
        most = [node for node in self._nodes if node.cores]
        if not most:
            return wanted
        return wanted.clamped(max(most, key=lambda node: (node.memory_mb, node.cores)))

    def submit(self, job: Job) -> None:
        """Start the job as a task."""
        resources = self._clamped(job.resources)
        reference = self._perform.options(
            num_cpus=resources.cores,
            memory=resources.memory_mb << 20,
            max_retries=0,
            scheduling_strategy="SPREAD",
            name=job.id,
        ).remote(json.dumps(job.to_json()), os.getcwd())
        self._running[job.id] = (resources, reference)
        future: Future[Any] = reference.future()
        future.add_done_callback(lambda done: self._outcomes.put((job.id, done)))

    def finished(self, timeout_s: float) -> list[Outcome]:
        """What arrived, from the object store."""
        found: list[Outcome] = []
        try:
            found.append(self._outcome(*self._outcomes.get(timeout=timeout_s)))
            while True:
                found.append(self._outcome(*self._outcomes.get_nowait()))
        except queue.Empty:
            return found

    def _outcome(self, job: str, future: Future[Any]) -> Outcome:
        self._running.pop(job, None)
        errors = self._ray.exceptions
        try:
            return Outcome(**json.loads(future.result()))
        except errors.TaskCancelledError:
            return Outcome(job, "interrupted", "stopped on request")
        except errors.RayTaskError as error:
            return Outcome(job, "failed", f"the task raised {error.cause!r}")
        except errors.RayError as error:
            self._looked = -_REFRESH_S  # the cluster may be another one now
            reason = f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
            return Outcome(job, "interrupted", reason, lost=True)

    def interrupt(self) -> None:
        """Cancel every task: each interrupts its run and waits for it; the second time, kill them.

        A run whose task is killed is interrupted by the end of its lifeline.
        """
        self._interrupts += 1
        for _, reference in self._running.values():
            self._ray.cancel(reference, force=self._interrupts > 1)

    def close(self) -> None:
        """Kill what runs and leave the cluster; a local one ends."""
        for _, reference in self._running.values():
            self._ray.cancel(reference, force=True)
        self._running.clear()
        if self._owned:
            self._ray.shutdown()


def _check_reachable(address: str) -> None:
    """Ray itself tries for minutes. Raises :class:`ExecutorProblem`."""
    host, colon, port = address.rpartition(":")
    if not colon:
        return  # auto, local
    try:
        socket.create_connection((host, int(port)), timeout=_CONNECT_S).close()
    except (OSError, ValueError) as error:
        raise ExecutorProblem(
            f"--executor ray: no cluster at {address} ({error}); give HOST:PORT of its head node"
        ) from None


def perform(text: str, cwd: str) -> str:
    """The task: an evaluation here, a run in a child process that can be interrupted."""
    job = Job.from_json(json.loads(text))
    if job.kind == "evaluation":
        with claimed(job.resources.cores):
            return json.dumps(work(job).to_json())
    # Relative paths of a plan (price file, corpus) mean the same wherever the folder is shared.
    worker = WorkerProcess(Path(cwd) if Path(cwd).is_dir() else None)
    with ThreadPoolExecutor(1) as waiting:
        outcome = waiting.submit(worker.perform, job)
        while not outcome.done():
            try:
                # Ray's cancellation reaches only a main thread that runs Python now and then.
                wait([outcome], timeout=_POLL_S)
            except KeyboardInterrupt:
                worker.interrupt()
    worker.close()
    return json.dumps(outcome.result().to_json())


def _sees(path: str) -> bool:
    return Path(path).exists()
