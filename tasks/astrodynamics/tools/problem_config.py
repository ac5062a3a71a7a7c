"""The problem instance and the constants, under the names that published programs import."""

from __future__ import annotations

import json
import os
from typing import Any

from orbits.constants import DEFAULT_FLYBY_ALTITUDE_KM, MU, MU_SUN, RADIUS

__all__ = [
    "INSTANCE_VARIABLE",
    "MU",
    "MU_SUN",
    "RADIUS",
    "default_flyby_altitude",
    "load_problem_for_candidate",
]

INSTANCE_VARIABLE = "SIMPLETES_ASTRODYNAMICS_INSTANCE"
"""Environment variable with the path of the instance, as published programs know it."""


def load_problem_for_candidate(candidate_file: str | None = None) -> dict[str, Any]:
    """A fresh copy of the problem; the argument (the program's ``__file__``) is not looked at."""
    path = os.environ.get(INSTANCE_VARIABLE)
    if path is None:
        raise RuntimeError(f"the environment variable {INSTANCE_VARIABLE} names no instance")
    with open(path, encoding="utf-8") as file:
        problem: dict[str, Any] = json.load(file)
    return problem


def default_flyby_altitude(instance: dict[str, Any], planet_id: str | int) -> float:
    """Lowest altitude in km at which the instance allows a flyby of the body."""
    altitudes = instance.get("flyby", {}).get("min_altitude_km", {})
    return float(altitudes.get(str(planet_id), DEFAULT_FLYBY_ALTITUDE_KM))
