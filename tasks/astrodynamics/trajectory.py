"""A trajectory as plain data, and as the evaluator's nodes: the first of the validity checks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from benchmark.artifact import Plain
from benchmark.candidates import type_name
from benchmark.evaluator import Invalid
from tasks.astrodynamics.mission import Mission
from tasks.astrodynamics.tools.orbits.constants import PLANETS
from tasks.astrodynamics.tools.orbits.vectors import Triple

KINDS = ("start", "GA", "DSM", "end")
VECTORS = ("r", "v_before", "v_after")
KEYS = ("type", "time", "planet_id", *VECTORS)
NO_PLANET = "0"
_LABELS = {"start": "start", "GA": "flyby", "end": "end"}


@dataclass(frozen=True)
class Node:
    """A point where the velocity changes: km and km/s, heliocentric J2000; ``time`` MJD UTC."""

    kind: str
    time: float
    planet_id: str
    r: Triple
    v_before: Triple
    v_after: Triple

    @property
    def at_planet(self) -> bool:
        """Whether the node lies at a planet."""
        return self.planet_id != NO_PLANET

    @property
    def place(self) -> str:
        """What a person would call it: the planet, a manoeuvre, or the given target."""
        return PLANETS.get(self.planet_id, "DSM" if self.kind == "DSM" else "target")

    @property
    def label(self) -> str:
        """Type and place."""
        return self.place if self.kind == "DSM" else f"{_LABELS[self.kind]} {self.place}"


def plain_trajectory(returned: Any) -> list[Plain]:
    """What a program returned, as JSON values: the six keys of each node and nothing else.

    Numpy scalars become numbers and arrays lists. Raises :class:`Invalid` for other containers or
    values; missing keys and wrong numbers are left to :func:`parse`.
    """
    if not isinstance(returned, list):
        _refuse(f"run_code must return a list of nodes, not a {type_name(returned)}")
    return [_plain_node(index, node) for index, node in enumerate(returned)]


def _plain_node(index: int, node: Any) -> dict[str, Plain]:
    if not isinstance(node, Mapping):
        _refuse(f"node {index} is a {type_name(node)}, not a dict")
    return {key: _plain(index, key, node[key]) for key in KEYS if key in node}


def _plain(index: int, key: str, value: Any) -> Plain:
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind not in "biufU":
            _refuse(f"node {index}: {key} holds values of type {value.dtype}")
        plain: Plain = value.tolist()
        return plain
    if isinstance(value, list | tuple):
        return [_plain(index, key, item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    _refuse(f"node {index}: {key} is or holds a {type_name(value)}")


def parse(trajectory: Any, mission: Mission) -> list[Node]:
    """The nodes of a trajectory. Raises :class:`Invalid` with a reason that starts ``schema:``."""
    if not isinstance(trajectory, list):
        _refuse(f"the trajectory must be a list of nodes, not a {type_name(trajectory)}")
    if not 2 <= len(trajectory) <= mission.max_nodes:
        _refuse(f"{len(trajectory)} nodes; allowed are 2 to {mission.max_nodes}")
    nodes = [_node(index, entry) for index, entry in enumerate(trajectory)]
    for problem in _structure(nodes, mission):
        _refuse(problem)
    return nodes


def _node(index: int, entry: Any) -> Node:
    if not isinstance(entry, Mapping):
        _refuse(f"node {index} is a {type_name(entry)}, not an object with the keys {KEYS}")
    for key in KEYS:
        if key not in entry:
            _refuse(f"node {index} has no {key}")
    kind, planet_id = entry["type"], entry["planet_id"]
    if not isinstance(kind, str) or kind not in KINDS:
        _refuse(f"node {index} has the type {_shown(kind)}; use one of {', '.join(KINDS)}")
    time = _number(entry["time"])
    if time is None:
        _refuse(f"node {index} has the time {_shown(entry['time'])}; need a finite number (MJD)")
    if not isinstance(planet_id, str) or planet_id not in (NO_PLANET, *PLANETS):
        _refuse(f'node {index} has the planet_id {_shown(planet_id)}; use a text "0" to "8"')
    r, v_before, v_after = (_vector(index, key, entry[key]) for key in VECTORS)
    return Node(kind, time, planet_id, r, v_before, v_after)


def _vector(index: int, key: str, value: Any) -> Triple:
    items = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(items, list | tuple) or len(items) != 3:
        _refuse(f"node {index}: {key} is not a vector of three numbers")
    x, y, z = (_number(item) for item in items)
    if x is None or y is None or z is None:
        _refuse(f"node {index}: {key} = {_shown(items)} is not three finite numbers")
    return x, y, z


def _number(value: Any) -> float | None:
    """A finite real number as a float, ``None`` for anything else (booleans, texts, NaN)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _structure(nodes: list[Node], mission: Mission) -> Iterator[str]:
    """What is wrong with the nodes' types, bodies, order and numbers, in the order of the rules."""
    start, *middle, end = nodes
    if start.kind != "start" or end.kind != "end":
        yield f"the first node must be a start and the last an end, not {start.kind}, {end.kind}"
    for index, node in enumerate(middle, 1):
        if node.kind not in ("GA", "DSM"):
            yield f"node {index} is a second {node.kind}; between start and end use GA or DSM"
    for index, node in enumerate(middle, 1):
        if node.kind == "DSM" and node.at_planet:
            yield f'node {index} is a DSM at planet {node.planet_id}; a DSM has planet_id "0"'
        if node.kind == "GA" and not node.at_planet:
            yield f'node {index} is a GA without a planet (planet_id "0")'
    for name, node, boundary in (("start", start, mission.start), ("end", end, mission.end)):
        if node.planet_id != boundary.planet_id:
            yield f'the {name} has planet_id "{node.planet_id}" instead of "{boundary.planet_id}"'
        if boundary.by_periapsis and not node.at_planet:
            yield f"the {name} is a periapsis manoeuvre and needs a planet"
    for index, node in enumerate(middle, 1):
        if node.kind == "GA" and node.planet_id not in mission.flyby_bodies:
            allowed = ", ".join(sorted(mission.flyby_bodies))
            yield f"node {index} flies by planet {node.planet_id}; allowed are {allowed}"
    for index, (before, after) in enumerate(pairwise(nodes)):
        if not before.time < after.time:
            yield f"node {index + 1} (MJD {after.time}) is not later than node {index}"
    for kind, most in (("GA", mission.max_flybys), ("DSM", mission.max_manoeuvres)):
        count = sum(node.kind == kind for node in middle)
        if count > most:
            yield f"{count} {kind} nodes; at most {most} are allowed"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _refuse(problem: str) -> NoReturn:
    raise Invalid(f"schema: {problem}")
