"""A problem instance as the evaluator reads it: where a tour starts and ends, and what it may do.

The instance itself is ``data/problem.json`` of each task, the same object that candidates get.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tasks.astrodynamics.tools.orbits.constants import DEFAULT_FLYBY_ALTITUDE_KM
from tasks.astrodynamics.tools.orbits.flyby import periapsis_manoeuvre, piecewise_linear
from tasks.astrodynamics.tools.orbits.vectors import Triple


@dataclass(frozen=True)
class Boundary:
    """Start or end of a tour.

    ``first`` and ``last`` are the inclusive epoch window (MJD UTC), equal for an exact epoch.
    ``state`` is position (km) and velocity (km/s) of a boundary that is no planet. The cost of the
    excess speed is either linear between ``breakpoints`` or that of a manoeuvre at the periapsis
    radius R (1 + ``h_factor``) into or out of an orbit with a period of ``period_days``.
    """

    planet_id: str
    first: float
    last: float
    state: tuple[Triple, Triple] | None
    breakpoints: tuple[tuple[float, float], ...]
    h_factor: float = 0.0
    period_days: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether the epoch is one instant."""
        return self.first == self.last

    @property
    def by_periapsis(self) -> bool:
        """Whether the cost is that of a periapsis manoeuvre."""
        return not self.breakpoints

    def cost(self, excess_speed: float, mu: float, radius: float) -> float:
        """Delta-v in km/s of an excess speed in km/s; ``mu``, ``radius`` are the planet's."""
        if self.by_periapsis:
            return periapsis_manoeuvre(excess_speed, mu, radius, self.h_factor, self.period_days)
        return piecewise_linear(self.breakpoints, excess_speed)


@dataclass(frozen=True)
class Mission:
    """One of the five problems; ``problem`` is the object that a candidate sees."""

    problem: Mapping[str, Any]
    start: Boundary
    end: Boundary
    mu_sun: float
    mu: Mapping[str, float]
    radius: Mapping[str, float]
    flyby_bodies: frozenset[str]
    min_altitude: Mapping[str, float]
    max_nodes: int
    max_flybys: int
    max_manoeuvres: int
    target_dv: float

    def lowest_periapsis(self, planet_id: str) -> float:
        """Smallest allowed periapsis radius of a flyby, km."""
        altitude = self.min_altitude.get(planet_id, DEFAULT_FLYBY_ALTITUDE_KM)
        return self.radius[planet_id] + altitude


@cache
def read_mission(folder: Path) -> Mission:
    """The instance of a task folder."""
    problem = json.loads((folder / "data" / "problem.json").read_text(encoding="utf-8"))
    return Mission(
        problem=problem,
        start=_boundary(problem["start"]),
        end=_boundary(problem["end"]),
        mu_sun=problem["mu_sun"],
        mu=problem["planet_mu"],
        radius=problem["planet_radius"],
        flyby_bodies=frozenset(problem["allowed_GA_planets"]),
        min_altitude=problem["flyby"]["min_altitude_km"],
        max_nodes=problem["max_nodes"],
        max_flybys=problem["max_GA"],
        max_manoeuvres=problem["max_DSM"],
        target_dv=problem["target_dv"],
    )


def _boundary(spec: Mapping[str, Any]) -> Boundary:
    time = spec["time"]
    exact = time["kind"] == "exact"
    state = (_triple(spec["state_r"]), _triple(spec["state_v"])) if "state_r" in spec else None
    return Boundary(
        planet_id=spec["planet_id"],
        first=time["value"] if exact else time["lo"],
        last=time["value"] if exact else time["hi"],
        state=state,
        breakpoints=tuple((float(x), float(cost)) for x, cost in spec.get("breakpoints", ())),
        h_factor=spec.get("h_factor", 0.0),
        period_days=spec.get("T_days", 0.0),
    )


def _triple(values: list[float]) -> Triple:
    x, y, z = values
    return x, y, z
