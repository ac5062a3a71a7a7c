"""What must run before what, prepared once per circuit for fast replays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tasks.quantum_compilation.circuit import Circuit


class Joint(NamedTuple):
    """An operation on two or more wires; ``next`` is the following joint operation on each.

    ``single_before``: how many operations on that wire alone precede it, for each wire.
    """

    wires: tuple[int, ...]
    coupled: bool
    next: list[int | None]
    single_before: tuple[int, ...]


@dataclass(frozen=True)
class Dependencies:
    """Joint operations by number; ``first`` is the first one on each wire.

    Operations on one wire alone never wait for another wire, so their counts are enough:
    ``single`` is how many each wire has. ``total`` counts all operations.
    """

    joint: tuple[Joint, ...]
    first: tuple[int | None, ...]
    single: tuple[int, ...]
    total: int

    @classmethod
    def of(cls, circuit: Circuit) -> Dependencies:
        """Prepare a circuit."""
        joint: list[Joint] = []
        first: list[int | None] = [None] * circuit.num_wires
        last: list[tuple[int, int] | None] = [None] * circuit.num_wires
        single = [0] * circuit.num_wires
        detached = 0
        for operation in circuit.operations:
            wires = circuit.wires(operation)
            if len(wires) == 1:
                single[wires[0]] += 1
                continue
            if not wires:
                detached += 1
                continue
            number = len(joint)
            for position, wire in enumerate(wires):
                before = last[wire]
                if before is None:
                    first[wire] = number
                else:
                    joint[before[0]].next[before[1]] = number
                last[wire] = (number, position)
            joint.append(
                Joint(
                    wires,
                    operation.needs_coupling,
                    [None] * len(wires),
                    tuple(single[wire] for wire in wires),
                )
            )
        total = len(joint) + sum(single) + detached
        return cls(tuple(joint), tuple(first), (*single, detached), total)

    def single_before(self, head: Sequence[int | None]) -> int:
        """How many one-wire operations have run when ``head`` are the next joint ones."""
        done = self.single[-1]  # operations on no wire at all never wait
        for wire, number in enumerate(head):
            if number is None:
                done += self.single[wire]
            else:
                operation = self.joint[number]
                done += operation.single_before[operation.wires.index(wire)]
        return done
