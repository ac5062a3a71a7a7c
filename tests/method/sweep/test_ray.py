"""Sweeps on a Ray cluster of two nodes on this machine: the same results, also when one is lost."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from steady_traces import steady_trace
from sweep_cases import COMMAND, states, sweep, toy, toy_plan, write_plan

from method.executors.jobs import ExecutorMissing, ExecutorProblem, Job, Outcome, Resources
from method.executors.local import LocalExecutor
from method.journal import JournalError, read_journal
from method.runs import replay
from method.sweep.ledger import evaluations, read_ledger
from method.sweep.session import drive, open_session

ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'evoduet[ray]'")
pytest.importorskip("ray.cluster_utils", reason="this ray has no clusters for tests")

from method.executors.ray import RayExecutor, require_ray  # noqa: E402

NODE = {
    "num_cpus": 1,
    "memory": 4 << 30,
    "object_store_memory": 80 << 20,
    "include_dashboard": False,
}
WAIT_S = 60.0


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head that does no work and a node that does; tests add others."""
    from ray.cluster_utils import Cluster

    require_ray()
    made = Cluster(initialize_head=True, head_node_args={**NODE, "num_cpus": 0})
    made.add_node(**NODE)
    ray.init(made.address, log_to_driver=False, logging_level="error")
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def second_node(cluster: Any) -> Iterator[Any]:
    """Another node, for as long as the test lets it live."""
    node = cluster.add_node(**NODE)
    cluster.wait_for_nodes()
    yield node
    if node in cluster.list_all_nodes():
        cluster.remove_node(node)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.05)


def done_iterations(folder: Path) -> int:
    try:
        return sum(event.name == "iteration_done" for event in read_journal(folder))
    except JournalError:
        return 0


def processes_of(node: Any) -> set[int]:
    """Process ids of a node's own process and of all below it."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                status = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(status[1])
    found = {node.all_processes["raylet"][0].process.pid}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def runs_on(node: Any) -> list[Path]:
    """Folders of the runs whose journals are being written on a node."""
    found = []
    for pid in processes_of(node):
        with suppress(OSError):
            files = [os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir()]
            found += [Path(file).parent for file in files if file.endswith("journal.jsonl")]
    return found


class Losing(RayExecutor):
    """Loses ``node`` once a run there has come some way."""

    def __init__(self, node: Any, lose: Callable[[], None]) -> None:
        super().__init__()
        self.node = node
        self.lose = lose
        self.lost: list[Path] = []

    def finished(self, timeout_s: float) -> list[Outcome]:
        if not self.lost:
            self.lost = [run for run in runs_on(self.node) if done_iterations(run) >= 1]
            if self.lost:
                self.lose()
        return super().finished(0.05)


@pytest.mark.slow
def test_a_sweep_that_loses_a_node_ends_like_a_local_one(
    tmp_path: Path, cluster: Any, second_node: Any
) -> None:
    task = toy(tmp_path)
    program = Path(task) / "initial.py"
    slow = program.read_text().replace("    return", "    time.sleep(.2)\n    return")
    program.write_text(f"import time\n{slow}")
    plan = toy_plan(tmp_path, task, iterations=6, more="seed = [1, 2]")
    executor = Losing(second_node, lambda: cluster.remove_node(second_node, False))
    _, projection = drive(open_session(plan, tmp_path / "ray"), executor)
    executor.close()
    (taken_up,) = executor.lost
    assert ray.is_initialized()  # the connection was not the executor's own
    assert set(states(projection).values()) == {"done"}
    assert sorted(job.attempts for job in projection.plan) == [1, 1, 1, 2]
    lines = (tmp_path / "ray" / "sweep.jsonl").read_text().splitlines()
    (lost,) = (json.loads(line)["data"] for line in lines if '"lost":true' in line)
    assert (tmp_path / "ray" / lost["job"], lost["state"]) == (taken_up, "interrupted")
    assert 1 <= lost["data"]["done"] < 6, "the run had begun, and was taken up"

    local = LocalExecutor(Resources(2, 16_000))
    _, here = sweep(plan, tmp_path / "local", local)
    assert {job.id: job.result for job in here.plan} == {
        job.id: job.result for job in projection.plan
    }
    for job in projection.jobs:
        assert steady_trace(tmp_path / "ray" / job) == steady_trace(tmp_path / "local" / job)
        replay(tmp_path / "ray" / job)
        keys = [
            tuple(event.data["key"])
            for event in read_journal(tmp_path / "ray" / job)
            if event.name == "evaluation"
        ]
        assert len(keys) == len(set(keys))


@pytest.mark.slow
def test_evaluations_are_tasks_with_resources(
    tmp_path: Path, cluster: Any, second_node: Any
) -> None:
    task = toy(tmp_path)
    programs = tmp_path / "programs"
    programs.mkdir()
    for number in range(8):
        text = f"import time\ndef run_code():\n    time.sleep(.4)\n    return [{number / 8}]\n"
        (programs / f"p{number}.py").write_text(text)
    (programs / "bad.py").write_text("def run_code():\n    return 'no'\n")
    plan = write_plan(
        tmp_path,
        f'kind = "evaluations"\n[grid]\ntask = ["{task}"]\nprogram = ["{programs}/*.py"]\n',
    )
    lost: list[str] = []

    class LosingEvaluations(RayExecutor):
        most = 0

        def finished(self, timeout_s: float) -> list[Outcome]:
            self.most = max(self.most, len(self._running))
            found = super().finished(timeout_s)
            if found and not lost:
                lost.append("node")
                cluster.remove_node(second_node, False)
            return found

    executor = LosingEvaluations()
    _, projection = drive(open_session(plan, tmp_path / "ray"), executor)
    assert lost
    assert executor.most == 2, "two nodes of one core each"
    assert set(states(projection).values()) == {"done"}
    sweep(plan, tmp_path / "local", LocalExecutor(Resources(2, 16_000)))
    same = ("program", "status", "search", "objective", "ndg", "reason", "artifact_sha256")
    one, two = (
        [{name: record[name] for name in same} for record in evaluations(tmp_path / folder)]
        for folder in ("ray", "local")
    )
    assert one == two
    assert len(one) == 9


def test_a_cancelled_run_is_interrupted_and_can_go_on(tmp_path: Path, cluster: Any) -> None:
    task = toy(tmp_path)
    plan = toy_plan(tmp_path, task, iterations=200)
    session = open_session(plan, tmp_path / "out")
    executor = RayExecutor()
    job = session.cells[0].job
    assert executor.room(job.resources)
    executor.submit(job)
    assert not executor.room(job.resources), "one node, one core"
    folder = Path(job.spec["folder"])
    until(lambda: done_iterations(folder) >= 1)
    executor.interrupt()
    found: list[Outcome] = []
    until(lambda: bool(found.extend(executor.finished(0.1)) or found))
    assert found[0].state == "interrupted"
    until(lambda: read_journal(folder)[-1].name == "interrupted")
    before = done_iterations(folder)
    assert before < 200
    executor.close()


def test_a_job_may_want_more_than_any_node_has(tmp_path: Path, cluster: Any) -> None:
    task = toy(tmp_path)
    plan = toy_plan(tmp_path, task, iterations=0)
    session = open_session(plan, tmp_path / "out")
    executor = RayExecutor()
    job = session.cells[0].job
    executor.submit(Job(job.id, job.kind, job.spec, Resources(64, 10**6)))
    found: list[Outcome] = []
    until(lambda: bool(found.extend(executor.finished(0.1)) or found))
    assert found[0].state == "done", found[0].reason


def test_runs_need_a_folder_that_every_node_sees(
    tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = RayExecutor()
    executor.prepare(tmp_path)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr("method.executors.ray._sees", lambda path: False)
    with pytest.raises(ExecutorProblem, match="does not see this folder"):
        executor.prepare(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_command_starts_a_cluster_of_its_own_and_ends_it(tmp_path: Path) -> None:
    plan = toy_plan(tmp_path, toy(tmp_path), iterations=1)
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    done = subprocess.run(
        [*COMMAND, str(plan), "--out", str(tmp_path / "out"), "--executor", "ray", "--json"],
        capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["counts"] == {"done": 2}
    assert told["executor"] == "ray"
    assert read_ledger(tmp_path / "out").started["host"]
    unreachable = subprocess.run(
        [*COMMAND, str(plan), "--out", str(tmp_path / "o2"), "--executor", "ray",
         "--address", "127.0.0.1:1"],
        capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert unreachable.returncode == 2
    assert "no cluster at 127.0.0.1:1" in unreachable.stderr.splitlines()[-1]


def test_without_ray_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(ExecutorMissing, match=r"pip install 'evoduet\[ray\]'"):
        require_ray()
