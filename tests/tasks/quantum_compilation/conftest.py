"""What tests of routing share: the suite of the mirror, a build cache of their own."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from shared_data import shared_root

from benchmark import Artifact, Score
from benchmark.catalogue import find_task
from benchmark.harness import Harness
from benchmark.sandbox.session import Session
from tasks.quantum_compilation.circuit import Circuit
from tasks.quantum_compilation.swap_reduction import block
from tasks.quantum_compilation.swap_reduction.archive import read_circuits
from tasks.quantum_compilation.swap_reduction.embedded import embedded_suite
from tasks.quantum_compilation.swap_reduction.evaluator import SwapReduction
from tasks.quantum_compilation.swap_reduction.routing import TOOLS
from tasks.quantum_compilation.swap_reduction.suite import devices
from tasks.quantum_compilation.topology import Topology

sys.path.append(str(Path(__file__).parent))
sys.path.append(str(TOOLS))  # where policies in Python find the package swap_router

import routing_policies as policies


@pytest.fixture
def mirror(common_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data mirror, in use; skips the test where there is none."""
    root = shared_root()
    if root is None:
        pytest.skip("no shared folder (EVODUET_SHARED): the official circuits are not here")
    monkeypatch.setenv("EVODUET_DATA_MIRROR", str(root / "data"))
    monkeypatch.setenv("EVODUET_DATA", str(common_folder / "data"))
    return root / "data"


@pytest.fixture
def no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fresh machine: no mirror, an empty cache for data."""
    monkeypatch.delenv("EVODUET_DATA_MIRROR", raising=False)
    monkeypatch.setenv("EVODUET_DATA", str(tmp_path / "data"))


@pytest.fixture(scope="session")
def circuits() -> dict[str, Circuit]:
    """The circuits of the official suite by name."""
    root = shared_root()
    if root is None:
        pytest.skip("no shared folder (EVODUET_SHARED): the official circuits are not here")
    return read_circuits(root / "data" / "swap_reduction" / "circuits.tar.gz")


@pytest.fixture(scope="session")
def topologies() -> dict[str, Topology]:
    """The three devices of the task."""
    return devices()


@pytest.fixture(scope="session")
def common_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for all test processes of a session, so that each router is built once."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "evoduet-cache"


@pytest.fixture
def builds(common_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder for built routers that is not the user's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(common_folder))
    return common_folder


@pytest.fixture
def rust(builds: Path) -> None:
    """Skips the test where there is no Rust."""
    from benchmark.evaluator import Unavailable
    from tasks.quantum_compilation.swap_reduction.toolchain import toolchain

    try:
        toolchain()
    except Unavailable as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def harness() -> Iterator[Harness]:
    """One harness for all evaluations."""
    with Harness() as opened:
        yield opened


@pytest.fixture
def session(harness: Harness) -> Session:
    """A sandbox with the task's limits."""
    return harness.session(find_task("swap_reduction").limits)


@pytest.fixture
def embedded(no_data: None) -> SwapReduction:
    """The task on its generated circuits."""
    return policies.load_task("embedded")


@pytest.fixture
def judge(embedded: SwapReduction, session: Session, tmp_path: Path) -> Callable[..., Any]:
    """Produce and score a program given as text and suffix, on two small cases or those named."""

    def judged(
        source: str, suffix: str, cases: Sequence[str] = ("toffoli_5_q20", "adder_4_q20")
    ) -> tuple[Artifact, Score]:
        embedded.__dict__["suite"] = policies.shortened(embedded_suite(), cases)
        program = tmp_path / f"program{suffix}"
        program.write_text(source)
        artifact = embedded.produce(program, session, "search")
        return artifact, embedded.score(artifact, "search")

    return judged


@pytest.fixture
def no_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the rules about Rust sources, so that what stands behind them is tried."""
    monkeypatch.setattr(block, "broken_rule", lambda tokens: None)


@pytest.fixture
def host_file(tmp_path: Path) -> Path:
    """A file of the host that a candidate must not see."""
    secret = tmp_path / "secret.txt"
    secret.write_text("the answer")
    return secret


@pytest.fixture
def small(embedded: SwapReduction) -> tuple[SwapReduction, list[dict[str, Any]]]:
    """The embedded task cut down to one small circuit, and valid records for it."""
    suite = policies.shortened(embedded_suite(), [f"toffoli_5_{name}" for name in devices()])
    embedded.__dict__["suite"] = suite
    return embedded, [policies.trivial_record(suite, case.id) for case in suite.cases]
