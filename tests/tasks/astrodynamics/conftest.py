"""What several tests of the tours use: an empty data cache, the shipped ephemeris, trajectories."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from shared_data import evaluator_for, require_shared

from tasks.astrodynamics.kernels import SHIPPED
from tasks.astrodynamics.tools.orbits.ephemeris import Ephemeris
from tasks.astrodynamics.tour import Tour

Trajectory = list[Any]


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
