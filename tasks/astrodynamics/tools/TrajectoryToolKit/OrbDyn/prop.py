"""Kepler propagation."""

from __future__ import annotations

from orbits.kepler import propagate
from orbits.vectors import Vector, VectorLike


def farnocchia_rv(k: float, r0: VectorLike, v0: VectorLike, tof: float) -> tuple[Vector, Vector]:
    """State after ``tof`` seconds; ``k`` is the gravitational parameter."""
    return propagate(r0, v0, tof, k)
