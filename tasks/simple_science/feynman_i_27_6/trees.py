"""Edit distance of ordered labelled trees.

K. Zhang, D. Shasha, "Simple fast algorithms for the editing distance between trees and related
problems", SIAM J. Comput. 18 (1989) 1245. Inserting, deleting and renaming a node cost 1 each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product


@dataclass(frozen=True)
class Tree:
    """A node with its label and its ordered children."""

    label: str
    children: tuple[Tree, ...] = ()

    @property
    def size(self) -> int:
        """Number of nodes."""
        return 1 + sum(child.size for child in self.children)


class _Numbered:
    """A tree in postorder: label and leftmost leaf of each node, and the keyroots.

    A keyroot is the last node among those that share a leftmost leaf.
    """

    def __init__(self, tree: Tree) -> None:
        self.labels: list[str] = []
        self.leftmost: list[int] = []
        self._visit(tree)
        self.keyroots = sorted({leaf: node for node, leaf in enumerate(self.leftmost)}.values())

    def _visit(self, tree: Tree) -> int:
        leaves = [self._visit(child) for child in tree.children]
        leaf = leaves[0] if leaves else len(self.labels)
        self.labels.append(tree.label)
        self.leftmost.append(leaf)
        return leaf


def distance(first: Tree, second: Tree) -> int:
    """Least number of insertions, deletions and renamings that turn one tree into the other."""
    a, b = _Numbered(first), _Numbered(second)
    between: dict[tuple[int, int], int] = {}
    for i, j in product(a.keyroots, b.keyroots):
        between.update(_subtree_distances(a, b, i, j, between))
    return between[len(a.labels) - 1, len(b.labels) - 1]


def _subtree_distances(
    a: _Numbered, b: _Numbered, i: int, j: int, known: dict[tuple[int, int], int]
) -> Iterator[tuple[tuple[int, int], int]]:
    """Distances of the pairs of subtrees whose leftmost leaves are those of the keyroots i and j.

    ``forest[x, y]`` is the distance of the forests that end before nodes x and y.
    """
    start_a, start_b = a.leftmost[i], b.leftmost[j]
    forest = {(start_a, start_b): 0}
    for x in range(start_a, i + 1):
        forest[x + 1, start_b] = forest[x, start_b] + 1
    for y in range(start_b, j + 1):
        forest[start_a, y + 1] = forest[start_a, y] + 1
    for x, y in product(range(start_a, i + 1), range(start_b, j + 1)):
        steps = min(forest[x, y + 1], forest[x + 1, y]) + 1
        if a.leftmost[x] == start_a and b.leftmost[y] == start_b:
            renamed = forest[x, y] + (a.labels[x] != b.labels[y])
            forest[x + 1, y + 1] = min(steps, renamed)
            yield (x, y), forest[x + 1, y + 1]
        else:
            moved = forest[a.leftmost[x], b.leftmost[y]] + known[x, y]
            forest[x + 1, y + 1] = min(steps, moved)
