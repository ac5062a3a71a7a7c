"""The two-qubit gates behind the front layer, found only as far as somebody looks."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

from .routing_dag import Node

Pair = tuple[int, int]
ENOUGH_PAIRS = 256


class LookAhead(Sequence[Pair]):
    """Logical pairs in breadth-first order; no further node is visited once there are enough.

    Searching in small steps saves most of the time of a policy that looks at the first few. The
    search ends for good when the router makes progress (:meth:`stop`): the counters that it
    started from are no longer there.
    """

    def __init__(self, nodes: Sequence[Node], missing: Sequence[int], front: Iterable[int]) -> None:
        self._nodes = nodes
        self._missing = missing
        self._left: dict[int, int] = {}
        self._queue = deque(front)
        self._found: list[Pair] = []

    def stop(self) -> None:
        """Keep what has been found and search no more."""
        self._queue.clear()

    def _search(self, wanted: int) -> None:
        found, left, queue, nodes = self._found, self._left, self._queue, self._nodes
        while queue and len(found) < wanted:
            for following in nodes[queue.popleft()].successors:
                left[following] = count = left.get(following, self._missing[following]) - 1
                if count == 0:
                    queue.append(following)
                    pair = nodes[following].pair
                    if pair is not None:
                        found.append(pair)
            if len(found) >= ENOUGH_PAIRS:
                queue.clear()

    def __len__(self) -> int:
        self._search(ENOUGH_PAIRS)
        return len(self._found)

    def __bool__(self) -> bool:
        self._search(1)
        return bool(self._found)

    @overload
    def __getitem__(self, index: int) -> Pair: ...
    @overload
    def __getitem__(self, index: slice) -> list[Pair]: ...
    def __getitem__(self, index: int | slice) -> Pair | list[Pair]:
        self._search(_needed(index))
        return self._found[index]

    def __iter__(self) -> Iterator[Pair]:
        self._search(ENOUGH_PAIRS)
        return iter(self._found)

    def __deepcopy__(self, memo: dict[int, Any]) -> LookAhead:
        return self


def _needed(index: int | slice) -> int:
    """How many pairs must have been found to answer ``index`` as the whole list would."""
    if isinstance(index, slice):
        forward = (index.step or 1) > 0 and (index.start or 0) >= 0
        last = index.stop if forward and index.stop is not None else -1
    else:
        last = index
    return min(last + 1, ENOUGH_PAIRS) if last >= 0 else ENOUGH_PAIRS
