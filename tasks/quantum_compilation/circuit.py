"""Quantum circuits as a router sees them: a list of operations on wires."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

ORDER_ONLY = frozenset({"barrier", "measure", "reset", "delay"})
"""Operations that never need a coupling, however many qubits they touch."""


class Operation(NamedTuple):
    """One gate: its name, its qubits, and what only other tools need.

    ``parameters`` is the text between the parentheses (angles); ``clbits`` are classical bits.
    """

    name: str
    qubits: tuple[int, ...]
    parameters: str = ""
    clbits: tuple[int, ...] = ()

    @property
    def needs_coupling(self) -> bool:
        """True for two-qubit gates: their qubits must sit on adjacent physical qubits."""
        return len(self.qubits) == 2 and self.name not in ORDER_ONLY


@dataclass(frozen=True)
class Circuit:
    """Operations in program order on ``num_qubits`` logical qubits and ``num_clbits`` bits."""

    num_qubits: int
    operations: tuple[Operation, ...]
    num_clbits: int = 0

    @property
    def num_wires(self) -> int:
        """Qubits and classical bits: along each, operations keep their order."""
        return self.num_qubits + self.num_clbits

    def wires(self, operation: Operation) -> tuple[int, ...]:
        """The wires of an operation; classical bits are numbered behind the qubits."""
        if not operation.clbits:
            return operation.qubits
        return operation.qubits + tuple(self.num_qubits + bit for bit in operation.clbits)
