"""What tests of routing share: the suite of the mirror, a build cache of their own."""

from __future__ import annotations

import os
import sys
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
