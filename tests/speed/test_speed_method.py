"""What a run costs beside model, search, evaluation and fsync; what a replay and an import cost.

Processor time of this process is measured, not the clock, so a busy machine does not matter much;
``--benchmark-enable`` (``make bench``) holds it against the goals, scaled by a fixed piece of work
that is timed in the same run. Without it everything runs once on a smaller run, untimed.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fake_task import LocalEvaluator, config
from pytest_benchmark.fixture import BenchmarkFixture

from method.protocols import Completion, EvalResult, Request, SearchResponse, SearchResult
from method.runs import Clients, replay, run

OVERHEAD_MS = {100: 20.0, 1000: 30.0}
"""Goals for one iteration by the number of programs, on the machine of :data:`REFERENCE_MS`."""
REPLAY_S, IMPORT_S = 5.0, 0.3
REFERENCE_MS = 3.0
"""Processor time of :func:`reference` on an idle core."""
MEASURED = 30
"""Iterations that are measured, the last ones of a run."""


def reference() -> None:
    """Work of the kind that a run does: JSON, hashes and text."""
    rows = [{"id": n, "text": "a line of some words " * 5, "score": n / 7} for n in range(1000)]
    for row in rows:
        hashlib.sha256(json.dumps(row, ensure_ascii=False).encode()).hexdigest()
    "\n".join(str(row["text"]) for row in rows).replace("words", "numbers").splitlines()


def slowness() -> float:
    """How much slower this machine is now than the one of the goals; 1 at least."""
    times = []
    for _ in range(15):
        started = time.process_time()
        reference()
        times.append(1000 * (time.process_time() - started))
    return max(1.0, statistics.median(times) / REFERENCE_MS)


@dataclass
class Meter:
    """Processor time that is not the run's own: model, search and evaluator."""

    outside: float = 0.0
    stamps: list[float] = field(default_factory=list)

    def progress(self, record: Mapping[str, Any]) -> None:
        self.stamps.append(time.process_time() - self.outside)

    def last_ms(self) -> float:
        """Milliseconds of one of the last iterations."""
        count = min(MEASURED, len(self.stamps) - 1)
        return 1000 * (self.stamps[-1] - self.stamps[-1 - count]) / count


class Writer:
    """Answers with whole programs of 150 lines; retrieves at the end of the run."""

    name = "writer"

    def __init__(self, meter: Meter, retrieve_from: int) -> None:
        self._meter = meter
        self._from = retrieve_from
        self._draw = random.Random(1)
        self._lines = [f"    total += {n} * x  # step {n} of the sum" for n in range(150)]

    async def sample(self, request: Request) -> list[Completion]:
        started = time.process_time()
        answers = [Completion(self._text(request.purpose)) for _ in request.slots]
        self._meter.outside += time.process_time() - started
        return answers

    def _text(self, purpose: str) -> str:
        draw = self._draw
        if purpose == "gate":
            late = len(self._meter.stamps) >= self._from
            return json.dumps({"decision": "retrieve" if late else "no-op", "reasoning": "r",
                               "knowledge_state_analysis": "known " * 300,
                               "search_document_ids": []})  # fmt: skip
        if purpose == "query":
            return json.dumps({"query": f"numbers {draw.random()}"})
        if purpose == "scoring":
            rows = [{"evidence_ref": f"evidence_{n}", "estimated_child_score": draw.random()}
                    for n in range(1, 16)]  # fmt: skip
            return json.dumps({"document_predictions": rows, "knowledge_state_analysis": "k" * 999})
        if purpose != "generation":
            return "An observation with the number 3. " * 50
        lines = list(self._lines)
        for _ in range(5):
            place = draw.randrange(len(lines))
            lines[place] = f"    total -= {draw.random()} * x  # another step"
        self._lines = lines
        program = "\n".join([f"VALUE = {draw.random()}", "def run_code(x):", *lines])
        return f"Changed.\n```python\n{program}\n```"


class Library:
    """Five pages for every query, with snippets as long as the default configuration's get."""

    name = "library"

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    async def search(self, query: str, max_results: int, depth: str) -> SearchResponse:
        started = time.process_time()
        body = f"{query}: a sentence of a page with [brackets] and `code`.\n" * 30
        hits = tuple(
            SearchResult(
                f"https://ex.org/{query}/{n}", "", f"Page {n}", f"{n} {body}"[:1500], None, 1.0, n
            )
            for n in range(1, 6)
        )
        self._meter.outside += time.process_time() - started
        return SearchResponse(hits)


class Timed(LocalEvaluator):
    def __init__(self, meter: Meter) -> None:
        super().__init__()
        self._meter = meter

    async def evaluate(self, code: str) -> EvalResult:
        started = time.process_time()
        result: EvalResult = await super().evaluate(code)
        self._meter.outside += time.process_time() - started
        return result


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Where runs are written: in memory if that can be, and never synced.

    What a disk takes for a file is the disk's; :func:`test_disk` reports it.
    """
    monkeypatch.setattr(os, "fsync", lambda fd: None)
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as made:
        yield Path(made)


def measured_run(folder: Path, method: str, programs: int, **options: Any) -> Meter:
    """A run until its population has so many programs, with retrieval in the last iterations."""
    meter = Meter()
    run(
        config(method=method, iterations=programs, candidates=8, **options),
        folder,
        clients=Clients(Writer(meter, programs - MEASURED), Library(meter), Timed(meter)),
        progress=meter.progress,
    )
    return meter


def hold(benchmark: BenchmarkFixture, value: float, goal: float, unit: str) -> None:
    """Report a value and, when measuring, hold it against its goal."""
    factor = slowness()
    benchmark.extra_info.update({f"value_{unit}": value, f"goal_{unit}": goal, "slowness": factor})
    print(f"\n{benchmark.name}: {value:.3g} {unit} (goal {goal:g} {unit}, slowness {factor:.2f})")
    if not benchmark.disabled:
        assert value / factor < goal


def once(benchmark: BenchmarkFixture, work: Callable[[], Any]) -> Any:
    return benchmark.pedantic(work, rounds=1)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("scaffold", ["openevolve-native", "openevolve-package", "topk"])
@pytest.mark.parametrize("programs", OVERHEAD_MS)
def test_overhead(benchmark: BenchmarkFixture, folder: Path, scaffold: str, programs: int) -> None:
    """One iteration with a whole retrieval and eight candidates, EvoX excluded."""
    if scaffold == "openevolve-package":
        pytest.importorskip("openevolve")
    elif scaffold == "openevolve-native" and programs > 100:
        pytest.skip("its population never holds more than 41 programs")
    count = programs if not benchmark.disabled else 35
    meter = once(benchmark, lambda: measured_run(folder / "run", f"{scaffold}+evoduet", count))
    assert len(meter.stamps) == count
    hold(benchmark, meter.last_ms(), OVERHEAD_MS[programs], "ms")


def test_replay(benchmark: BenchmarkFixture, folder: Path) -> None:
    """A run of 100 iterations, each with a whole retrieval, from its journal alone."""
    count, meter = (100 if not benchmark.disabled else 10), Meter()
    clients = Clients(Writer(meter, 0), Library(meter), Timed(meter))
    run(config(iterations=count, candidates=8), folder / "run", clients=clients)
    started = time.process_time()
    result = once(benchmark, lambda: replay(folder / "run"))
    assert result.summary["done"] == count
    hold(benchmark, time.process_time() - started, REPLAY_S, "s")


def test_disk(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """What an iteration waits for its disk, reported only: the same run synced and on disk."""
    count, meter = (20 if not benchmark.disabled else 3), Meter()
    clients = Clients(Writer(meter, 0), Library(meter), Timed(meter))
    began: list[float] = []

    def work() -> None:
        began.append(time.perf_counter())
        run(config(iterations=count, candidates=8), tmp_path / "run", clients=clients)

    once(benchmark, work)
    waited = 1000 * (time.perf_counter() - began[0]) / count
    benchmark.extra_info.update(wall_ms=waited)
    print(f"\n{benchmark.name}: {waited:.3g} ms of wall clock an iteration, fsync included")


def test_import(benchmark: BenchmarkFixture) -> None:
    """``import benchmark, method`` in a new interpreter, beyond the interpreter itself."""

    def seconds(code: str) -> float:
        lines = f"import time\nt = time.process_time()\n{code}\nprint(time.process_time() - t)"
        command = [sys.executable, "-c", lines]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    runs = 1 if benchmark.disabled else 5
    taken = once(benchmark, lambda: [seconds("import benchmark, method") for _ in range(runs)])
    hold(benchmark, statistics.median(taken), IMPORT_S, "s")
