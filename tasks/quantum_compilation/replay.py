"""The trusted check of a routing: replay it on circuit and coupling map, and count.

A *swap trace* is an initial layout (logical -> physical) and a list of SWAPs on couplings. It is
replayed greedily: before the first SWAP and after each one, every operation runs whose earlier
operations on its wires are done and, for a two-qubit gate, whose qubits are adjacent. Operations
do not move qubits, so if any interleaving with this SWAP sequence runs the whole circuit, then the
greedy one does. A *schedule* (for audits) names each operation and SWAP in the order of execution.

Nothing that the trace says about itself is used but the layout and the SWAPs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tasks.quantum_compilation.circuit import Circuit
from tasks.quantum_compilation.dependencies import Dependencies
from tasks.quantum_compilation.topology import Topology

CNOTS_PER_SWAP = 3


@dataclass(frozen=True)
class Verdict:
    """What a replay found: for a valid trace the number of SWAPs and the final layout.

    ``reason`` is the class of the first broken rule, ``detail`` says it for people. For
    ``gates_left`` the number of operations that ran is given too.
    """

    valid: bool
    swap_count: int | None = None
    final_layout: tuple[int, ...] | None = None
    reason: str = ""
    detail: str = ""
    executed_gates: int | None = None
    total_gates: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The verdict as JSON values; what is not defined is left out."""
        if self.valid:
            assert self.swap_count is not None
            assert self.final_layout is not None
            return {
                "valid": True,
                "swap_count": self.swap_count,
                "cnot_added": CNOTS_PER_SWAP * self.swap_count,
                "final_layout": list(self.final_layout),
            }
        record = {"valid": False, "reason": self.reason, "detail": self.detail}
        if self.executed_gates is None:
            return record
        return {**record, "executed_gates": self.executed_gates, "total_gates": self.total_gates}


class _Broken(Exception):
    """A rule is broken: ``reason`` (its class) and a sentence."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def check_record(circuit: Circuit, topology: Topology, record: Any) -> Verdict:
    """Check ``{"initial_layout", "swaps"}`` or ``{"initial_layout", "schedule"}``."""
    if not isinstance(record, dict):
        return Verdict(False, reason="swap_format", detail="the trace is not an object")
    layout = record.get("initial_layout")
    if "schedule" in record:
        return check_schedule(circuit, topology, layout, record["schedule"])
    return check_swap_trace(circuit, topology, layout, record.get("swaps"))


def check_swap_trace(
    circuit: Circuit,
    topology: Topology,
    layout: Any,
    swaps: Any,
    dependencies: Dependencies | None = None,
) -> Verdict:
    """Replay untrusted ``layout`` and ``swaps``; never raises for what they hold.

    ``dependencies`` are the circuit's, where the caller checks it on several devices.
    """
    dependencies = dependencies or Dependencies.of(circuit)
    try:
        placed = _checked_layout(layout, circuit.num_qubits, topology.num_qubits)
        if not isinstance(swaps, list):
            raise _Broken("swap_format", "swaps is not a list")
        for number, swap in enumerate(swaps):
            _check_swap(swap, topology, f"swap {number}")
    except _Broken as broken:
        return Verdict(False, reason=broken.reason, detail=str(broken))
    return _replay(dependencies, topology, placed, swaps)


def _checked_layout(layout: Any, num_logical: int, num_physical: int) -> list[int]:
    if not isinstance(layout, list) or len(layout) != num_logical:
        size = f"{len(layout)} entries" if isinstance(layout, list) else "no list"
        raise _Broken("layout_length", f"the layout has {size}; it needs {num_logical} entries")
    for place in layout:
        if type(place) is not int:
            raise _Broken("layout_type", "the layout must hold plain whole numbers only")
    for place in layout:
        if not 0 <= place < num_physical:
            raise _Broken("layout_range", f"qubit {place}: the device has 0 to {num_physical - 1}")
    if len(set(layout)) != len(layout):
        raise _Broken("layout_not_injective", "two logical qubits share a physical one")
    return list(layout)


def _check_swap(swap: Any, topology: Topology, what: str) -> None:
    if not isinstance(swap, list) or len(swap) != 2:
        raise _Broken("swap_format", f"{what} is not a list of two qubits")
    a, b = swap
    if type(a) is not int or type(b) is not int:
        raise _Broken("swap_format", f"{what} must hold plain whole numbers")
    if not (0 <= a < topology.num_qubits and 0 <= b < topology.num_qubits):
        raise _Broken("swap_range", f"{what}: the device has 0 to {topology.num_qubits - 1}")
    if b not in topology.neighbour_sets[a]:
        raise _Broken("swap_not_an_edge", f"{what}: {a} and {b} are not coupled")


def _replay(
    dependencies: Dependencies, topology: Topology, layout: list[int], swaps: list[list[int]]
) -> Verdict:
    """Greedy execution of joint operations; those on a single wire follow by themselves."""
    joint = dependencies.joint
    head = list(dependencies.first)
    arrived = [0] * len(joint)  # wires whose earlier operations are done
    adjacent = topology.neighbour_sets
    place = layout
    occupant: list[int | None] = [None] * topology.num_qubits
    for logical, physical in enumerate(place):
        occupant[physical] = logical
    waiting: list[int | None] = [None] * len(head)  # per wire: a gate that only lacks a coupling
    executed = 0
    ready: list[int] = []
    for first in head:
        if first is not None:
            arrived[first] += 1
            if arrived[first] == len(joint[first].wires):
                ready.append(first)

    def drain() -> None:
        nonlocal executed
        while ready:
            number = ready.pop()
            operation = joint[number]
            if operation.coupled:
                a, b = operation.wires
                if place[b] not in adjacent[place[a]]:
                    waiting[a] = waiting[b] = number
                    continue
                waiting[a] = waiting[b] = None
            executed += 1
            for wire, following in zip(operation.wires, operation.next, strict=True):
                head[wire] = following
                if following is not None:
                    arrived[following] += 1
                    if arrived[following] == len(joint[following].wires):
                        ready.append(following)

    drain()
    for a, b in swaps:
        left, right = occupant[a], occupant[b]
        occupant[a], occupant[b] = right, left
        if left is not None:
            place[left] = b
            if waiting[left] is not None:
                ready.append(waiting[left])  # type: ignore[arg-type]
        if right is not None:
            place[right] = a
            if waiting[right] is not None and (left is None or waiting[right] != waiting[left]):
                ready.append(waiting[right])  # type: ignore[arg-type]
        drain()
    if executed == len(joint):
        return Verdict(True, swap_count=len(swaps), final_layout=tuple(place))
    return _gates_left(executed + dependencies.single_before(head), dependencies.total)


def _gates_left(executed: int, total: int) -> Verdict:
    return Verdict(
        False,
        reason="gates_left",
        detail=f"{total - executed} of {total} gates could not be executed",
        executed_gates=executed,
        total_gates=total,
    )


def check_schedule(circuit: Circuit, topology: Topology, layout: Any, schedule: Any) -> Verdict:
    """Check an explicit order: operation numbers (file order) and SWAPs ``[a, b]``."""
    try:
        place = _checked_layout(layout, circuit.num_qubits, topology.num_qubits)
        if not isinstance(schedule, list):
            raise _Broken("schedule_format", "the schedule is not a list")
        executed, swap_count = _follow(circuit, topology, place, schedule)
    except _Broken as broken:
        return Verdict(False, reason=broken.reason, detail=str(broken))
    total = len(circuit.operations)
    if executed < total:
        return _gates_left(executed, total)
    return Verdict(True, swap_count=swap_count, final_layout=tuple(place))


def _follow(
    circuit: Circuit, topology: Topology, place: list[int], schedule: list[Any]
) -> tuple[int, int]:
    """Execute a schedule, moving ``place``; the number of operations and of SWAPs in it."""
    occupant: list[int | None] = [None] * topology.num_qubits
    for logical, physical in enumerate(place):
        occupant[physical] = logical
    rank, done = circuit_ranks(circuit), [0] * circuit.num_wires
    swap_count = 0
    for position, item in enumerate(schedule):
        if type(item) is int:
            _execute(circuit, topology, place, rank, done, item)
            continue
        _check_swap(item, topology, f"item {position}")
        a, b = item
        occupant[a], occupant[b] = occupant[b], occupant[a]
        for physical in (a, b):
            logical = occupant[physical]
            if logical is not None:
                place[logical] = physical
        swap_count += 1
    return len(schedule) - swap_count, swap_count


def _execute(
    circuit: Circuit,
    topology: Topology,
    place: list[int],
    rank: list[tuple[int, ...]],
    done: list[int],
    number: int,
) -> None:
    if not 0 <= number < len(circuit.operations):
        raise _Broken("gate_index", f"there is no gate {number}")
    operation = circuit.operations[number]
    wires = circuit.wires(operation)
    if any(done[wire] != turn for wire, turn in zip(wires, rank[number], strict=True)):
        raise _Broken("gate_order", f"gate {number} is not next on its qubits")
    if operation.needs_coupling:
        a, b = (place[qubit] for qubit in operation.qubits)
        if b not in topology.neighbour_sets[a]:
            raise _Broken("gate_not_on_edge", f"gate {number}: {a} and {b} are not coupled")
    for wire in wires:
        done[wire] += 1


def circuit_ranks(circuit: Circuit) -> list[tuple[int, ...]]:
    """For each operation, how many operations precede it on each of its wires."""
    counts = [0] * circuit.num_wires
    ranks = []
    for operation in circuit.operations:
        wires = circuit.wires(operation)
        ranks.append(tuple(counts[wire] for wire in wires))
        for wire in wires:
            counts[wire] += 1
    return ranks
