"""What a sweep costs around its jobs: bookkeeping, Ray against local, and growth to 1,000 workers.

`make bench` measures and holds the numbers against the goals; without ``--benchmark-enable``
everything runs once on a small scale.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from toy_task import write_toy_task
from virtual_cluster import VirtualCluster, model, simulate

from benchmark import evaluate
from method.executors.jobs import Executor, Job, Outcome, Resources
from method.executors.local import LocalExecutor
from method.sweep.ledger import read_ledger

BOOKKEEPING_S, RAY_RATIO = 0.005, 1.2
RESULTS, ROUNDS, EVALUATIONS, WORKERS = 10_000, 3, 8, 2
SLEEP_S, CPU_S = 0.85, 0.2


def report(benchmark: BenchmarkFixture, **numbers: float) -> None:
    benchmark.extra_info.update(numbers)
    print(benchmark.name, ", ".join(f"{name} {value:.3g}" for name, value in numbers.items()))


@pytest.fixture
def task(tmp_path: Path) -> str:
    return str(write_toy_task(tmp_path))


def test_bookkeeping(benchmark: BenchmarkFixture, task: str, tmp_path: Path) -> None:
    """Seconds of an evaluation that neither worker nor candidate uses: driver, ledger and fsync."""
    record = evaluate(task, Path(task) / "initial.py").to_json()
    jobs = RESULTS if not benchmark.disabled else 300
    cluster = VirtualCluster(2, 1.0, record, overhead_s=0.0)

    def whole_sweep() -> None:
        simulate(cluster, jobs, tmp_path / "sweep")

    benchmark.pedantic(whole_sweep, rounds=1)
    started = time.perf_counter()
    projection = read_ledger(tmp_path / "sweep")
    reading_s = time.perf_counter() - started
    assert len(projection.jobs) == jobs
    assert {job.state for job in projection.plan} == {"done"}
    if not benchmark.disabled:
        assert benchmark.stats is not None
        each_s = float(benchmark.stats.stats.min) / jobs
        report(benchmark, ms_per_evaluation=each_s * 1e3, reading_ms=reading_s / jobs * 1e3)
        assert each_s + reading_s / jobs < BOOKKEEPING_S


@contextmanager
def executors(with_ray: bool) -> Iterator[dict[str, Executor]]:
    """Both, with as many workers; Ray's cluster is a local one."""
    made: dict[str, Executor] = {"local": LocalExecutor(Resources(WORKERS, 16_000))}
    if with_ray:
        from method.executors.ray import RayExecutor

        made["ray"] = RayExecutor("local")
    try:
        yield made
    finally:
        for executor in made.values():
            executor.close()


def evaluated(executor: Executor, jobs: list[Job]) -> list[Outcome]:
    """All outcomes of some jobs, given out as a driver gives them."""
    waiting, outcomes = list(jobs), []
    while len(outcomes) < len(jobs):
        while waiting and executor.room(waiting[0].resources):
            executor.submit(waiting.pop(0))
        outcomes += executor.finished(0.5)
    return outcomes


def test_ray_against_local(benchmark: BenchmarkFixture, task: str) -> None:
    """A batch of evaluations of one second, of which they use little CPU, in turns on both."""
    measured = not benchmark.disabled
    if measured:
        pytest.importorskip("ray", reason="ray is not installed: pip install 'evoduet[ray]'")
        if len(os.sched_getaffinity(0)) < WORKERS:
            pytest.skip("two workers need two cores")
    text = f"import time\ndef run_code():\n    time.sleep({SLEEP_S if measured else 0.01})\n"
    spec = {
        "task": task, "program": text + "    return [0.5]\n", "path": "p.py", "name": "p",
        "suffix": ".py", "stage": "search", "variant": None, "options": {}, "repeats": 1,
        "isolation": "auto",
    }  # fmt: skip
    jobs = [Job(f"j{n}", "evaluation", spec, Resources(1, 1000)) for n in range(EVALUATIONS)]
    seconds: dict[str, list[float]] = {"local": [], "ray": []}
    cpu_s: list[float] = []

    def batch(name: str, executor: Executor) -> Callable[[], None]:
        def run() -> None:
            started = time.perf_counter()
            outcomes = evaluated(executor, jobs)
            seconds[name].append(time.perf_counter() - started)
            assert {outcome.data["search"] for outcome in outcomes} == {0.5}
            cpu_s.extend(outcome.data["cpu_s"] for outcome in outcomes)

        return run

    # Without measuring, Ray is left to the tests of its executor: its start takes seconds.
    with executors(with_ray=measured) as both:
        for executor in both.values():
            evaluated(executor, jobs[: 2 * WORKERS])  # workers start, sandboxes are tried out

        def in_turns() -> None:
            for _ in range(ROUNDS if measured else 1):
                for name, executor in both.items():
                    batch(name, executor)()

        benchmark.pedantic(in_turns, rounds=1)
    if measured:
        local, ray = (statistics.median(seconds[name]) for name in ("local", "ray"))
        report(benchmark, local_s=local, ray_s=ray, ratio=ray / local, cpu_s=max(cpu_s))
        assert statistics.median(cpu_s) <= CPU_S
        assert 1 / RAY_RATIO <= ray / local <= RAY_RATIO


@pytest.mark.parametrize("sync_s", [0.0, 0.01], ids=["local_disk", "network_disk"])
def test_growth_is_as_on_paper(
    benchmark: BenchmarkFixture, task: str, tmp_path: Path, sync_s: float
) -> None:
    """The real driver and ledger with simulated workers, against the model of docs/scaling.md.

    The model gets the driver's cost of a job from the simulation itself, so that the speed of this
    machine is no part of the comparison.
    """
    record = evaluate(task, Path(task) / "initial.py").to_json()
    sizes = (10, 100, 1000) if not benchmark.disabled else (10, 100)
    found = {}

    def grow() -> None:
        for workers in sizes:
            cluster = VirtualCluster(workers, 1.0, record, sync_s=sync_s)
            jobs = 20 * workers if not benchmark.disabled else 10 * workers
            found[workers] = simulate(cluster, jobs, tmp_path / f"{workers}")

    benchmark.pedantic(grow, rounds=1)
    for workers, measured in found.items():
        expected = model(workers, 1.0, measured.cost_s, sync_s)
        # The last evaluations leave workers idle: about one evaluation in as many as each does.
        tail = 1.0 - 1.5 / (20 if not benchmark.disabled else 10)
        assert 0.9 * tail * expected <= measured.throughput <= 1.05 * expected
    if not benchmark.disabled:
        most = found[sizes[-1]]
        report(
            benchmark, per_second=most.throughput, utilisation=most.utilisation,
            ms_per_job=most.cost_s * 1e3, workers_at_saturation=1.0 / most.cost_s,
        )  # fmt: skip


def test_beyond_saturation_the_driver_is_the_limit(tmp_path: Path) -> None:
    """With jobs far too short for their number the throughput is that of the driver."""
    cluster = VirtualCluster(200, 0.01, {}, overhead_s=1e-3, sync_s=0.005)
    measured = simulate(cluster, 4000, tmp_path)
    assert measured.utilisation < 0.2
    assert measured.batch > 5, "commits are shared"
    assert measured.throughput == pytest.approx(1 / measured.cost_s, rel=0.35)
