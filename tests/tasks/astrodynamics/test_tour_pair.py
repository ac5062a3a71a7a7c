"""Two tours beside each other: every event, and bars that add up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from matplotlib.figure import Figure

from benchmark.artifact import Artifact
from benchmark.side_by_side import Named, draw_side_by_side
from tasks.astrodynamics.tour import Tour

CASES = ("rosetta_initial", "rosetta_published_sota")


def test_events_and_budgets(
    tour: Callable[..., Tour], trajectory_of: Callable[[str], list[Any]]
) -> None:
    evaluator = tour("rosetta")
    found = []
    for case in CASES:
        artifact = Artifact(trajectory_of(case))
        found.append(Named(case, artifact, evaluator.score(artifact, "search")))
    figure = Figure()
    shown = draw_side_by_side(evaluator.setup, found, figure)
    for one in found:
        mine = [row for row in shown.rows if row[0] == one.label]
        events: list[dict[str, Any]] = [dict(zip(shown.columns, r, strict=True)) for r in mine]
        nodes = trajectory_of(one.label)
        assert [e["kind"] for e in events] == [
            {"start": "launch", "GA": "flyby", "DSM": "DSM", "end": "arrival"}[n["type"]]
            for n in nodes
        ]
        assert [e["epoch_mjd"] for e in events] == [n["time"] for n in nodes]
        assert sum(e["delta_v_km_s"] for e in events) == pytest.approx(one.score.objective)
    assert {row[4] for row in shown.rows if row[1] == 0} == {"2003-11-23"}
    (budget,) = (axes for axes in figure.axes if axes.get_xlabel() == "delta-v, km/s")
    ends: dict[float, float] = {}
    for bar in budget.patches:
        place = bar.get_y()  # type: ignore[attr-defined]
        ends[place] = max(ends.get(place, 0.0), bar.get_x() + bar.get_width())  # type: ignore[attr-defined]
    totals = [one.score.objective for one in found]
    assert [ends[y] for y in sorted(ends)] == pytest.approx(totals)
