"""The form of a trajectory: what a program may return and what is refused before any physics."""

from __future__ import annotations

import math
import re
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from tour_cases import Trajectory, reason, scored

from benchmark.evaluator import Invalid
from tasks.astrodynamics.tour import Tour
from tasks.astrodynamics.trajectory import plain_trajectory

BAD_VALUES: list[tuple[str, Any, str]] = [
    ("type", "flyby", "type 'flyby'"),
    ("type", None, "type None"),
    ("type", ["GA"], "type"),
    ("time", "42081", "time '42081'"),
    ("time", True, "time True"),
    ("time", math.nan, "time nan"),
    ("time", math.inf, "time inf"),
    ("time", 10**400, "time 1000"),
    ("time", None, "time None"),
    ("time", [42081.18], "time"),
    ("planet_id", 2, "planet_id 2"),
    ("planet_id", "9", "planet_id '9'"),
    ("planet_id", "", "planet_id ''"),
    ("planet_id", "02", "planet_id '02'"),
    ("planet_id", ["2"], "planet_id"),
    ("planet_id", {}, "planet_id"),
    ("r", [1.0, 2.0], "r is not a vector"),
    ("r", [[1.0, 2.0, 3.0]], "r is not a vector"),
    ("r", [[1.0], [2.0], [3.0]], "not three finite numbers"),
    ("r", "abc", "r is not a vector"),
    ("r", None, "r is not a vector"),
    ("r", {"x": 1.0}, "r is not a vector"),
    ("v_before", [1.0, 2.0, math.nan], "v_before = .* not three finite"),
    ("v_before", [1.0, 2.0, "3.0"], "v_before = .* not three finite"),
    ("v_before", [1.0, 2.0, None], "v_before = .* not three finite"),
    ("v_after", [1.0, 2.0, 10**400], "v_after = .* not three finite"),
    ("v_after", [True, 2.0, 3.0], "v_after = .* not three finite"),
    ("v_after", [1.0, 2.0, 3.0, 4.0], "v_after is not a vector"),
]


@pytest.mark.parametrize(("key", "value", "problem"), BAD_VALUES)
def test_bad_values(
    mercury: Tour, by_venus: Trajectory, key: str, value: Any, problem: str
) -> None:
    by_venus[1][key] = value
    found = reason(mercury, by_venus)
    assert found.startswith("schema: node 1")
    assert re.search(problem, found)


def test_missing_keys_and_other_shapes(mercury: Tour, by_venus: Trajectory) -> None:
    for key in ("type", "time", "planet_id", "r", "v_before", "v_after"):
        broken = deepcopy(by_venus)
        del broken[1][key]
        assert reason(mercury, broken) == f"schema: node 1 has no {key}"
    for other in (None, {}, "tour", 3, {"nodes": by_venus}, {"trajectory": {}}, np.ones(3)):
        assert reason(mercury, other).startswith("schema: the trajectory must be a list")
    for items in ([], [by_venus[0]], [None, None], [by_venus[0], [1, 2]], by_venus * 5):
        assert reason(mercury, items).startswith("schema: ")


def test_structure(mercury: Tour, direct: Trajectory, by_venus: Trajectory) -> None:
    start, flyby, end = by_venus
    dsm = {**flyby, "type": "DSM", "planet_id": "0"}
    cases: list[tuple[Trajectory, str]] = [
        ([end, start], "first node must be a start"),
        ([start, flyby], "last an end"),
        ([start, start, end], "second start"),
        ([start, end, end], "second end"),
        ([start, {**dsm, "planet_id": "2"}, end], "DSM at planet 2"),
        ([start, {**flyby, "planet_id": "0"}, end], "GA without a planet"),
        ([{**start, "planet_id": "2"}, end], 'start has planet_id "2" instead of "3"'),
        ([start, {**end, "planet_id": "0"}], 'end has planet_id "0" instead of "1"'),
        ([start, {**flyby, "planet_id": "3"}, end], "flies by planet 3; allowed are 2"),
        ([start, {**flyby, "time": start["time"]}, end], "node 1 .* not later than node 0"),
        ([start, flyby, {**end, "time": 42000.0}], "node 2 .* not later than node 1"),
        ([start, *({**dsm, "time": 42000.0 + i} for i in range(6)), end], "6 DSM nodes; at most 5"),
        (
            [start, *({**flyby, "time": 42000.0 + i} for i in range(6)), end],
            "6 GA nodes; at most 5",
        ),
    ]
    for trajectory, problem in cases:
        found = reason(mercury, trajectory)
        assert found.startswith("schema: ")
        assert re.search(problem, found), found
    assert "allowed are 2 to 14" in reason(mercury, [start, *[flyby] * 13, end])


def test_extra_keys_tuples_arrays_and_integers_are_fine(mercury: Tour, direct: Trajectory) -> None:
    expected = scored(mercury, direct).objective
    for entry in direct:
        entry["comment"] = object()
        entry["r"] = tuple(entry["r"])
        entry["v_after"] = np.array(entry["v_after"])
        entry["time"] = int(entry["time"])
    assert scored(mercury, direct).objective == expected


def test_what_a_program_returns_becomes_plain_data(direct: Trajectory) -> None:
    returned = [
        {
            **entry,
            "time": np.float64(entry["time"]),
            "r": np.array(entry["r"]),
            "v_before": tuple(entry["v_before"]),
            "v_after": [np.float32(x) for x in entry["v_after"]],
            "junk": {1, 2},
        }
        for entry in direct
    ]
    plain: Any = plain_trajectory(returned)
    assert set(plain[0]) == {"type", "time", "planet_id", "r", "v_before", "v_after"}
    assert type(plain[0]["time"]) is float
    assert plain[1]["r"] == direct[1]["r"]
    assert all(type(x) is float for x in plain[1]["v_after"])
    for wrong, problem in (
        (tuple(direct), "not a tuple"),
        (None, "not a NoneType"),
        ([None], "node 0 is a NoneType"),
        ([{"r": {1.0, 2.0, 3.0}}], "node 0: r is or holds a set"),
        ([{"time": 1j}], "complex"),
        ([{"r": np.array([1j, 0, 0])}], "complex128"),
    ):
        with pytest.raises(Invalid, match=f"schema: .*{problem}"):
            plain_trajectory(wrong)
