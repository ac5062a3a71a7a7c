"""Suites of generated circuits: one to search on without data files, one that no search sees.

Their case lists, with the counts of the initial policy, come from :mod:`make_suites`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from tasks.quantum_compilation.circuit import Circuit
from tasks.quantum_compilation.qasm import qasm_text
from tasks.quantum_compilation.swap_reduction.archive import DATA
from tasks.quantum_compilation.swap_reduction.generator import EMBEDDED, UNSEEN
from tasks.quantum_compilation.swap_reduction.suite import Suite, devices, read_suite
from tasks.quantum_compilation.topology import Topology, grid, line, ring

EMBEDDED_FILE, UNSEEN_FILE = DATA / "embedded_suite.json", DATA / "unseen_suite.json"


def embedded_suite() -> Suite:
    """Generated circuits on the three devices of the task."""
    return read_suite(EMBEDDED_FILE, devices(), lambda: _made(EMBEDDED_FILE, EMBEDDED))


def unseen_suite() -> Suite:
    """Other generated circuits on devices that the task does not have."""
    return read_suite(UNSEEN_FILE, unseen_devices(), lambda: _made(UNSEEN_FILE, UNSEEN))


def unseen_devices() -> dict[str, Topology]:
    """A line, a ring and a grid."""
    made = (line(20), ring(24), grid(5, 5))
    return {topology.name: topology for topology in made}


@cache
def initial_swaps(file: Path) -> int:
    """SWAPs that the initial policy needs for all cases of a list."""
    total: int = json.loads(file.read_bytes())["initial_swaps"]
    return total


_made_before: dict[Path, dict[str, Circuit]] = {}


def _made(file: Path, makers: Mapping[str, Callable[[], Circuit]]) -> dict[str, Circuit]:
    """The circuits, made once and compared with what the case list was made for.

    Raises ``ValueError`` when the generator no longer makes them.
    """
    if file not in _made_before:
        circuits = {name: make() for name, make in makers.items()}
        expected = json.loads(file.read_bytes())["circuits"]
        found = {name: circuit_digest(circuit) for name, circuit in circuits.items()}
        if found != expected:
            raise ValueError(f"the generated circuits are not those of {file.name}")
        _made_before[file] = circuits
    return _made_before[file]


def circuit_digest(circuit: Circuit) -> str:
    """Sha256 of a circuit's OpenQASM text."""
    return hashlib.sha256(qasm_text(circuit).encode()).hexdigest()
