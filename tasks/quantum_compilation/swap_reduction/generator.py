"""Circuits made here, so that routers can be tried without any data file.

Fourier transforms, an Ising chain, networks of random Toffoli gates and ripple-carry adders: kinds
of circuits that the official suite holds too, but none of its circuits. The same arguments always
give the same circuit; random numbers come from the router's own generator. References:
V. Shende, I. Markov, "On the CNOT-cost of Toffoli gates" (2009) for the six CNOTs of a Toffoli
gate, S. Cuccaro et al., "A new quantum ripple-carry addition circuit" (2004) for the adder.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from tasks.quantum_compilation.circuit import Circuit, Operation
from tasks.quantum_compilation.swap_reduction.tools.swap_router.random_numbers import RngState

DECLARED_QUBITS = 16
"""Every circuit has so many qubits, like those of the official suite; most use fewer."""


def _gate(name: str, *qubits: int, angle: float | None = None) -> Operation:
    return Operation(name, qubits, "" if angle is None else f"{angle:.12g}")


def _circuit(operations: list[Operation]) -> Circuit:
    return Circuit(DECLARED_QUBITS, tuple(operations))


def toffoli(a: int, b: int, target: int) -> list[Operation]:
    """A Toffoli gate as six CNOTs and nine one-qubit gates."""
    return [
        _gate("h", target), _gate("cx", b, target), _gate("tdg", target), _gate("cx", a, target),
        _gate("t", target), _gate("cx", b, target), _gate("tdg", target), _gate("cx", a, target),
        _gate("t", b), _gate("t", target), _gate("h", target), _gate("cx", a, b),
        _gate("t", a), _gate("tdg", b), _gate("cx", a, b),
    ]  # fmt: skip


def fourier_transform(size: int) -> Circuit:
    """The quantum Fourier transform without its final reversal of the qubits."""
    operations = []
    for target in range(size):
        operations.append(_gate("h", target))
        for control in range(target + 1, size):
            angle = math.pi / 2 ** (control - target + 1)
            operations += [
                _gate("rz", control, angle=angle), _gate("rz", target, angle=angle),
                _gate("cx", control, target), _gate("rz", target, angle=-angle),
                _gate("cx", control, target),
            ]  # fmt: skip
    return _circuit(operations)


def ising_ring(size: int, steps: int) -> Circuit:
    """Time steps of a transverse-field Ising model whose spins form a ring."""
    operations = [_gate("h", spin) for spin in range(size)]
    for step in range(steps):
        angle = 0.1 * (step + 1)
        for spin in range(size):
            other = (spin + 1) % size
            operations += [
                _gate("cx", spin, other), _gate("rz", other, angle=angle),
                _gate("cx", spin, other),
            ]  # fmt: skip
        for spin in range(size):
            operations += [_gate("h", spin), _gate("rz", spin, angle=angle), _gate("h", spin)]
    return _circuit(operations)


def toffoli_network(size: int, gates: int, seed: int) -> Circuit:
    """Random NOT, CNOT and Toffoli gates (as 1 : 3 : 4) on ``size`` qubits, Toffolis decomposed."""
    rng = RngState(seed)
    operations: list[Operation] = []
    for _ in range(gates):
        qubits = list(range(size))
        rng.shuffle_slice(qubits)
        kind = rng.gen_index(8)
        if kind == 0:
            operations.append(_gate("x", qubits[0]))
        elif kind < 4:
            operations.append(_gate("cx", qubits[0], qubits[1]))
        else:
            operations += toffoli(*qubits[:3])
    return _circuit(operations)


def adder(bits: int) -> Circuit:
    """b := a + b for two numbers of ``bits`` bits, with carry in (qubit 0) and out (the last)."""
    a = [2 * bit + 2 for bit in range(bits)]
    b = [2 * bit + 1 for bit in range(bits)]
    carries = [0, *a]
    carry_out = 2 * bits + 1
    operations: list[Operation] = []
    for bit in range(bits):  # majority of a, b and the carry, up to the highest bit
        operations += [_gate("cx", a[bit], b[bit]), _gate("cx", a[bit], carries[bit])]
        operations += toffoli(carries[bit], b[bit], a[bit])
    operations.append(_gate("cx", a[-1], carry_out))
    for bit in reversed(range(bits)):  # and back, leaving the sum in b
        operations += toffoli(carries[bit], b[bit], a[bit])
        operations += [_gate("cx", a[bit], carries[bit]), _gate("cx", carries[bit], b[bit])]
    return _circuit(operations)


EMBEDDED: Mapping[str, Callable[[], Circuit]] = {
    "adder_4": lambda: adder(4),
    "adder_7": lambda: adder(7),
    "fourier_8": lambda: fourier_transform(8),
    "fourier_14": lambda: fourier_transform(14),
    "ising_12": lambda: ising_ring(12, steps=5),
    "toffoli_5": lambda: toffoli_network(5, gates=12, seed=1),
    "toffoli_7": lambda: toffoli_network(7, gates=60, seed=2),
    "toffoli_10": lambda: toffoli_network(10, gates=120, seed=3),
    "toffoli_13": lambda: toffoli_network(13, gates=200, seed=4),
    "toffoli_16": lambda: toffoli_network(16, gates=80, seed=5),
}
"""The circuits of the embedded suite."""

UNSEEN: Mapping[str, Callable[[], Circuit]] = {
    "adder_5": lambda: adder(5),
    "fourier_11": lambda: fourier_transform(11),
    "ising_15": lambda: ising_ring(15, steps=4),
    "toffoli_6": lambda: toffoli_network(6, gates=50, seed=11),
    "toffoli_9": lambda: toffoli_network(9, gates=100, seed=12),
    "toffoli_12": lambda: toffoli_network(12, gates=120, seed=13),
    "toffoli_15": lambda: toffoli_network(15, gates=150, seed=14),
}
"""Circuits for the report alone; no suite holds them."""
