"""Pictures of tours, readable in black and white.

Markers and hatches tell the kinds apart, numbers tie the map, the list and the budget together.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

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
_MARKERS = {"start": "^", "GA": "o", "DSM": "D", "end": "s"}
_NAMES = {"start": "start", "GA": "flybys", "DSM": "deep-space manoeuvres", "end": "end"}
_FILLS = {
    "start": {"facecolor": "white", "hatch": "////"},
    "GA": {"facecolor": "black", "hatch": ""},
    "DSM": {"facecolor": "0.75", "hatch": ""},
    "end": {"facecolor": "white", "hatch": "...."},
}
_ARC_POINTS = 240
_INSET_RATIO = 3.5  # how much larger the whole tour must be than its inner part


def draw_tour(
    flight: Flight, mission: Mission, ephemeris: Ephemeris, title: str, figure: Figure
) -> None:
    """Map, list of nodes and delta-v budget of a valid flight on an empty figure."""
    grid = figure.add_gridspec(2, 2, width_ratios=(1.25, 1.0), height_ratios=(3.2, 1.0))
    chart = figure.add_subplot(grid[:, 0])
    _draw_map(chart, flight, mission, ephemeris)
    _draw_inner_part(chart, flight, mission, ephemeris)
    _draw_list(figure.add_subplot(grid[0, 1]), flight)
    _draw_budget(figure.add_subplot(grid[1, 1]), flight)
    figure.suptitle(f"{title}: {flight.total_dv:.6f} km/s", fontsize=11)


def _ecliptic(r: Vector) -> tuple[Vector, Vector]:
    """Coordinates in the ecliptic plane, AU, of equatorial positions in km, shape (..., 3)."""
    x, y, z = (r[..., axis] / AU_KM for axis in range(3))
    return x, y * math.cos(_OBLIQUITY) + z * math.sin(_OBLIQUITY)


def _draw_map(axes: Axes, flight: Flight, mission: Mission, ephemeris: Ephemeris) -> None:
    for x, y in _orbits(flight, mission, ephemeris):
        axes.plot(x, y, color="0.6", linewidth=0.7, linestyle=(0, (4, 2)), zorder=1)
    axes.plot(0.0, 0.0, marker="*", color="black", markersize=8, zorder=2)
    for x, y in _arcs(flight, mission):
        axes.plot(x, y, color="black", linewidth=1.1, zorder=3)
    for index, node in enumerate(flight.nodes):
        _draw_node(axes, index, node)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("ecliptic x, AU", fontsize=8)
    axes.set_ylabel("ecliptic y, AU", fontsize=8)
    axes.tick_params(labelsize=7)


def _draw_inner_part(
    axes: Axes, flight: Flight, mission: Mission, ephemeris: Ephemeris
) -> None:
    """An inset of the inner solar system where the whole tour leaves it too small to read."""
    radii = [math.dist(node.r, (0.0, 0.0, 0.0)) / AU_KM for node in flight.nodes]
    inner = [radius for radius in radii if radius < max(radii) / _INSET_RATIO]
    if len(inner) < 2:
        return
    reach = 1.35 * max(inner)
    inset = axes.inset_axes(_emptiest_corner(axes, flight, mission))
    _draw_map(inset, flight, mission, ephemeris)
    inset.set(xlim=(-reach, reach), ylim=(-reach, reach), xlabel="", ylabel="")
    inset.set_xticks([-1, 0, 1])
    inset.set_yticks([-1, 0, 1])
    inset.tick_params(labelsize=6)


def _emptiest_corner(
    axes: Axes, flight: Flight, mission: Mission
) -> tuple[float, float, float, float]:
    """Bounds, in axes coordinates, of the corner with the least of the trajectory in it."""
    arcs = list(_arcs(flight, mission))
    x, y = (np.concatenate([arc[axis] for arc in arcs]) for axis in range(2))
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    column, row = (x - left) / (right - left), (y - bottom) / (top - bottom)
    size = 0.42
    corners = [(a, b, size, size) for a in (0.02, 0.56) for b in (0.02, 0.56)]
    return min(
        corners,
        key=lambda c: int(
            np.sum((column > c[0]) & (column < c[0] + size) & (row > c[1]) & (row < c[1] + size))
        ),
    )


def _orbits(
    flight: Flight, mission: Mission, ephemeris: Ephemeris
) -> list[tuple[Vector, Vector]]:
    """One revolution on the osculating orbit of each target, from its state at an encounter."""
    states: dict[str, tuple[Triple, Triple]] = {}
    for node in flight.nodes:
        if node.at_planet:
            states[node.planet_id] = ephemeris.state(node.planet_id, node.time)
    states.update(
        {
            name: boundary.state
            for name, boundary in (("start", mission.start), ("end", mission.end))
            if boundary.state is not None
        }
    )
    return [_revolution(r, v, mission.mu_sun) for r, v in states.values()]


def _revolution(r: Triple, v: Triple, mu: float) -> tuple[Vector, Vector]:
    speed_2 = math.dist(v, (0.0, 0.0, 0.0)) ** 2
    half_axis = 1.0 / (2.0 / math.dist(r, (0.0, 0.0, 0.0)) - speed_2 / mu)
    period = 2.0 * math.pi * math.sqrt(half_axis**3 / mu)
    positions, _ = propagate_batch(r, v, np.linspace(0.0, period, _ARC_POINTS), mu)
    return _ecliptic(positions)


def _arcs(flight: Flight, mission: Mission) -> list[tuple[Vector, Vector]]:
    arcs = []
    for a, b in pairwise(flight.nodes):
        times = np.linspace(0.0, (b.time - a.time) * DAY_S, _ARC_POINTS)
        positions, _ = propagate_batch(a.r, a.v_after, times, mission.mu_sun)
        arcs.append(_ecliptic(positions))
    return arcs


def _draw_node(axes: Axes, index: int, node: Node) -> None:
    x, y = _ecliptic(np.array(node.r))
    axes.plot(
        x,
        y,
        marker=_MARKERS[node.kind],
        markersize=5,
        markerfacecolor="white" if node.kind == "DSM" else "black",
        markeredgecolor="black",
        linestyle="none",
        zorder=4,
    )
    length = math.hypot(float(x), float(y)) or 1.0
    axes.annotate(
        str(index),
        (float(x), float(y)),
        xytext=(9.0 * float(x) / length, 9.0 * float(y) / length),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=8,
        fontweight="bold",
        annotation_clip=True,
        zorder=5,
    )


def _draw_list(axes: Axes, flight: Flight) -> None:
    axes.axis("off")
    for index, node in enumerate(flight.nodes):
        height = 1.0 - (index + 0.5) / max(len(flight.nodes), 8)
        axes.plot(
            0.06,
            height,
            marker=_MARKERS[node.kind],
            markersize=5,
            markerfacecolor="white" if node.kind == "DSM" else "black",
            markeredgecolor="black",
        )
        for place, text in (
            (0.0, str(index)),
            (0.12, node.place),
            (0.38, _date(node.time)),
            (0.68, f"{flight.node_dv[index]:.4f} km/s"),
        ):
            axes.text(place, height, text, fontsize=7.5, va="center")
    axes.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))


def _draw_budget(axes: Axes, flight: Flight) -> None:
    left = 0.0
    totals = dict.fromkeys(_MARKERS, 0.0)
    for node, cost in zip(flight.nodes, flight.node_dv, strict=True):
        axes.barh(0.0, cost, left=left, height=0.6, edgecolor="black", **_FILLS[node.kind])
        left += cost
        totals[node.kind] += cost
    for kind, total in totals.items():
        label = f"{_NAMES[kind]} {total:.4f}"
        axes.barh(0.0, 0.0, left=0.0, edgecolor="black", label=label, **_FILLS[kind])
    axes.set(xlim=(0.0, 1.02 * left or 1.0), ylim=(-0.4, 0.4), yticks=[])
    axes.set_xlabel("delta-v, km/s", fontsize=8)
    axes.tick_params(labelsize=7)
    axes.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize=7, frameon=False
    )
    for side in ("top", "left", "right"):
        axes.spines[side].set_visible(False)


def _date(mjd: float) -> str:
    return f"{datetime(1858, 11, 17) + timedelta(days=mjd):%Y-%m-%d}"
