"""What an evaluation costs around the candidate: start, prewarmed start, workers, memory.

``make bench`` measures and holds the ratios against the goals; without ``--benchmark-enable``
everything runs once, untimed. Every ratio is of two things measured in turns in the same run.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from toy_task import write_toy_task

from benchmark import Harness, evaluate

COLD_RATIO, WARM_RATIO, WORKERS_RATIO, HELP_S = 1.3, 0.35, 1.7, 0.3
GROWTH_MB = 3.0
ROUNDS = 15


@pytest.fixture
def task(tmp_path: Path) -> str:
    return str(write_toy_task(tmp_path))


@pytest.fixture
def trivial(tmp_path: Path) -> Path:
    program = tmp_path / "trivial.py"
    program.write_text("def run_code():\n    return [0.25] * 4\n")
    return program


def import_numpy() -> float:
    """Seconds that a new interpreter needs to import numpy."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import numpy"], check=True)
    return time.perf_counter() - started


def in_turns(
    benchmark: BenchmarkFixture, target: Callable[[], None], ready: Callable[[], None]
) -> float:
    """Median seconds of ``target`` over the median of importing numpy, round by round."""
    reference: list[float] = []

    def between() -> None:
        reference.append(import_numpy())
        ready()

    benchmark.pedantic(target, setup=between, rounds=ROUNDS if measured(benchmark) else 1)
    if not measured(benchmark):
        return 0.0
    assert benchmark.stats is not None
    ratio = float(benchmark.stats.stats.median) / statistics.median(reference)
    report(benchmark, ratio_to_import_numpy=ratio, import_numpy_s=statistics.median(reference))
    return ratio


def measured(benchmark: BenchmarkFixture) -> bool:
    return not benchmark.disabled


def report(benchmark: BenchmarkFixture, **numbers: float) -> None:
    benchmark.extra_info.update(numbers)
    print(benchmark.name, ", ".join(f"{name} {value:.3g}" for name, value in numbers.items()))


@pytest.mark.parametrize("imports", ["", "import numpy\n"], ids=["trivial", "with_numpy"])
def test_cold(benchmark: BenchmarkFixture, task: str, trivial: Path, imports: str) -> None:
    trivial.write_text(imports + trivial.read_text())
    with Harness() as harness:

        def target() -> None:
            assert evaluate(task, trivial, harness=harness).search == 1.0

        target()  # the first evaluation also tries the sandbox out
        assert in_turns(benchmark, target, lambda: None) <= COLD_RATIO


def test_prewarmed(benchmark: BenchmarkFixture, task: str, trivial: Path) -> None:
    with Harness(prewarm=True) as harness:
        pool = harness._pool
        assert pool is not None

        def ready() -> None:
            while not pool.ready:
                time.sleep(0.005)

        def target() -> None:
            assert evaluate(task, trivial, harness=harness).search == 1.0

        ready()
        target()
        assert in_turns(benchmark, target, ready) <= WARM_RATIO


def test_two_workers(benchmark: BenchmarkFixture, task: str, tmp_path: Path) -> None:
    seconds = 1.0 if measured(benchmark) else 0.05
    program = tmp_path / "busy.py"
    program.write_text(
        "import time\ndef run_code():\n    start = time.process_time()\n"
        f"    while time.process_time() - start < {seconds}:\n        pass\n    return [0.25] * 4\n"
    )

    def all_of_them(workers: int) -> float:
        with Harness(workers=workers) as harness, ThreadPoolExecutor(workers) as threads:
            started = time.perf_counter()
            futures = [
                threads.submit(evaluate, task, program, wall_s=60, harness=harness)
                for _ in range(6)
            ]
            assert [future.result().search for future in futures] == [1.0] * 6
            return time.perf_counter() - started

    alone = all_of_them(1)
    benchmark.pedantic(all_of_them, args=(2,), rounds=1)
    if measured(benchmark):
        assert benchmark.stats is not None
        ratio = alone / float(benchmark.stats.stats.min)
        report(benchmark, throughput_of_two_over_one=ratio)
        if len(os.sched_getaffinity(0)) < 2:
            pytest.skip("two workers need two cores")
        assert ratio >= WORKERS_RATIO


def test_memory_stays_flat(benchmark: BenchmarkFixture, task: str, trivial: Path) -> None:
    rounds = 500 if measured(benchmark) else 20
    with Harness() as harness:

        def some(count: int) -> None:
            for _ in range(count):
                assert evaluate(task, trivial, harness=harness).search == 1.0

        some(max(5, rounds // 10))
        memory, descriptors, children = resident_mb(), len(os.listdir("/proc/self/fd")), zombies()
        benchmark.pedantic(some, args=(rounds,), rounds=1)
        growth = resident_mb() - memory
        assert len(os.listdir("/proc/self/fd")) == descriptors
        assert zombies() <= children
    report(benchmark, growth_mb=growth)
    assert growth < GROWTH_MB


def resident_mb() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def zombies() -> int:
    """Children of this process that ended and were not collected."""
    found = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "stat="], capture_output=True, text=True
    )
    return sum(line.startswith("Z") for line in found.stdout.splitlines())


def test_help(benchmark: BenchmarkFixture) -> None:
    command = Path(sys.executable).with_name("evoduet")
    if not command.exists():
        pytest.skip("evoduet is not installed beside this interpreter")
    benchmark.pedantic(
        subprocess.run,
        args=([str(command), "--help"],),
        kwargs={"check": True, "capture_output": True},
        rounds=7 if measured(benchmark) else 1,
    )
    if measured(benchmark):
        assert benchmark.stats is not None
        seconds = float(benchmark.stats.stats.min)
        report(benchmark, help_s=seconds)
        assert seconds < HELP_S
