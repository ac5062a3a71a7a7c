"""The cases on which a router is judged: circuits, devices, weights and reference counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from tasks.quantum_compilation.circuit import Circuit
from tasks.quantum_compilation.dependencies import Dependencies
from tasks.quantum_compilation.swap_reduction.archive import DATA
from tasks.quantum_compilation.topology import Topology, read_topology

SEED = 42
DEVICES = ("q20", "willow", "heron_fez")


@dataclass(frozen=True)
class RoutingCase:
    """One circuit on one device.

    ``orig_cnot``: CNOTs that the reference router adds, which a router is measured against and
    which a failed case counts as; ``weight``: of the case in the search score.
    """

    id: str
    circuit: str
    topology: str
    weight: Fraction
    orig_cnot: int


@dataclass(frozen=True)
class Suite:
    """Cases with what they are made of. ``load`` gives the circuits by name."""

    cases: Sequence[RoutingCase]
    topologies: Mapping[str, Topology]
    load: Callable[[], Mapping[str, Circuit]]

    def parts(self, case: RoutingCase) -> tuple[Circuit, Topology]:
        """Circuit and device of a case."""
        return self.load()[case.circuit], self.topologies[case.topology]

    def dependencies(self) -> dict[str, Dependencies]:
        """What must run before what, for each circuit."""
        circuits = self.load()
        return {name: Dependencies.of(circuits[name]) for name in {c.circuit for c in self.cases}}

    def names(self) -> list[str]:
        """The devices in the order of the cases."""
        return list(dict.fromkeys(case.topology for case in self.cases))


def devices() -> dict[str, Topology]:
    """The three devices of the task."""
    return {name: read_topology(DATA / "topologies" / f"{name}.json") for name in DEVICES}


def official_suite(load: Callable[[], Mapping[str, Circuit]]) -> Suite:
    """24 circuits on three devices, as the public task counts them."""
    return Suite(_cases(DATA / "suite.json"), devices(), load)


def read_suite(file: Path, topologies: Mapping[str, Topology], load: Callable[[], Any]) -> Suite:
    """A suite whose cases stand in ``file``."""
    return Suite(_cases(file), topologies, load)


@cache
def _cases(file: Path) -> tuple[RoutingCase, ...]:
    content = json.loads(file.read_bytes())
    return tuple(
        RoutingCase(
            id=entry["id"],
            circuit=entry["circuit"],
            topology=entry["topology"],
            weight=Fraction(str(entry["weight"])),
            orig_cnot=entry["orig_cnot_added"],
        )
        for entry in content["cases"]
    )


def case_text(circuit: Circuit, topology: Topology) -> bytes:
    """A case as the routers read it: four numbers, the edges, the operations, one a line."""
    head = (topology.num_qubits, len(topology.edges), circuit.num_qubits, len(circuit.operations))
    lines = [" ".join(map(str, head))]
    lines += [f"{a} {b}" for a, b in topology.edges]
    lines += [f"{op.name} {' '.join(map(str, op.qubits))}".rstrip() for op in circuit.operations]
    return ("\n".join(lines) + "\n").encode()
