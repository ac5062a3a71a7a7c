"""Pictures of tours: every part is there, for every task and for invalid trajectories none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

from benchmark.artifact import Artifact
from benchmark.catalogue import find_task
from benchmark.evaluator import Invalid, Setup
from benchmark.pictures import save_picture
from tasks.astrodynamics.tour import Tour

Trajectory = list[Any]
CASES = (
    "cassini_initial",
    "galileo_initial",
    "mariner_10_initial",
    "rosetta_initial",
    "voyager_2_initial",
    "mariner_10_published_sota",
    "rosetta_published_sota",
    "voyager_2_published_sota",
    "exploit_stacked_flyby_mariner_10",
)


def task_of(case: str) -> str:
    names = ("cassini", "galileo", "mariner_10", "rosetta", "voyager_2")
    return next(name for name in names if name in case)


@pytest.mark.parametrize("case", CASES)
def test_map_list_and_budget(
    case: str, tour: Callable[..., Tour], trajectory_of: Callable[[str], Trajectory]
) -> None:
    evaluator, nodes = tour(task_of(case)), trajectory_of(case)
    score = evaluator.score(Artifact(nodes), "search")
    figure = Figure()
    evaluator.draw(Artifact(nodes), figure)
    maps = [axes for axes in figure.axes if axes.get_xlabel().startswith("ecliptic")]
    assert len(maps) == (2 if task_of(case) == "cassini" else 1)
    assert [text.get_text() for text in maps[-1].texts] == [str(i) for i in range(len(nodes))]
    outer = {text.get_text() for text in maps[0].texts}
    assert outer == (
        {"3", "4"} if case == "cassini_initial" else {str(i) for i in range(len(nodes))}
    )
    orbits = {node["planet_id"] for node in nodes if node["type"] != "DSM"}
    lines = [line for line in maps[0].lines if len(line.get_xdata()) > 1]  # type: ignore[arg-type]
    assert len(lines) == len(orbits) + len(nodes) - 1
    (budget,) = (axes for axes in figure.axes if axes.get_xlabel() == "delta-v, km/s")
    widths = sum(bar.get_width() for bar in budget.patches)  # type: ignore[attr-defined]
    assert widths == pytest.approx(score.objective, rel=0.01)
    (listing,) = (axes for axes in figure.axes if axes not in (*maps, budget))
    texts = [text.get_text() for text in listing.texts]
    assert len(texts) == 4 * len(nodes)
    assert f"{score.objective:.6f} km/s (DE440)" in figure.get_suptitle()


def test_dates(tour: Callable[..., Tour], trajectory_of: Callable[[str], Trajectory]) -> None:
    figure = Figure()
    tour("voyager_2").draw(Artifact(trajectory_of("voyager_2_published_sota")), figure)
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert {"1977-09-03", "flyby Uranus", "1986-10-27", "end Neptune", "1990-09-28"} <= set(texts)


def test_saved_pictures_are_the_same_every_time(
    trajectory_of: Callable[[str], Trajectory], tmp_path: Path
) -> None:
    task = find_task("rosetta")
    setup = Setup(task, "official", task.options({}))
    artifact = Artifact(trajectory_of("rosetta_published_sota"))
    for name in ("a.png", "b.png"):
        save_picture(setup, artifact, tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_invalid_trajectories_are_not_drawn(tour: Callable[..., Tour]) -> None:
    with pytest.raises(Invalid, match="schema"):
        tour("rosetta").draw(Artifact([]), Figure())
