"""The rules of the tours: from nodes to a verified flight with its delta-v.

The order of the checks and their tolerances are part of the benchmark: the first failure decides
the reason, and the published best tour to Mercury needs the tolerances as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchmark.evaluator import Invalid
from tasks.astrodynamics.mission import Boundary, Mission
from tasks.astrodynamics.tools.orbits.constants import DAY_S, PLANETS
from tasks.astrodynamics.tools.orbits.ephemeris import Ephemeris
from tasks.astrodynamics.tools.orbits.flyby import flyby_of_triples
from tasks.astrodynamics.tools.orbits.kepler import propagate_triples
from tasks.astrodynamics.tools.orbits.vectors import Triple
from tasks.astrodynamics.trajectory import Node

POSITION_KM = 1e4  # planet positions, ends of segments, boundary states
VELOCITY_KMS = 1e-2  # ends of segments, reference velocities
EXACT_EPOCH_DAYS = 0.01
STACKED_DAYS = 1.0

_State = tuple[Triple, Triple]


@dataclass(frozen=True)
class Flyby:
    """A gravity assist that was flown: periapsis altitude (km) and the burn at it (km/s)."""

    node: int
    altitude_km: float
    dv: float


@dataclass(frozen=True)
class Residuals:
    """Largest deviations that the tolerances let pass, km and km/s."""

    planet_km: float
    segment_km: float
    segment_kms: float
    reference_kms: float

    def within(self, position_km: float, velocity_kms: float) -> bool:
        """Whether segments and reference velocities keep to these tighter limits."""
        return (
            self.segment_km <= position_km
            and self.segment_kms <= velocity_kms
            and self.reference_kms <= velocity_kms
        )


@dataclass(frozen=True)
class Flight:
    """A valid trajectory and what it costs; delta-v in km/s."""

    nodes: tuple[Node, ...]
    start_dv: float
    end_dv: float
    flybys: tuple[Flyby, ...]
    manoeuvres: tuple[tuple[int, float], ...]
    residuals: Residuals

    @property
    def flyby_dv(self) -> float:
        """Burns at the periapses of all flybys."""
        return sum((flyby.dv for flyby in self.flybys), 0.0)

    @property
    def manoeuvre_dv(self) -> float:
        """Deep-space manoeuvres together."""
        return sum((dv for _, dv in self.manoeuvres), 0.0)

    @property
    def total_dv(self) -> float:
        """The objective."""
        return self.start_dv + self.flyby_dv + self.manoeuvre_dv + self.end_dv

    @property
    def node_dv(self) -> tuple[float, ...]:
        """Delta-v at each node."""
        dv = {0: self.start_dv, len(self.nodes) - 1: self.end_dv, **dict(self.manoeuvres)}
        dv.update({flyby.node: flyby.dv for flyby in self.flybys})
        return tuple(dv[index] for index in range(len(self.nodes)))

    @property
    def duration_days(self) -> float:
        """From start to end."""
        return self.nodes[-1].time - self.nodes[0].time

    @property
    def stacked(self) -> bool:
        """Whether two encounters in a row are at one body and less than a day apart.

        Start and end count; a manoeuvre between them does not part them. Together such flybys turn
        further than the body could, because the rules know no sphere of influence.
        """
        encounters = [node for node in self.nodes if node.at_planet]
        return any(
            before.planet_id == after.planet_id and after.time - before.time < STACKED_DAYS
            for before, after in pairwise(encounters)
        )


@dataclass(frozen=True)
class _Terminal:
    """Start or end: its node, its rule, and the planet's state there, if there is one."""

    name: str
    node: Node
    boundary: Boundary
    planet: _State | None

    @property
    def reference(self) -> Triple:
        """The node's velocity on the far side, that of the planet or the given state."""
        return self.node.v_before if self.name == "start" else self.node.v_after

    @property
    def spacecraft(self) -> Triple:
        """The node's velocity on the side of the tour."""
        return self.node.v_after if self.name == "start" else self.node.v_before


def fly(nodes: Sequence[Node], mission: Mission, ephemeris: Ephemeris) -> Flight:
    """Check and cost a trajectory. Raises :class:`Invalid`; its reason starts with the rule."""
    planets, planet_km = _planets(nodes, ephemeris)
    segment_km, segment_kms = _segments(nodes, mission.mu_sun)
    flybys = _flybys(nodes, planets, mission)
    terminals = (
        _Terminal("start", nodes[0], mission.start, planets[0]),
        _Terminal("end", nodes[-1], mission.end, planets[-1]),
    )
    for terminal in terminals:
        _check_epoch(terminal)
    reference_kms = max([_check_reference(terminal) for terminal in terminals])
    for terminal in terminals:
        _check_state(terminal)
    start_dv, end_dv = (_terminal_dv(terminal, mission) for terminal in terminals)
    return Flight(
        nodes=tuple(nodes),
        start_dv=start_dv,
        end_dv=end_dv,
        flybys=flybys,
        manoeuvres=tuple(
            (index, math.dist(node.v_after, node.v_before))
            for index, node in enumerate(nodes)
            if node.kind == "DSM"
        ),
        residuals=Residuals(planet_km, segment_km, segment_kms, reference_kms),
    )


def _planets(nodes: Sequence[Node], ephemeris: Ephemeris) -> tuple[list[_State | None], float]:
    """States of the planets at the nodes, and the largest distance of a node from its planet."""
    states: list[_State | None] = []
    worst = 0.0
    for index, node in enumerate(nodes):
        if not node.at_planet:
            states.append(None)
            continue
        try:
            state = ephemeris.state(node.planet_id, node.time)
        except ValueError as error:
            raise Invalid(f"planet position node {index}: {error}") from None
        off = math.dist(node.r, state[0])
        if not off <= POSITION_KM:
            raise Invalid(
                f"planet position node {index}: r is {off:.6g} km from {PLANETS[node.planet_id]} "
                f"at MJD {node.time} (allowed {POSITION_KM:g} km)"
            )
        states.append(state)
        worst = max(worst, off)
    return states, worst


def _segments(nodes: Sequence[Node], mu: float) -> tuple[float, float]:
    """Largest misses of the two-body arcs between consecutive nodes, km and km/s."""
    worst_km = worst_kms = 0.0
    for index, (a, b) in enumerate(pairwise(nodes)):
        try:
            r, v = propagate_triples(a.r, a.v_after, (b.time - a.time) * DAY_S, mu)
        except (ValueError, ArithmeticError) as error:
            raise Invalid(f"segment position {index}: {error}") from None
        off_km, off_kms = math.dist(r, b.r), math.dist(v, b.v_before)
        arc = f"the two-body arc from node {index} ends"
        if not off_km <= POSITION_KM:
            raise Invalid(
                f"segment position {index}: {arc} {off_km:.6g} km from r of node {index + 1} "
                f"(allowed {POSITION_KM:g} km)"
            )
        if not off_kms <= VELOCITY_KMS:
            raise Invalid(
                f"segment velocity {index}: {arc} {off_kms:.6g} km/s off v_before of node "
                f"{index + 1} (allowed {VELOCITY_KMS:g} km/s)"
            )
        worst_km, worst_kms = max(worst_km, off_km), max(worst_kms, off_kms)
    return worst_km, worst_kms


def _flybys(
    nodes: Sequence[Node], planets: Sequence[_State | None], mission: Mission
) -> tuple[Flyby, ...]:
    found = []
    for index, (node, planet) in enumerate(zip(nodes, planets, strict=True)):
        if node.kind != "GA" or planet is None:
            continue
        body, lowest = node.planet_id, mission.lowest_periapsis(node.planet_id)
        r_p, dv, feasible = flyby_of_triples(
            node.v_before, node.v_after, planet[1], mission.mu[body], lowest
        )
        if not feasible:
            what = (
                f"needs the periapsis radius {r_p:.6g} km, below the lowest {lowest:.6g} km"
                if math.isfinite(r_p)
                else "turns nothing or has no relative speed; leave the node out"
            )
            raise Invalid(f"flyby periapsis node {index}: the flyby of {PLANETS[body]} {what}")
        found.append(Flyby(index, r_p - mission.radius[body], dv))
    return tuple(found)


def _check_epoch(terminal: _Terminal) -> None:
    time, boundary = terminal.node.time, terminal.boundary
    if boundary.exact:
        if not abs(time - boundary.first) <= EXACT_EPOCH_DAYS:
            raise Invalid(
                f"boundary time window: the {terminal.name} at MJD {time} is not within "
                f"{EXACT_EPOCH_DAYS:g} days of MJD {boundary.first}"
            )
    elif not boundary.first <= time <= boundary.last:
        raise Invalid(
            f"boundary time window: the {terminal.name} at MJD {time} is outside "
            f"MJD {boundary.first:g} to {boundary.last:g}"
        )


def _check_reference(terminal: _Terminal) -> float:
    """How far the reference velocity is off, km/s."""
    true = terminal.planet or terminal.boundary.state
    assert true is not None  # a boundary is a planet or a state
    off = math.dist(terminal.reference, true[1])
    if not off <= VELOCITY_KMS:
        which = "v_before" if terminal.name == "start" else "v_after"
        raise Invalid(
            f"boundary reference velocity: {which} of the {terminal.name} is {off:.6g} km/s off "
            f"the velocity of its target (allowed {VELOCITY_KMS:g} km/s)"
        )
    return off


def _check_state(terminal: _Terminal) -> None:
    if terminal.boundary.state is None or terminal.node.at_planet:
        return
    off = math.dist(terminal.node.r, terminal.boundary.state[0])
    if not off <= POSITION_KM:
        raise Invalid(
            f"boundary state position: r of the {terminal.name} is {off:.6g} km from the given "
            f"state (allowed {POSITION_KM:g} km)"
        )


def _terminal_dv(terminal: _Terminal, mission: Mission) -> float:
    """Delta-v of leaving or arriving.

    A piecewise cost takes the two velocities of the node as they are given; a periapsis manoeuvre
    takes the planet's from the ephemeris.
    """
    reference = terminal.reference
    mu = radius = 0.0
    if terminal.boundary.by_periapsis:
        assert terminal.planet is not None  # the schema asks for a planet
        reference = terminal.planet[1]
        mu = mission.mu[terminal.node.planet_id]
        radius = mission.radius[terminal.node.planet_id]
    return terminal.boundary.cost(math.dist(terminal.spacecraft, reference), mu, radius)
