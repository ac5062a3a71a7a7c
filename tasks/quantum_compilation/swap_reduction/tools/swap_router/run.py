"""Routing one circuit once, from one initial layout."""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Sequence
from typing import Any

from .contexts import SwapSelectionContext
from .device import RoutingTarget
from .errors import RouterError
from .indexed import IndexedList, remove_by_swap
from .layout import Layout
from .look_ahead import LookAhead
from .random_numbers import RngState
from .routing_dag import RoutingDag
from .views import (
    CircuitDagView,
    FrontLayerView,
    LayoutView,
    RemainingDagView,
    RemainingNodeState,
    TopologyView,
)

Swap = tuple[int, int]
MAX_SWAPS_WITHOUT_PROGRESS = 1000

_EXECUTED, _READY = RemainingNodeState.EXECUTED, RemainingNodeState.READY


class Run:
    """The state of one routing run; :meth:`route` carries it out.

    ``swaps``: those inserted so far; ``forced``: how often the release valve had to help.
    """

    def __init__(
        self,
        dag: RoutingDag,
        target: RoutingTarget,
        layout: Sequence[int],
        circuit: CircuitDagView,
        topology: TopologyView,
    ) -> None:
        self.dag = dag
        self.target = target
        self.layout = Layout(layout, target.num_qubits)
        self.swaps: list[Swap] = []
        self.forced = 0
        self._missing = [len(node.predecessors) for node in dag.nodes]
        self._pairs = [node.pair for node in dag.nodes]
        self._states = [RemainingNodeState.PENDING] * len(dag.nodes)
        self._ready = IndexedList()
        self._pending = IndexedList(range(len(dag.nodes)))
        self._two_qubit = IndexedList(i for i, pair in enumerate(self._pairs) if pair is not None)
        self._front: dict[int, tuple[int, int]] = {}
        self._front_at: list[int | None] = [None] * dag.num_qubits  # by logical qubit
        lists = (self._ready, self._pending, self._two_qubit)
        remaining = RemainingDagView(circuit, self._states, self._missing, lists, self._front)
        self._context = SwapSelectionContext(
            topology, LayoutView(self.layout), remaining, FrontLayerView(self._front, self.layout)
        )

    def route(self, policy: Any, rng: RngState) -> None:
        """Execute everything. Raises :class:`RouterError` when the policy names no coupling."""
        self._execute(self.dag.first_layer)
        while self._front:
            current, routable = self._ask(policy, rng)
            if not routable:
                current, routable = self._release(current)
                self.forced += 1
            self.swaps += current
            for node in sorted(routable):
                self._leave_front(node)
            self._execute(sorted(routable))

    def _ask(self, policy: Any, rng: RngState) -> tuple[list[Swap], list[int]]:
        """Apply the policy's SWAPs until a front gate can run or it has no answer."""
        context, coupled = self._context, self.target.coupled
        current: list[Swap] = []
        routable: list[int] = []
        while not routable and len(current) <= MAX_SWAPS_WITHOUT_PROGRESS:
            context.swaps = len(current)
            context.last = current[-1] if current else None
            swap = policy.choose_best_swap(context, rng)
            if swap is None:
                break
            a, b = map(operator.index, swap)  # also numpy's numbers
            if not 0 <= a < len(coupled) or b not in coupled[a]:
                raise RouterError(f"choose_best_swap: {a} and {b} are not coupled")
            self.layout.swap(a, b)
            current.append((a, b))
            routable = self._routable_at(b, a)
        return current, routable

    def _routable_at(self, *physical: int) -> list[int]:
        """Front gates on these physical qubits whose qubits are adjacent now."""
        found: list[int] = []
        for qubit in physical:
            logical = self.layout.p2l[qubit]
            node = None if logical is None else self._front_at[logical]
            if node is not None and node not in found and self._is_adjacent(node):
                found.append(node)
        return found

    def _is_adjacent(self, node: int) -> bool:
        pair, l2p = self._pairs[node], self.layout.l2p
        return pair is None or l2p[pair[1]] in self.target.coupled[l2p[pair[0]]]

    def _release(self, current: list[Swap]) -> tuple[list[Swap], list[int]]:
        """Undo what led nowhere; bring the closest front gate together along a shortest path."""
        for swap in reversed(current):
            self.layout.swap(*swap)
        l2p, distances = self.layout.l2p, self.target.distances
        closest = min(
            self._front, key=lambda n: distances[l2p[self._front[n][0]]][l2p[self._front[n][1]]]
        )
        path = self.target.shortest_path(*(l2p[qubit] for qubit in self._front[closest]))
        if not path:
            raise RouterError("two qubits of a gate sit on unconnected parts of the device")
        half = len(path) // 2
        swaps = [(path[i], path[i + 1]) for i in range(half)]
        swaps += [(path[-1 - i], path[-2 - i]) for i in range(half - 1)]
        for swap in swaps:
            self.layout.swap(*swap)
        routable = [closest]
        if len(swaps) == 1:
            routable += [node for node in self._routable_at(*swaps[0]) if node != closest]
        return swaps, routable

    def _leave_front(self, node: int) -> None:
        for qubit in self._front[node]:
            self._front_at[qubit] = None
        remove_by_swap(self._front, node)

    def _execute(self, nodes: Sequence[int]) -> None:
        """Execute nodes and what follows from them; the rest of it comes to the front."""
        queue = deque(nodes)
        states, missing = self._states, self._missing
        while queue:
            node = queue.popleft()
            if states[node] is _EXECUTED:
                continue
            pair = self._pairs[node]
            if pair is not None and not self._is_adjacent(node):
                states[node] = _READY
                self._ready.add(node)
                self._front[node] = pair
                self._front_at[pair[0]] = self._front_at[pair[1]] = node
                continue
            states[node] = _EXECUTED
            self._ready.discard(node)
            self._pending.discard(node)
            self._two_qubit.discard(node)
            for following in self.dag.nodes[node].successors:
                missing[following] -= 1
                if missing[following] == 0:
                    queue.append(following)
        self._context.lookahead.stop()
        self._context.lookahead = LookAhead(self.dag.nodes, self._missing, self._front)
