"""Views of circuit, device and layout. Read-only: a policy that changes them corrupts its run.

The methods are those of the Rust track. Where Rust hands out a slice this gives a list or tuple
that belongs to the router and changes as the run goes on; copy what is to be kept. Views may be
stored in a policy: copies of the policy share them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from .device import RoutingTarget
from .layout import Layout
from .routing_dag import DagNodeKind, Node, RoutingDag


class RemainingNodeState(Enum):
    """Pending: waits for other nodes; Ready: waits for a coupling; Executed."""

    PENDING = "Pending"
    READY = "Ready"
    EXECUTED = "Executed"


class View:
    """Shared, not copied, when a policy that holds it is copied."""

    __slots__ = ()

    def __deepcopy__(self, memo: dict[int, Any]) -> View:
        return self


class DagNodeView(View):
    """One routing node."""

    __slots__ = ("_node",)

    def __init__(self, node: Node) -> None:
        self._node = node

    def kind(self) -> DagNodeKind:
        return self._node.kind

    def name(self) -> str:
        return self._node.name

    def qargs(self) -> tuple[int, ...]:
        return self._node.qargs

    def cargs(self) -> tuple[int, ...]:
        return ()

    def successors(self) -> list[int]:
        return self._node.successors

    def predecessors(self) -> list[int]:
        return self._node.predecessors

    def block_count(self) -> int:
        return 0

    def is_two_qubit(self) -> bool:
        return self._node.kind is DagNodeKind.TWO_Q

    def two_qubit_pair(self) -> tuple[int, int] | None:
        return self._node.pair


class CircuitDagView(View):
    """The whole circuit as routing nodes."""

    __slots__ = ("_dag", "_views")

    def __init__(self, dag: RoutingDag) -> None:
        self._dag = dag
        self._views = [DagNodeView(node) for node in dag.nodes]

    def num_logical_qubits(self) -> int:
        return self._dag.num_qubits

    def node_count(self) -> int:
        return len(self._views)

    def node_ids(self) -> range:
        return range(len(self._views))

    def node(self, node_id: int) -> DagNodeView:
        return self._views[node_id]

    def first_layer_node_ids(self) -> list[int]:
        return self._dag.first_layer

    def used_logical_qubits(self) -> list[int]:
        return self._dag.used_qubits

    def logical_interaction_components(self) -> list[list[int]]:
        return self._dag.components


class TopologyView(View):
    """The device."""

    __slots__ = ("_target",)

    def __init__(self, target: RoutingTarget) -> None:
        self._target = target

    def num_qubits(self) -> int:
        return self._target.num_qubits

    def num_edges(self) -> int:
        return len(self._target.edges)

    def edges(self) -> tuple[tuple[int, int], ...]:
        """Sorted pairs, sorted."""
        return self._target.edges

    def neighbors(self, qubit: int) -> tuple[int, ...]:
        """Ascending."""
        return self._target.adjacency[qubit]

    def degree(self, qubit: int) -> int:
        return len(self._target.adjacency[qubit])

    def max_degree(self) -> int:
        return max(map(len, self._target.adjacency))

    def distance(self, a: int, b: int) -> int:
        """Edges on a shortest path; 2**32 - 1 where there is none."""
        return self._target.distances[a][b]

    def distances(self) -> tuple[tuple[int, ...], ...]:
        return self._target.distances

    def shortest_path(self, a: int, b: int) -> list[int]:
        """With both ends; empty where there is none."""
        return self._target.shortest_path(a, b)

    def connected_components(self) -> tuple[tuple[int, ...], ...]:
        """Members ascending; largest component first."""
        return self._target.components

    def component_of_physical(self, qubit: int) -> int:
        return self._target.component_of[qubit]

    def is_adjacent(self, a: int, b: int) -> bool:
        return b in self._target.coupled[a]


class LayoutView(View):
    """Where the logical qubits sit now."""

    __slots__ = ("_layout",)

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def num_logical(self) -> int:
        return len(self._layout.l2p)

    def num_physical(self) -> int:
        return len(self._layout.p2l)

    def physical_of_logical(self, logical: int) -> int:
        return self._layout.l2p[logical]

    def logical_of_physical(self, physical: int) -> int | None:
        return self._layout.p2l[physical]

    def logical_to_physical(self) -> list[int]:
        return self._layout.l2p

    def physical_to_logical(self) -> list[int | None]:
        return self._layout.p2l


class FrontLayerView(View):
    """The gates that only lack a coupling, in the order in which they came to the front."""

    __slots__ = ("_layout", "_pairs")

    def __init__(self, pairs: Mapping[int, tuple[int, int]], layout: Layout) -> None:
        self._pairs = pairs
        self._layout = layout

    def __len__(self) -> int:
        return len(self._pairs)

    def is_empty(self) -> bool:
        return not self._pairs

    def node_ids(self) -> list[int]:
        return list(self._pairs)

    def logical_pair(self, node_id: int) -> tuple[int, int] | None:
        return self._pairs.get(node_id)

    def physical_pair(self, node_id: int) -> tuple[int, int] | None:
        pair = self._pairs.get(node_id)
        l2p = self._layout.l2p
        return None if pair is None else (l2p[pair[0]], l2p[pair[1]])

    def active_logical_qubits(self) -> list[int]:
        """Each once, in the order of first sight."""
        return list(dict.fromkeys(qubit for pair in self._pairs.values() for qubit in pair))

    def active_physical_qubits(self) -> list[int]:
        l2p = self._layout.l2p
        return [l2p[qubit] for qubit in self.active_logical_qubits()]

    def physical_pairs(self) -> list[tuple[int, int]]:
        l2p = self._layout.l2p
        return [(l2p[a], l2p[b]) for a, b in self._pairs.values()]


class RemainingDagView(View):
    """What is still to be executed."""

    __slots__ = ("_circuit", "_front", "_lists", "_missing", "_states")

    def __init__(
        self,
        circuit: CircuitDagView,
        states: Sequence[RemainingNodeState],
        missing: list[int],
        lists: tuple[list[int], list[int], list[int]],
        front: Mapping[int, tuple[int, int]],
    ) -> None:
        self._circuit = circuit
        self._states = states
        self._missing = missing
        self._lists = lists
        self._front = front

    def circuit(self) -> CircuitDagView:
        return self._circuit

    def state(self, node_id: int) -> RemainingNodeState:
        return self._states[node_id]

    def is_executed(self, node_id: int) -> bool:
        return self._states[node_id] is RemainingNodeState.EXECUTED

    def remaining_predecessor_count(self, node_id: int) -> int:
        return self._missing[node_id]

    def remaining_predecessor_counts(self) -> list[int]:
        return self._missing

    def ready_node_ids(self) -> list[int]:
        return self._lists[0]

    def pending_node_ids(self) -> list[int]:
        """Everything that has not been executed."""
        return self._lists[1]

    def unexecuted_node_ids(self) -> list[int]:
        return self._lists[1]

    def remaining_two_qubit_node_ids(self) -> list[int]:
        return self._lists[2]

    def front_layer_node_ids(self) -> list[int]:
        return list(self._front)
