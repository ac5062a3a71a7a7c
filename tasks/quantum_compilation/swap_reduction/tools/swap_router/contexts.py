"""What a policy may look at for each of its two decisions."""

from __future__ import annotations

from .look_ahead import LookAhead
from .views import (
    CircuitDagView,
    FrontLayerView,
    LayoutView,
    RemainingDagView,
    TopologyView,
    View,
)


class InitialLayoutContext(View):
    """What a policy may look at when it chooses the initial layout."""

    __slots__ = ("_circuit", "_topology")

    def __init__(self, topology: TopologyView, circuit: CircuitDagView) -> None:
        self._topology = topology
        self._circuit = circuit

    def topology(self) -> TopologyView:
        return self._topology

    def circuit(self) -> CircuitDagView:
        return self._circuit


class SwapSelectionContext(View):
    """What a policy may look at when it chooses the next SWAP.

    The router keeps ``lookahead``, ``swaps`` and ``last`` up to date.
    """

    __slots__ = (
        "_circuit", "_front", "_layout", "_remaining", "_topology", "last", "lookahead", "swaps",
    )  # fmt: skip

    def __init__(
        self,
        topology: TopologyView,
        layout: LayoutView,
        remaining: RemainingDagView,
        front: FrontLayerView,
    ) -> None:
        self._topology = topology
        self._layout = layout
        self._circuit = remaining.circuit()
        self._remaining = remaining
        self._front = front
        self.lookahead = LookAhead((), (), ())
        self.swaps = 0
        self.last: tuple[int, int] | None = None

    def topology(self) -> TopologyView:
        return self._topology

    def layout(self) -> LayoutView:
        return self._layout

    def circuit(self) -> CircuitDagView:
        return self._circuit

    def remaining(self) -> RemainingDagView:
        return self._remaining

    def front_layer(self) -> FrontLayerView:
        return self._front

    def precomputed_extended_set_logical_pairs(self) -> LookAhead:
        """Two-qubit gates behind the front layer, breadth first, about 256 of them."""
        return self.lookahead

    def swaps_since_progress(self) -> int:
        return self.swaps

    def last_applied_swap(self) -> tuple[int, int] | None:
        return self.last
