"""The device: couplings, distances and components of its graph."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

UNREACHABLE = (1 << 32) - 1
"""The distance between qubits of different components."""


class RoutingTarget:
    """An undirected coupling map on ``num_qubits`` physical qubits.

    ``edges``: sorted pairs, sorted; ``adjacency``: neighbours, ascending; ``distances``: number of
    edges between each two qubits; ``components``: members ascending, largest component first.
    """

    def __init__(self, num_qubits: int, edges: Sequence[Sequence[int]]) -> None:
        self.num_qubits = num_qubits
        self.edges = tuple(sorted({(min(a, b), max(a, b)) for a, b in edges}))
        neighbours: list[list[int]] = [[] for _ in range(num_qubits)]
        for a, b in self.edges:
            neighbours[a].append(b)
            neighbours[b].append(a)
        self.adjacency = tuple(tuple(sorted(qubits)) for qubits in neighbours)
        self.coupled = tuple(frozenset(qubits) for qubits in neighbours)
        self.distances = tuple(self._distances_from(qubit) for qubit in range(num_qubits))
        self.components = self._components()
        self.component_of = [0] * num_qubits
        for index, members in enumerate(self.components):
            for qubit in members:
                self.component_of[qubit] = index

    def _distances_from(self, start: int) -> tuple[int, ...]:
        found = [UNREACHABLE] * self.num_qubits
        found[start] = 0
        queue = deque([start])
        while queue:
            qubit = queue.popleft()
            for neighbour in self.adjacency[qubit]:
                if found[neighbour] == UNREACHABLE:
                    found[neighbour] = found[qubit] + 1
                    queue.append(neighbour)
        return tuple(found)

    def _components(self) -> tuple[tuple[int, ...], ...]:
        seen: set[int] = set()
        found = []
        for qubit in range(self.num_qubits):
            if qubit not in seen:
                reached = self.distances[qubit]
                members = tuple(q for q in range(self.num_qubits) if reached[q] != UNREACHABLE)
                seen.update(members)
                found.append(members)
        return tuple(sorted(found, key=len, reverse=True))

    def shortest_path(self, start: int, end: int) -> list[int]:
        """A shortest path with both ends, found breadth first with neighbours ascending.

        Empty when there is none.
        """
        came_from = {start: start}
        queue = deque([start])
        while queue and end not in came_from:
            qubit = queue.popleft()
            for neighbour in self.adjacency[qubit]:
                if neighbour not in came_from:
                    came_from[neighbour] = qubit
                    queue.append(neighbour)
        if end not in came_from:
            return []
        path = [end]
        while path[-1] != start:
            path.append(came_from[path[-1]])
        return path[::-1]
