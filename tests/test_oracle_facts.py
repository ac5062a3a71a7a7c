"""What the oracle documents state, where a computation can tell whether it is right."""

from __future__ import annotations

import itertools
import json
import math
import re
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest
from shared_data import REPOSITORY, require_shared
from simple_science_cases import scored

from benchmark.catalogue import find_task
from benchmark.oracle import read_documents
from tasks.astrodynamics.tools.orbits.constants import DAY_S, MU_SUN
from tasks.astrodynamics.tools.orbits.ephemeris import Ephemeris
from tasks.astrodynamics.tools.orbits.lambert import lambert


def test_the_temperatures_of_the_reactor_are_a_hint_and_not_the_profile() -> None:
    task = find_task("batch_reactor")
    (document,) = read_documents("batch_reactor")
    text = " ".join(document.body.split())
    stated = re.search(
        r"bound of (\S+) K, drops steeply to about (\S+) K at t = (\S+) and (\S+) K at t = (\S+), "
        r"then flattens and ends near (\S+) K",
        text,
    )
    assert stated is not None
    start, first, t_first, second, t_second, last = map(float, stated.groups())
    reference = json.loads((task.folder / "data" / "reference_profile.json").read_text())
    knots = reference["temperature_at_knots"]
    times = np.linspace(0.0, 1.0, len(knots))
    optimal = np.interp([0.0, t_first, t_second, 1.0], times, knots)
    assert [start, first, second, last] == pytest.approx(optimal, abs=0.5)
    grid = np.linspace(0.0, 1.0, 501)
    profile = np.interp(grid, [0.0, t_first, t_second, 1.0], [start, first, second, last])
    score = scored("batch_reactor", {"temperature": profile.tolist()}).search
    assert score is not None
    isothermal = scored("batch_reactor", {"temperature": [335.34] * 501}).search
    assert f"335.34 K, gives {isothermal:.6f}" in text
    assert score < task.declared.anchors.sota.value - 1e-4


def test_run_lengths_and_symmetry_of_the_sequence() -> None:
    (document,) = read_documents("labs_27")
    lengths = re.search(r"^    (\d{14})$", document.body, re.M)
    assert lengths is not None
    sequence = [(-1) ** i for i, run in enumerate(lengths[1]) for _ in range(int(run))]
    assert document.answer == sequence
    assert all(sequence[13 + d] == (-1) ** d * sequence[13 - d] for d in range(14))


def test_alkanes_are_trees() -> None:
    networkx = pytest.importorskip("networkx")
    trees = list(networkx.nonisomorphic_trees(11))
    small = [tree for tree in trees if max(degree for _, degree in tree.degree) <= 4]
    text = " ".join(read_documents("guacamol")[1].body.split())
    assert f"{len(trees)} free trees on 11 vertices; {len(small)} of" in text


def test_ratios_that_documents_quote() -> None:
    barba = math.sqrt(57) * 28**14
    assert math.isclose(2**28 * 7**12 * 320 / barba, 0.865, abs_tol=5e-4)
    assert 28**14 == 2**28 * 7**12 * 49
    assert math.isclose(49 * (1 + 140 / 28) / 342, 0.8596491228070176)
    assert math.isclose(320 / 342, 0.935673, abs_tol=5e-7)
    powers = math.log(3575 / 509) / math.log(2793 / 509)
    assert math.isclose(powers, 1.1449985, abs_tol=5e-8)


@pytest.mark.parametrize(("n", "between", "walls"), [(26, 58, 20), (32, 74, 22)])
def test_contacts_of_the_best_packings(n: int, between: int, walls: int) -> None:
    x, y, r = np.array(json.loads((require_shared() / f"data/cp{n}/released.json").read_text())).T
    gaps = np.hypot(x[:, None] - x, y[:, None] - y) - r[:, None] - r
    at_walls = np.concatenate([x - r, 1 - x - r, y - r, 1 - y - r])
    assert (gaps[np.triu_indices(n, 1)] < 1e-9).sum() == between
    assert (at_walls < 1e-9).sum() == walls
    assert between + walls == 3 * n
    text = " ".join(read_documents(f"cp{n}")[0].body.split())
    assert f"{between} contacts of circles and {walls} with walls" in text


def test_linear_parallel_law_extrapolates_well() -> None:
    """The basis of the document, fitted with P <= 4, on the held-out rows with P = 8."""
    folder = require_shared() / "data" / "scaling_laws"
    kinds = [("group", "U8"), ("n", float), ("p", float), ("loss", float)]
    train, test = (
        np.genfromtxt(folder / f"parallel_{part}.csv", delimiter=",", skip_header=1, dtype=kinds)
        for part in ("train", "test")
    )

    def basis(rows: Any) -> Any:
        u, v = (rows["n"] / 1e9) ** -0.2, (1 + 0.4 * np.log2(rows["p"])) ** -0.2
        return np.column_stack([np.ones_like(u), u, v, u * v])

    residuals = []
    for group in ("pile", "stack"):
        seen, held_out = (rows[rows["group"] == group] for rows in (train, test))
        law = np.linalg.lstsq(basis(seen), seen["loss"], rcond=None)[0]
        residuals.append(basis(held_out) @ law - held_out["loss"])
    r2 = 1 - np.mean(np.concatenate(residuals) ** 2) / np.var(test["loss"])
    assert r2 > find_task("parallel").declared.anchors.sota.value


# ---------------------------------------------------------------------- tours of flown spacecraft

BODIES = {"Mercury": "1", "Venus": "2", "Earth": "3", "Mars": "4", "Jupiter": "5", "Saturn": "6",
          "Uranus": "7", "Neptune": "8", "launch": "3"}  # fmt: skip
TOURS = ("cassini", "galileo", "mariner_10", "rosetta", "voyager_2")
BALLISTIC = [
    ("mariner_10", "Venus", 0), ("galileo", "Venus", 0), ("cassini", "Earth", 0),
    ("cassini", "Jupiter", 0), ("rosetta", "Mars", 1), ("voyager_2", "Jupiter", 0),
    ("voyager_2", "Saturn", 0), ("voyager_2", "Uranus", 0),
]  # fmt: skip


def tour(name: str) -> dict[str, int]:
    """Events and their days (MJD) as the document's table has them; checks the calendar."""
    rows = re.findall(
        r"^\| ([\w ]+) \| (\d{4}-\d\d-\d\d) \| (\d{5}) \|$", read_documents(name)[0].body, re.M
    )
    assert rows
    for _, day, mjd in rows:
        assert date(1858, 11, 17) + timedelta(int(mjd)) == date.fromisoformat(day)
    return {event: int(mjd) for event, _, mjd in rows}


@pytest.fixture(scope="module")
def ephemeris() -> Ephemeris:
    return Ephemeris(REPOSITORY / "tasks/astrodynamics/data/de440_1970_2030.bsp")


def excess_speeds(
    ephemeris: Ephemeris, days: dict[str, int], start: str, end: str, revolutions: int = 0
) -> tuple[float, float]:
    """Speeds (km/s) relative to the bodies at both ends of a Lambert arc, from noon to noon."""
    (r0, v0), (r1, v1) = (
        ephemeris.state(BODIES[event.split()[0]], days[event] + 0.5) for event in (start, end)
    )
    arc = lambert(r0, r1, (days[end] - days[start]) * DAY_S, MU_SUN, M=revolutions)
    return math.dist(arc[0], v0), math.dist(arc[1], v1)


@pytest.mark.parametrize("name", TOURS)
def test_flown_dates_are_the_middles_of_the_windows(name: str) -> None:
    problem = json.loads((find_task(name).folder / "data" / "problem.json").read_text())
    days = list(tour(name).values())
    assert days == sorted(days)
    start, end = problem["start"]["time"], problem["end"]["time"]
    assert days[0] == (start["lo"] + start["hi"]) / 2
    if end["kind"] == "window":
        assert days[-1] == (end["lo"] + end["hi"]) / 2


@pytest.mark.parametrize(("name", "body", "revolutions"), BALLISTIC)
def test_flown_tours_are_nearly_ballistic(
    name: str, body: str, revolutions: int, ephemeris: Ephemeris
) -> None:
    days = tour(name)
    events = list(days)
    at = events.index(body)
    arriving = excess_speeds(ephemeris, days, events[at - 1], body, revolutions)[1]
    leaving = excess_speeds(ephemeris, days, body, events[at + 1])[0]
    assert arriving == pytest.approx(leaving, abs=0.2)


def test_galileo_meets_the_earth_twice_at_the_same_speed(ephemeris: Ephemeris) -> None:
    days = tour("galileo")
    first = excess_speeds(ephemeris, days, "Venus", "Earth 1")[1]
    second = excess_speeds(ephemeris, days, "Earth 2", "Jupiter")[0]
    assert first == pytest.approx(second, abs=0.2)
    assert days["Earth 2"] - days["Earth 1"] == 731


def test_mariner_10_returns_after_two_years_of_mercury(ephemeris: Ephemeris) -> None:
    text = read_documents("mariner_10")[0].body
    encounters = [date.fromisoformat(day) for day in ("1974-03-29", "1974-09-21", "1975-03-16")]
    assert all(day.isoformat() in text for day in encounters)
    waits = {later - earlier for earlier, later in itertools.pairwise(encounters)}
    assert waits == {timedelta(176)}
    r, v = ephemeris.state("1", 42135.5)
    axis = 1 / (2 / math.hypot(*r) - sum(c * c for c in v) / MU_SUN)
    assert 2 * math.tau * math.sqrt(axis**3 / MU_SUN) / DAY_S == pytest.approx(176, abs=0.1)


def test_voyager_and_mariner_pass_the_limits_as_stated(ephemeris: Ephemeris) -> None:
    neptune = excess_speeds(ephemeris, tour("voyager_2"), "Uranus", "Neptune")[1]
    assert neptune < 0.6 * 30
    days = tour("mariner_10")
    assert excess_speeds(ephemeris, days, "launch", "Venus")[0] < 6
    assert 10 < excess_speeds(ephemeris, days, "Venus", "Mercury")[1] < 11
