"""Pictures of tours, readable in black and white.

Markers and hatches tell the kinds apart; numbers tie the maps, the list and the budget together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tasks.astrodynamics.flight import Flight
from tasks.astrodynamics.mission import Mission
from tasks.astrodynamics.tools.orbits.constants import AU_KM, DAY_S
from tasks.astrodynamics.tools.orbits.ephemeris import Ephemeris
from tasks.astrodynamics.tools.orbits.kepler_batch import propagate_batch
from tasks.astrodynamics.tools.orbits.vectors import Triple, Vector
from tasks.astrodynamics.trajectory import Node

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_OBLIQUITY = math.radians(23.43928)
_CENTRE = (0.0, 0.0, 0.0)
_MARKERS = {"start": "^", "GA": "o", "DSM": "D", "end": "s"}
_FILLS: dict[str, dict[str, Any]] = {
    "start": {"facecolor": "white", "hatch": "////"},
    "GA": {"facecolor": "black"},
    "DSM": {"facecolor": "0.75"},
    "end": {"facecolor": "white", "hatch": "...."},
}
_POINTS = 240  # of each arc and orbit
_INNER_AU, _OUTER_AU = 2.0, 7.0  # a tour with nodes on both sides needs a map of its inner part

_Line = tuple[Vector, Vector]


def draw_tour(
    flight: Flight, mission: Mission, ephemeris: Ephemeris, title: str, figure: Figure
) -> None:
    """Map, list of nodes and delta-v budget of a valid flight on an empty figure."""
    radii = [math.dist(node.r, _CENTRE) / AU_KM for node in flight.nodes]
    inner = {index: radius for index, radius in enumerate(radii) if radius < _INNER_AU}
    detailed = len(inner) > 1 and max(radii) > _OUTER_AU
    everything = set(range(len(radii)))
    columns = figure.add_gridspec(1, 2, width_ratios=(1.7, 1.0) if detailed else (1.1, 1.0))
    maps = columns[0].subgridspec(1, 2 if detailed else 1)
    orbits, arcs = _orbits(flight, mission, ephemeris), _arcs(flight, mission)
    whole = figure.add_subplot(maps[0])
    labels = everything - inner.keys() if detailed else everything
    _draw_map(whole, flight, orbits, arcs, _frame([*orbits, *arcs]), labels)
    whole.set_ylabel("ecliptic y, AU", fontsize=8)
    if detailed:
        part = figure.add_subplot(maps[1])
        _draw_map(part, flight, orbits, arcs, (0.0, 0.0, 1.3 * max(inner.values())), everything)
        whole.set_title("whole tour", fontsize=8)
        part.set_title("inner part", fontsize=8)
    right = columns[1].subgridspec(2, 1, height_ratios=(3.2, 1.0))
    _draw_list(figure.add_subplot(right[0]), flight)
    _draw_budget(figure.add_subplot(right[1]), flight)
    figure.suptitle(title, fontsize=11)


def _ecliptic(r: Vector) -> _Line:
    """Coordinates in the ecliptic plane, AU, of equatorial positions in km, shape (..., 3)."""
    x, y, z = (r[..., axis] / AU_KM for axis in range(3))
    return x, y * math.cos(_OBLIQUITY) + z * math.sin(_OBLIQUITY)


def _frame(lines: Sequence[_Line]) -> tuple[float, float, float]:
    """Centre and half-width of a square that holds all lines with some room for labels."""
    x, y = (np.concatenate([line[axis] for line in lines]) for axis in range(2))
    centre_x, centre_y = ((float(c.min()) + float(c.max())) / 2.0 for c in (x, y))
    return centre_x, centre_y, 0.6 * max(float(np.ptp(x)), float(np.ptp(y)))


def _orbits(flight: Flight, mission: Mission, ephemeris: Ephemeris) -> list[_Line]:
    """One revolution on the osculating orbit of each target, from its state at an encounter."""
    states: dict[str, tuple[Triple, Triple]] = {}
    for node in flight.nodes:
        if node.at_planet:
            states[node.planet_id] = ephemeris.state(node.planet_id, node.time)
    for name, boundary in (("start", mission.start), ("end", mission.end)):
        if boundary.state is not None:
            states[name] = boundary.state
    return [_revolution(r, v, mission.mu_sun) for r, v in states.values()]


def _revolution(r: Triple, v: Triple, mu: float) -> _Line:
    half_axis = 1.0 / (2.0 / math.dist(r, _CENTRE) - math.dist(v, _CENTRE) ** 2 / mu)
    period = 2.0 * math.pi * math.sqrt(half_axis**3 / mu)
    positions, _ = propagate_batch(r, v, np.linspace(0.0, period, _POINTS), mu)
    return _ecliptic(positions)


def _arcs(flight: Flight, mission: Mission) -> list[_Line]:
    arcs = []
    for a, b in pairwise(flight.nodes):
        times = np.linspace(0.0, (b.time - a.time) * DAY_S, _POINTS)
        positions, _ = propagate_batch(a.r, a.v_after, times, mission.mu_sun)
        arcs.append(_ecliptic(positions))
    return arcs


def _draw_map(
    axes: Axes,
    flight: Flight,
    orbits: list[_Line],
    arcs: list[_Line],
    frame: tuple[float, float, float],
    labels: set[int],
) -> None:
    """The ecliptic plane; ``frame`` is centre and half-width in AU, ``labels`` nodes to number."""
    centre_x, centre_y, half = frame
    for x, y in orbits:
        axes.plot(x, y, color="0.6", linewidth=0.7, linestyle=(0, (4, 2)), zorder=1)
    axes.plot(0.0, 0.0, marker="*", color="black", markersize=8, zorder=2)
    for x, y in arcs:
        axes.plot(x, y, color="black", linewidth=1.1, zorder=3)
    places: list[tuple[float, float]] = []
    for index, node in enumerate(flight.nodes):
        x, y = _ecliptic(np.array(node.r))
        at = (float(x), float(y))
        crowd = sum(math.dist(at, other) < 0.06 * half for other in places)
        places.append(at)
        _draw_marker(axes, *at, node)
        if index not in labels:
            continue
        outwards = (9.0 + 9.0 * crowd) / (math.hypot(*at) or 1.0)
        axes.annotate(
            str(index), at, xytext=(outwards * at[0], outwards * at[1]),
            textcoords="offset points", ha="center", va="center", fontsize=8, fontweight="bold",
            annotation_clip=True, zorder=5,
        )  # fmt: skip
    axes.set(xlim=(centre_x - half, centre_x + half), ylim=(centre_y - half, centre_y + half))
    axes.set_box_aspect(1.0)
    axes.set_xlabel("ecliptic x, AU", fontsize=8)
    axes.tick_params(labelsize=7)


def _draw_marker(axes: Axes, x: float, y: float, node: Node) -> None:
    face = "white" if node.kind == "DSM" else "black"
    axes.plot(
        x, y, marker=_MARKERS[node.kind], markersize=5, markerfacecolor=face,
        markeredgecolor="black", linestyle="none", zorder=4,
    )  # fmt: skip


def _draw_list(axes: Axes, flight: Flight) -> None:
    axes.axis("off")
    axes.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))
    row_height = 1.0 / max(len(flight.nodes), 8)
    for index, (node, dv) in enumerate(zip(flight.nodes, flight.node_dv, strict=True)):
        y = 1.0 - (index + 0.5) * row_height
        _draw_marker(axes, 0.09, y, node)
        for x, text in ((0.0, str(index)), (0.14, node.label), (0.46, date_of(node.time))):
            axes.text(x, y, text, fontsize=7, va="center")
        axes.text(1.0, y, f"{dv:.4f} km/s", fontsize=7, va="center", ha="right")


def _draw_budget(axes: Axes, flight: Flight) -> None:
    total = flight.total_dv
    left = 0.0
    for index, (node, dv) in enumerate(zip(flight.nodes, flight.node_dv, strict=True)):
        if dv > 0.002 * total:  # else thinner than its own outline
            axes.barh(0.0, dv, left=left, height=0.6, edgecolor="black", **_FILLS[node.kind])
        if dv > 0.06 * total:
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
            middle = left + dv / 2.0
            axes.text(middle, 0.0, str(index), ha="center", va="center", fontsize=7, bbox=box)
        left += dv
    axes.set(xlim=(0.0, 1.02 * total or 1.0), ylim=(-0.35, 0.35), yticks=[])
    axes.set_xlabel("delta-v, km/s", fontsize=8)
    axes.tick_params(labelsize=7)
    for side in ("top", "left", "right"):
        axes.spines[side].set_visible(False)
    _add_legend(axes, flight)


def _add_legend(axes: Axes, flight: Flight) -> None:
    from matplotlib.patches import Patch

    parts = {
        "start": ("start", flight.start_dv),
        "GA": ("flybys", flight.flyby_dv),
        "DSM": ("DSMs", flight.manoeuvre_dv),
        "end": ("end", flight.end_dv),
    }
    handles = [
        Patch(edgecolor="black", label=f"{name} {dv:.4f}", **_FILLS[kind])
        for kind, (name, dv) in parts.items()
    ]
    axes.legend(
        handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=7,
        frameon=False,
    )  # fmt: skip


def date_of(mjd: float) -> str:
    """Day of a modified Julian date."""
    return f"{datetime(1858, 11, 17) + timedelta(days=mjd):%Y-%m-%d}"
