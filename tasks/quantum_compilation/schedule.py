"""An explicit order of execution for a swap trace: what runs when, between which SWAPs."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.quantum_compilation.circuit import Circuit
from tasks.quantum_compilation.replay import circuit_ranks
from tasks.quantum_compilation.topology import Topology

Step = int | list[int]
"""The number of an operation, or a SWAP of two physical qubits."""


def greedy_schedule(
    circuit: Circuit, topology: Topology, layout: Sequence[int], swaps: Sequence[Sequence[int]]
) -> list[Step]:
    """Everything as early as the trace permits; operations that never can run are left out.

    ``layout`` and ``swaps`` must be well formed (see :func:`check_swap_trace`).
    """
    place = list(layout)
    ranks, done = circuit_ranks(circuit), [0] * circuit.num_wires
    waiting = list(range(len(circuit.operations)))
    steps: list[Step] = []

    def run_what_can() -> list[int]:
        """One pass in file order is enough: operations only wait for earlier ones."""
        left = []
        for number in waiting:
            operation = circuit.operations[number]
            wires = circuit.wires(operation)
            turn = all(done[w] == r for w, r in zip(wires, ranks[number], strict=True))
            near = not operation.needs_coupling or (
                place[operation.qubits[1]] in topology.neighbour_sets[place[operation.qubits[0]]]
            )
            if not (turn and near):
                left.append(number)
                continue
            steps.append(number)
            for wire in wires:
                done[wire] += 1
        return left

    waiting = run_what_can()
    for a, b in swaps:
        steps.append([a, b])
        exchanged = {a: b, b: a}
        place = [exchanged.get(physical, physical) for physical in place]
        waiting = run_what_can()
    return steps
