"""Several artifacts in one picture, for any task."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from benchmark.artifact import Artifact, Plain
from benchmark.evaluation import load_evaluator, prepare
from benchmark.evaluator import Invalid, Unavailable
from benchmark.side_by_side import DrawsTogether, draw_side_by_side, named, scores


def test_any_task_with_a_picture_can_be_drawn_twice() -> None:
    setup = prepare("ac1")
    assert not isinstance(load_evaluator(setup), DrawsTogether)
    found = [
        named(setup, "flat", Artifact([1.0, 1.0])),
        named(setup, "steps", Artifact([1.0, 2.0, 1.0])),
    ]
    figure = Figure()
    shown = draw_side_by_side(setup, found, figure)
    titles = [panel.get_suptitle() for panel in figure.subfigs]
    assert [title.split(":")[0] for title in titles] == ["flat", "steps"]
    assert [len(panel.axes) for panel in figure.subfigs] == [2, 2]
    assert shown == scores(found)
    assert ("flat", "objective", found[0].score.objective) in shown.rows


def test_a_task_with_a_picture_of_several_draws_it() -> None:
    setup = prepare("erdos")
    found = [named(setup, str(n), Artifact([0.0, 1.0] * n)) for n in (1, 5)]
    figure = Figure()
    draw_side_by_side(setup, found, figure)
    lower = [panel.axes[-1] for panel in figure.subfigs]
    assert lower[0].get_ylim() == lower[1].get_ylim()


def test_matrices_stand_below_each_other() -> None:
    setup = prepare("hadamard29")
    ones: Plain = [[1] * 29 for _ in range(29)]
    figure = Figure()
    draw_side_by_side(setup, [named(setup, n, Artifact(ones)) for n in ("a", "b")], figure)
    tops = [panel.bbox.y1 for panel in figure.subfigs]
    assert tops[0] > tops[1]


def test_an_invalid_artifact_is_named() -> None:
    with pytest.raises(Invalid, match="mine is no valid artifact of mathematics/erdos: heights"):
        named(prepare("erdos"), "mine", Artifact([3.0, 0.0]))


def test_all_stages_are_tried_and_said() -> None:
    with pytest.raises(Invalid, match=r"at stage search: .*; at stage report: "):
        named(prepare("parallel", "embedded"), "mine", Artifact([1.0]))


def test_a_task_without_a_picture_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmark.evaluator import Evaluator

    setup = prepare("ac1")
    monkeypatch.setattr(type(load_evaluator(setup)), "draw", Evaluator.draw)
    with pytest.raises(Unavailable, match="has no picture"):
        draw_side_by_side(setup, [named(setup, "a", Artifact([1.0]))], Figure())
