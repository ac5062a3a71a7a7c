"""Trajectories made for tests of the tours, and their verdicts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from benchmark.artifact import Artifact
from benchmark.evaluator import Invalid, Score
from tasks.astrodynamics.tools.orbits.ephemeris import Ephemeris
from tasks.astrodynamics.tools.orbits.lambert import lambert
from tasks.astrodynamics.tour import Tour

Trajectory = list[Any]


def leg(nodes: Trajectory, ephemeris: Ephemeris) -> Trajectory:
    """Connect the nodes by Lambert arcs, with the planets' velocities on the far sides."""
    for node in nodes:
        if node["planet_id"] != "0":
            r, v = ephemeris.state(node["planet_id"], node["time"])
            node.update(r=list(r), v_before=list(v), v_after=list(v))
    for a, b in pairwise(nodes):
        v0, v1 = lambert(a["r"], b["r"], (b["time"] - a["time"]) * 86400.0, 132712440018.0)
        a["v_after"], b["v_before"] = v0.tolist(), v1.tolist()
    return nodes


def node(kind: str, time: float, planet_id: str) -> dict[str, Any]:
    return {"type": kind, "time": time, "planet_id": planet_id}


def scored(evaluator: Tour, trajectory: Any) -> Score:
    return evaluator.score(Artifact(trajectory), "search")


def reason(evaluator: Tour, trajectory: Any) -> str:
    with pytest.raises(Invalid) as failure:
        scored(evaluator, trajectory)
    assert failure.value.attachments["ephemeris"].startswith("DE440")
    return str(failure.value)
