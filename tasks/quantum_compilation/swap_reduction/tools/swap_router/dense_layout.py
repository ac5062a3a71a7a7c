"""Finding a well connected set of physical qubits."""

from __future__ import annotations

from collections.abc import Sequence


def best_subset(k: int, adjacency: Sequence[Sequence[int]]) -> list[int]:
    """``k`` qubits with many couplings among them, in breadth-first order from the best start.

    ``adjacency`` holds the neighbours of each qubit, ascending. From every start the first ``k``
    qubits of a breadth-first search are taken; the set with most couplings inside wins, the lowest
    start where sets are equal. Shorter than ``k`` when no component is large enough.
    """
    best: list[int] = []
    most = -1
    for start in range(len(adjacency)):
        chosen = _breadth_first(k, adjacency, start)
        members = set(chosen)
        inside = sum(neighbour in members for q in chosen for neighbour in adjacency[q])
        if inside > most:
            best, most = chosen, inside
    return best


def _breadth_first(k: int, adjacency: Sequence[Sequence[int]], start: int) -> list[int]:
    order: list[int] = []
    seen: set[int] = set()
    level = {start: None}  # a set that keeps the order of insertion
    while level and len(order) < k:
        following: dict[int, None] = {}
        for qubit in level:
            if qubit in seen:
                continue
            seen.add(qubit)
            order.append(qubit)
            if len(order) == k:
                break
            following.update(dict.fromkeys(adjacency[qubit]))
        level = following
    return order
