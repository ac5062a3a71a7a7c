"""Axis-parallel polygons on integer points: are they valid, and which points do they enclose?

Both questions are answered on the polygon's own lattice, the crossings of all its x and y: at most
500 by 500 places for 1000 vertices. All arithmetic is on integers.
"""

from __future__ import annotations

from itertools import islice

import numpy as np
from numpy.typing import NDArray

from tasks.algorithm_engineering.ahc039.generator import SIDE
from tasks.algorithm_engineering.cases import WrongAnswer
from tasks.algorithm_engineering.tokens import WORD, shown, whole_number

MIN_VERTICES, MAX_VERTICES = 4, 1000
MAX_LENGTH = 400_000

Points = NDArray[np.int64]
"""Shape (n, 2): x, y."""


def last_polygon(text: str) -> Points | None:
    """The last polygon of an output, ``None`` for an output without any word.

    Earlier ones must parse, but need not be valid. Raises :class:`WrongAnswer` otherwise.
    """
    words = (match[0] for match in WORD.finditer(text))
    last: list[int] | None = None
    for word in words:
        vertices = _in_range(word, MIN_VERTICES, MAX_VERTICES, "number of vertices")
        last = [_in_range(w, 0, SIDE, "coordinate") for w in islice(words, 2 * vertices)]
        if len(last) < 2 * vertices:
            raise WrongAnswer(f"the output ends within a polygon of {vertices} vertices")
    return None if last is None else np.array(last, dtype=np.int64).reshape(-1, 2)


def _in_range(word: str, low: int, high: int, name: str) -> int:
    number = whole_number(word)
    if number is None:
        raise WrongAnswer(f"{shown(word)} is no whole number ({name})")
    if not low <= number <= high:
        raise WrongAnswer(f"{name} {number} is not in {low} to {high}")
    return number


class Polygon:
    """A valid polygon. Raises :class:`WrongAnswer` for vertices that do not make one."""

    def __init__(self, vertices: Points) -> None:
        self.vertices = vertices
        self.xs, self.columns = np.unique(vertices[:, 0], return_inverse=True)
        self.ys, self.rows = np.unique(vertices[:, 1], return_inverse=True)
        _check_steps(vertices)
        self.corner = self._corners()
        self.vertical, vertical_starts = self._cover(self.columns, self.rows, vertical=True)
        horizontal, horizontal_starts = self._cover(self.rows, self.columns, vertical=False)
        self.horizontal = horizontal.T
        self._check_contacts(vertical_starts, horizontal_starts.T)

    def _corners(self) -> NDArray[np.bool_]:
        """Lattice points that are vertices, (columns, rows)."""
        count = np.zeros((len(self.xs), len(self.ys)), dtype=np.int64)
        np.add.at(count, (self.columns, self.rows), 1)
        if count.max() > 1:
            raise WrongAnswer(f"vertex {self._place(count > 1)} appears twice")
        return count > 0

    def _cover(
        self, across: Points, along: Points, *, vertical: bool
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which steps between neighbouring lattice points the edges of one direction cover.

        Both results have the shape (lines, places): ``[i, j]`` tells of the step from place j to
        place j + 1 on line i, and whether an edge's lower end is place j.
        """
        next_across, next_along = np.roll(across, -1), np.roll(along, -1)
        chosen = across == next_across
        line = across[chosen]
        low = np.minimum(along, next_along)[chosen]
        high = np.maximum(along, next_along)[chosen]
        change = np.zeros((across.max() + 1, along.max() + 1), dtype=np.int64)
        np.add.at(change, (line, low), 1)
        np.add.at(change, (line, high), -1)
        count = np.cumsum(change, axis=1)
        if count.max() > 1:
            twice = count > 1
            raise WrongAnswer(f"edges overlap at {self._place(twice if vertical else twice.T)}")
        starts = np.zeros_like(count, dtype=bool)
        starts[line, low] = True
        return count > 0, starts

    def _check_contacts(
        self, vertical_starts: NDArray[np.bool_], horizontal_starts: NDArray[np.bool_]
    ) -> None:
        """No edge may meet another one but its neighbours in their common vertex."""
        inside_vertical = self.vertical & ~vertical_starts
        inside_horizontal = self.horizontal & ~horizontal_starts
        contact = inside_vertical & (inside_horizontal | self.corner)
        contact |= inside_horizontal & self.corner
        if contact.any():
            raise WrongAnswer(f"edges meet at {self._place(contact)}")

    def _place(self, marked: NDArray[np.bool_]) -> str:
        """The first marked lattice point."""
        column, row = np.argwhere(marked)[0]
        return f"({self.xs[column]}, {self.ys[row]})"

    def encloses(self, points: Points) -> NDArray[np.bool_]:
        """Which of the points (n, 2) lie inside or on the boundary."""
        # A cell reaches from its lattice point to the next ones in x and y, those left out.
        inside = np.logical_xor.accumulate(self.vertical, axis=0)
        x, y = points[:, 0], points[:, 1]
        column = np.searchsorted(self.xs, x, side="right") - 1
        row = np.searchsorted(self.ys, y, side="right") - 1
        near = (column >= 0) & (row >= 0)
        column, row = np.where(near, column, 0), np.where(near, row, 0)
        on_x, on_y = x == self.xs[column], y == self.ys[row]
        found = inside[column, row]
        found |= on_x & self.vertical[column, row]
        found |= on_y & self.horizontal[column, row]
        found |= on_x & on_y & self.corner[column, row]
        return found & near


def _check_steps(vertices: Points) -> None:
    """Edges are parallel to an axis, and not too long in all."""
    steps = np.abs(np.roll(vertices, -1, axis=0) - vertices)
    oblique = (steps > 0).all(axis=1)
    if oblique.any():
        first = int(np.argmax(oblique))
        raise WrongAnswer(f"edge {first} from {_pair(vertices[first])} is parallel to no axis")
    length = int(steps.sum())
    if length > MAX_LENGTH:
        raise WrongAnswer(f"the edges are {length} long, allowed is {MAX_LENGTH}")


def _pair(point: Points) -> str:
    return f"({point[0]}, {point[1]})"
