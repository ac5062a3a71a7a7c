"""Lambert's problem; ``k`` is the gravitational parameter."""

from __future__ import annotations

from collections.abc import Iterator

from orbits import lambert as izzo
from orbits.vectors import Vector, VectorLike


def lambert(
    k: float,
    r0: VectorLike,
    r: VectorLike,
    tof: float,
    M: int = 0,
    prograde: bool = True,
    lowpath: bool = True,
    numiter: int = izzo.MAX_ITERATIONS,
    rtol: float = izzo.X_TOLERANCE,
) -> tuple[Vector, Vector]:
    """Velocities at both ends of one arc; raises as :func:`orbits.lambert.lambert`."""
    return izzo.lambert(
        r0, r, tof, k, prograde=prograde, lowpath=lowpath, M=M, numiter=numiter, rtol=rtol
    )


def lambert_solutions(
    k: float,
    r0: VectorLike,
    r: VectorLike,
    tof: float,
    prograde: bool = True,
    numiter: int = izzo.MAX_ITERATIONS,
    rtol: float = izzo.X_TOLERANCE,
    max_revs: int = 20,
) -> Iterator[tuple[int, bool | None, Vector, Vector]]:
    """All arcs as (M, lowpath or None, v0, v), by growing number of revolutions."""
    return izzo.solutions(
        r0, r, tof, k, prograde=prograde, numiter=numiter, rtol=rtol, max_revs=max_revs
    )


def lambert_all_solutions(
    k: float,
    r0: VectorLike,
    r: VectorLike,
    tof: float,
    prograde: bool = True,
    numiter: int = izzo.MAX_ITERATIONS,
    rtol: float = izzo.X_TOLERANCE,
    max_revs: int = 20,
) -> list[tuple[int, bool | None, Vector, Vector]]:
    """:func:`lambert_solutions` as a list."""
    return list(lambert_solutions(k, r0, r, tof, prograde, numiter, rtol, max_revs))
