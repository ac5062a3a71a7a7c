"""Time of routing and of checking routings.

``python -m pytest tests/speed/test_speed_routing.py --benchmark-enable`` prints times. Nothing is
asserted about time; the answers must be right.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from shared_data import require_shared

from benchmark.evaluator import Unavailable
from benchmark.harness import Harness
from benchmark.sandbox.limits import Limits
from tasks.quantum_compilation.qasm import parse_qasm
from tasks.quantum_compilation.swap_reduction import archive
from tasks.quantum_compilation.swap_reduction.building import build_router
from tasks.quantum_compilation.swap_reduction.embedded import embedded_suite
from tasks.quantum_compilation.swap_reduction.routing import (
    TOOLS,
    PythonRouter,
    RustRouter,
    Trials,
)
from tasks.quantum_compilation.swap_reduction.scoring import judge
from tasks.quantum_compilation.swap_reduction.suite import Suite, case_text, official_suite

INITIAL = TOOLS.with_name("initial.py")


@pytest.fixture(scope="module")
def archive_file() -> Path:
    return require_shared() / "data" / "swap_reduction" / archive.ARCHIVE


@pytest.fixture(scope="module")
def suite(archive_file: Path) -> Suite:
    circuits = archive.read_circuits(archive_file)
    return official_suite(lambda: circuits)


@pytest.fixture(scope="module")
def records(suite: Suite) -> list[dict[str, Any]]:
    """A trace for each of the 72 cases: the initial policy, one layout, one run."""
    sys.path.append(str(TOOLS))
    from swap_router.__main__ import load_policy, read_case
    from swap_router.trials import route

    source = INITIAL.read_text(encoding="utf-8")
    found = []
    for case in suite.cases:
        num_qubits, operations, target = read_case(case_text(*suite.parts(case)).decode())
        routing = route(num_qubits, operations, target, load_policy(source), seed=42,
                        layout_trials=1, routing_trials=1)  # fmt: skip
        swaps = [list(swap) for swap in routing.swaps]
        found.append({"id": case.id, "initial_layout": routing.initial_layout, "swaps": swaps})
    return found


def test_reading_the_24_circuits(benchmark: BenchmarkFixture, archive_file: Path) -> None:
    texts = archive.read_texts(archive_file)
    circuits = benchmark(lambda: {name: parse_qasm(text) for name, text in texts.items()})
    assert sum(len(circuit.operations) for circuit in circuits.values()) > 140_000


def test_verifying_all_72_cases(
    benchmark: BenchmarkFixture, suite: Suite, records: list[dict[str, Any]]
) -> None:
    tally = benchmark(judge, suite, records)
    assert not tally.failed
    assert tally.swaps == sum(len(record["swaps"]) for record in records)


@pytest.mark.parametrize("language", ["python", "rust"])
def test_routing_one_case_in_the_sandbox(
    benchmark: BenchmarkFixture, language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    suite = embedded_suite()
    case = next(case for case in suite.cases if case.id == "toffoli_13_q20")
    text = case_text(*suite.parts(case))
    with Harness() as harness:
        session = harness.session(Limits())
        router: PythonRouter | RustRouter
        if language == "python":
            router = PythonRouter(INITIAL.read_text(encoding="utf-8"), Trials(4, 4))
        else:
            source = INITIAL.with_suffix(".rs").read_text(encoding="utf-8")
            try:
                router = RustRouter(build_router(source, session), Trials(4, 4))
            except Unavailable as missing:
                pytest.skip(str(missing))
        outcome = benchmark(router.route, text, session, wall_s=600.0)
    assert outcome.status == "ok"
    assert 3 * len(outcome.record["swaps"]) <= case.orig_cnot
