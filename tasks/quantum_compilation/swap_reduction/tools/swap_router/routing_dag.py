"""The circuit as a graph of routing nodes: two-qubit gates with what folds into them."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

Op = tuple[str, tuple[int, ...]]
"""An operation: its name and its qubits."""

DIRECTIVES = frozenset({"barrier", "delay"})


class DagNodeKind(Enum):
    """What a routing node is, by its first operation."""

    DIRECTIVE = "Directive"
    SINGLE_Q = "SingleQ"
    TWO_Q = "TwoQ"
    MULTI_Q = "MultiQ"
    CONTROL_FLOW = "ControlFlow"


@dataclass
class Node:
    """A routing node: its first operation, and all that fold into it (indices of operations)."""

    kind: DagNodeKind
    name: str
    qargs: tuple[int, ...]
    operations: list[int]
    successors: list[int] = field(default_factory=list)
    predecessors: list[int] = field(default_factory=list)
    pair: tuple[int, int] | None = field(init=False)
    """The two logical qubits of a two-qubit gate."""

    def __post_init__(self) -> None:
        two_qubit = self.kind is DagNodeKind.TWO_Q
        self.pair = (self.qargs[0], self.qargs[1]) if two_qubit else None


@dataclass
class RoutingDag:
    """Nodes by id (order of creation), and what a router asks first.

    ``first_layer``: nodes that wait for nothing; ``initial_operations``: those before any node;
    ``used_qubits``: ascending; ``components``: used qubits that gates connect.
    """

    num_qubits: int
    nodes: list[Node]
    first_layer: list[int]
    initial_operations: list[int]
    used_qubits: list[int]
    components: list[list[int]]


def build_dag(num_qubits: int, operations: Sequence[Op]) -> RoutingDag:
    """Walk the operations in topological order and make nodes of them."""
    owner: list[int | None] = [None] * num_qubits
    nodes: list[Node] = []
    first_layer: list[int] = []
    initial: list[int] = []
    for index in topological_order(num_qubits, operations):
        name, qubits = operations[index]
        kind = _kind(name, qubits)
        owners = {owner[qubit] for qubit in qubits}
        if owners <= {None}:
            if kind is not DagNodeKind.TWO_Q:
                initial.append(index)
                continue
            first_layer.append(len(nodes))
        elif len(owners) == 1:
            (only,) = owners
            assert only is not None
            if kind is not DagNodeKind.TWO_Q or _same_pair(nodes[only], qubits):
                nodes[only].operations.append(index)
                continue
        new = Node(kind, name, qubits, [index])
        for before in sorted(node for node in owners if node is not None):
            nodes[before].successors.append(len(nodes))
            new.predecessors.append(before)
        for qubit in qubits:
            owner[qubit] = len(nodes)
        nodes.append(new)
    used = sorted({qubit for _, qubits in operations for qubit in qubits})
    components = _components(used, operations)
    return RoutingDag(num_qubits, nodes, first_layer, initial, used, components)


def _kind(name: str, qubits: Sequence[int]) -> DagNodeKind:
    if name in DIRECTIVES:
        return DagNodeKind.DIRECTIVE
    kinds = {1: DagNodeKind.SINGLE_Q, 2: DagNodeKind.TWO_Q}
    return kinds.get(len(qubits), DagNodeKind.MULTI_Q)


def _same_pair(node: Node, qubits: Sequence[int]) -> bool:
    return node.pair is not None and set(node.pair) == set(qubits)


def topological_order(num_qubits: int, operations: Sequence[Op]) -> list[int]:
    """Indices of the operations, each behind those before it on its wires.

    Of the operations that could come next the one with the lexicographically smallest list of
    qubits does; the start of wire q counts as an item (q) behind every operation with that list.
    """
    following: list[list[int]] = [[] for _ in operations]
    starts: list[int | None] = [None] * num_qubits
    last: list[int | None] = [None] * num_qubits
    missing = [len(qubits) for _, qubits in operations]
    for index, (_, qubits) in enumerate(operations):
        for qubit in qubits:
            before = last[qubit]
            if before is None:
                starts[qubit] = index
            else:
                following[before].append(index)
            last[qubit] = index
    # Keys: qubits, 0 for an operation and 1 for a start of a wire, index.
    heap: list[tuple[tuple[int, ...], int, int]] = [((q,), 1, q) for q in range(num_qubits)]
    heap += [(qubits, 0, index) for index, (_, qubits) in enumerate(operations) if not qubits]
    heapq.heapify(heap)
    order: list[int] = []
    while heap:
        _, is_start, item = heapq.heappop(heap)
        if is_start:
            first = starts[item]
            released = [] if first is None else [first]
        else:
            order.append(item)
            released = following[item]
        for index in released:
            missing[index] -= 1
            if missing[index] == 0:
                heapq.heappush(heap, (operations[index][1], 0, index))
    return order


def _components(used: Sequence[int], operations: Sequence[Op]) -> list[list[int]]:
    """Used qubits joined by gates; members ascending, components by their first member."""
    root = {qubit: qubit for qubit in used}

    def find(qubit: int) -> int:
        while root[qubit] != qubit:
            root[qubit] = qubit = root[root[qubit]]
        return qubit

    for name, qubits in operations:
        if len(qubits) > 1 and name not in DIRECTIVES:
            for qubit in qubits[1:]:
                a, b = find(qubits[0]), find(qubit)
                root[max(a, b)] = min(a, b)
    groups: dict[int, list[int]] = {}
    for qubit in used:
        groups.setdefault(find(qubit), []).append(qubit)
    return list(groups.values())
