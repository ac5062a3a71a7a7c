"""Where logical qubits sit."""

from __future__ import annotations

from collections.abc import Sequence


class Layout:
    """An injective map from logical to physical qubits, kept in both directions."""

    __slots__ = ("l2p", "p2l")

    def __init__(self, l2p: Sequence[int], num_physical: int) -> None:
        self.l2p = list(l2p)
        self.p2l: list[int | None] = [None] * num_physical
        for logical, physical in enumerate(self.l2p):
            self.p2l[physical] = logical

    def swap(self, a: int, b: int) -> None:
        """Exchange what sits on two physical qubits."""
        left, right = self.p2l[a], self.p2l[b]
        self.p2l[a], self.p2l[b] = right, left
        if left is not None:
            self.l2p[left] = b
        if right is not None:
            self.l2p[right] = a
