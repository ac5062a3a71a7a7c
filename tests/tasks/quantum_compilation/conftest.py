"""What tests of routing share: the suite of the mirror, a build cache of their own."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from shared_data import shared_root

from benchmark.harness import Harness
from tasks.quantum_compilation.circuit import Circuit
from tasks.quantum_compilation.swap_reduction.archive import read_circuits
from tasks.quantum_compilation.swap_reduction.routing import TOOLS
from tasks.quantum_compilation.swap_reduction.suite import devices
from tasks.quantum_compilation.topology import Topology

sys.path.append(str(TOOLS))  # where policies in Python find the package swap_router


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data mirror, in use; skips the test where there is none."""
    root = shared_root()
    if root is None:
        pytest.skip("no shared folder (EVODUET_SHARED): the official circuits are not here")
    monkeypatch.setenv("EVODUET_DATA_MIRROR", str(root / "data"))
    return root / "data"


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
def _builds() -> Iterator[Path]:
    """One cache for all test processes of a session: each router is built once."""
    name = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    folder = Path(tempfile.gettempdir()) / f"evoduet-test-cache-{name}"
    yield folder
    if "PYTEST_XDIST_WORKER" not in os.environ:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def builds(_builds: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder for built routers that is not the user's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(_builds))
    return _builds


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
