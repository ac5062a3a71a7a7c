"""Coupling maps: which physical qubits of a device can share a two-qubit gate."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

MAX_QUBITS = 100_000


class TopologyError(ValueError):
    """The file describes no device; the message says why."""


@dataclass(frozen=True)
class Topology:
    """An undirected graph; ``edges`` are pairs ``(a, b)`` with ``a < b``, sorted, without doubles.

    Raises :class:`TopologyError` for loops and for qubits outside ``0 .. num_qubits - 1``.
    """

    name: str
    num_qubits: int
    edges: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        for a, b in self.edges:
            if not (0 <= a < self.num_qubits and 0 <= b < self.num_qubits):
                raise TopologyError(f"edge [{a}, {b}] leaves the range 0 to {self.num_qubits - 1}")
            if a == b:
                raise TopologyError(f"edge [{a}, {b}] is a loop")
        pairs = {(min(edge), max(edge)) for edge in self.edges}
        object.__setattr__(self, "edges", tuple(sorted(pairs)))

    @cached_property
    def neighbours(self) -> tuple[tuple[int, ...], ...]:
        """The neighbours of each physical qubit, ascending."""
        found: list[list[int]] = [[] for _ in range(self.num_qubits)]
        for a, b in self.edges:
            found[a].append(b)
            found[b].append(a)
        return tuple(tuple(sorted(qubits)) for qubits in found)

    @cached_property
    def neighbour_sets(self) -> tuple[frozenset[int], ...]:
        """The neighbours of each physical qubit, for questions of adjacency."""
        return tuple(frozenset(qubits) for qubits in self.neighbours)


def read_topology(path: Path) -> Topology:
    """Read ``{"num_qubits": m, "edges": [[a, b], ...]}``.

    Raises :class:`TopologyError` naming the file, or ``OSError``.
    """
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise TopologyError(f"{path}: not JSON ({error})") from None
    try:
        return topology_from_json(content, path.stem)
    except TopologyError as error:
        raise TopologyError(f"{path}: {error}") from None


def topology_from_json(content: Any, name: str) -> Topology:
    """A device from a decoded JSON object; ``name`` where it carries none."""
    if not isinstance(content, dict):
        raise TopologyError("not an object with num_qubits and edges")
    num_qubits, edges = content.get("num_qubits"), content.get("edges")
    if type(num_qubits) is not int or not 0 < num_qubits <= MAX_QUBITS:
        raise TopologyError(f"num_qubits must be a whole number from 1 to {MAX_QUBITS}")
    if not isinstance(edges, list) or not all(_is_pair(edge) for edge in edges):
        raise TopologyError("edges must be a list of pairs of whole numbers")
    return Topology(str(content.get("name", name)), num_qubits, tuple((a, b) for a, b in edges))


def _is_pair(edge: Any) -> bool:
    return isinstance(edge, list) and len(edge) == 2 and all(type(end) is int for end in edge)


def line(length: int) -> Topology:
    """``length`` qubits in a row."""
    return Topology(f"line_{length}", length, tuple((i, i + 1) for i in range(length - 1)))


def ring(length: int) -> Topology:
    """``length`` qubits in a circle; at least 3."""
    edges = tuple((i, (i + 1) % length) for i in range(length))
    return Topology(f"ring_{length}", length, edges)


def grid(rows: int, columns: int) -> Topology:
    """A square lattice, numbered row by row."""
    edges = []
    for qubit in range(rows * columns):
        if (qubit + 1) % columns:
            edges.append((qubit, qubit + 1))
        if qubit + columns < rows * columns:
            edges.append((qubit, qubit + columns))
    return Topology(f"grid_{rows}x{columns}", rows * columns, tuple(edges))
