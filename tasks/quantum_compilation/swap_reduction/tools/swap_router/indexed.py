"""Collections whose order is part of the router's behaviour."""

from __future__ import annotations

from collections.abc import Iterable


class IndexedList(list[int]):
    """Distinct node ids; removing one moves the last into its place."""

    def __init__(self, items: Iterable[int] = ()) -> None:
        super().__init__(items)
        self._place = {item: index for index, item in enumerate(self)}

    def add(self, item: int) -> None:
        self._place[item] = len(self)
        self.append(item)

    def discard(self, item: int) -> None:
        index = self._place.pop(item, None)
        if index is None:
            return
        last = self.pop()
        if last != item:
            self[index] = last
            self._place[last] = index


def remove_by_swap(pairs: dict[int, tuple[int, int]], key: int) -> None:
    """Take ``key`` out of a dictionary and put the last entry into the hole."""
    keys = list(pairs)
    index, last = keys.index(key), keys[-1]
    behind = [(k, pairs.pop(k)) for k in keys[index:]]
    if last != key:
        pairs[last] = behind[-1][1]
        pairs.update(behind[1:-1])
