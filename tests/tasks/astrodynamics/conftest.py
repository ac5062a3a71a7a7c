"""What several tests of the tours use: an empty data cache, the shipped ephemeris, trajectories."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy

import pytest
from shared_data import evaluator_for, require_shared
from tour_cases import Trajectory, leg, node

from tasks.astrodynamics.kernels import SHIPPED
from tasks.astrodynamics.tools.orbits.ephemeris import Ephemeris
from tasks.astrodynamics.tour import Tour


@pytest.fixture(autouse=True)
def no_mirror(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A fresh machine: an empty cache and no mirror."""
    monkeypatch.setenv("EVODUET_DATA", str(tmp_path_factory.getbasetemp() / "evoduet-data"))
    monkeypatch.delenv("EVODUET_DATA_MIRROR", raising=False)


@pytest.fixture(scope="session")
def de440() -> Ephemeris:
    """The shipped excerpt."""
    return Ephemeris(SHIPPED)


@pytest.fixture
def trajectory_of() -> Callable[[str], Trajectory]:
    """Reads the trajectory of a parity case; every call gives a new copy."""
    folder = require_shared() / "parity" / "astrodynamics"

    def read(case: str) -> Trajectory:
        nodes: Trajectory = json.loads((folder / f"{case}.json").read_text())["input"]["trajectory"]
        return deepcopy(nodes)

    return read


@pytest.fixture
def tour() -> Callable[..., Tour]:
    """Makes the evaluator of a task."""

    def make(task: str, **options: str) -> Tour:
        evaluator = evaluator_for(task, **options)
        assert isinstance(evaluator, Tour)
        return evaluator

    return make


@pytest.fixture
def direct(de440: Ephemeris) -> Trajectory:
    """Earth to Mercury without flyby."""
    return leg([node("start", 41989.0, "3"), node("end", 42135.0, "1")], de440)


@pytest.fixture
def by_venus(de440: Ephemeris) -> Trajectory:
    """Earth, Venus, Mercury near the best dates."""
    return leg(
        [node("start", 41946.3, "3"), node("GA", 42081.18, "2"), node("end", 42137.28, "1")],
        de440,
    )


@pytest.fixture
def mercury(tour: Callable[..., Tour]) -> Tour:
    return tour("mariner_10")
