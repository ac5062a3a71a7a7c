"""Anchors for replays, and the anchors of the task registry against what the paper allows."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.anchors import read_anchors, read_ranges
from analysis.published import Published, default_folder
from analysis.rows import DataProblem, Printed, read_rows
from benchmark.catalogue import catalogue, find_task


def test_replay_columns_are_the_default_not_the_midpoints(data: Published) -> None:
    assert data.anchors["cassini"].x0.text == "6.18"
    assert data.anchors["ahc058"].x0.text == "0.0"
    assert len(data.anchors) == 21


def test_recommended_columns_serve_where_replay_is_absent() -> None:
    anchors = read_anchors(default_folder() / "anchors_reconciled.csv")
    assert anchors["swap_reduction"].x0.text == "20001"


def test_replay_wins_over_recommended(tmp_path: Path) -> None:
    path = tmp_path / "anchors.csv"
    path.write_text("task_id,recommended_x0,recommended_sota,replay_x0,replay_sota\ncp26,0,1,2,3\n")
    assert read_anchors(path)["cp26"].x0.text == "2"


def test_other_files_are_refused_with_the_names_expected(tmp_path: Path) -> None:
    path = tmp_path / "anchors.csv"
    path.write_text("task_id,x0,sota\ncp26,0,1\n")
    with pytest.raises(DataProblem, match="replay_x0, replay_sota or recommended_x0"):
        read_anchors(path)
    path.write_text("task_id,replay_x0,replay_sota\ncp26,1,1.0\n")
    with pytest.raises(DataProblem, match="line 2: replay_sota equals replay_x0"):
        read_anchors(path)
    path.write_text("task_id,replay_x0,replay_sota\ncp26,1,2\ncp26,1,3\n")
    with pytest.raises(DataProblem, match="cp26 a second time"):
        read_anchors(path)


def test_gain_is_floored_and_keeps_the_raw_value(data: Published) -> None:
    gain = data.anchors["denoising"].gain(Printed.read("0.5709"))
    assert gain.value == 0.0
    assert gain.raw == pytest.approx(100 * (0.5709 - 0.641361983) / (0.72269 - 0.641361983))


def test_ranges_hold_the_replay_anchors(data: Published) -> None:
    for task, anchors in data.anchors.items():
        ranges = data.anchor_ranges[task]
        assert ranges.x0[0] <= float(anchors.x0) <= ranges.x0[1], task
        assert ranges.sota[0] <= float(anchors.sota) <= ranges.sota[1], task


def test_ranges_that_meet_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "anchors.csv"
    path.write_text("task_id,x0_lo,x0_hi,sota_lo,sota_hi\ncp26,0,2,1,3\n")
    with pytest.raises(DataProblem, match="not two separate intervals"):
        read_ranges(path)


@pytest.mark.parametrize("task", sorted(read_ranges(default_folder() / "anchors_derived.csv")))
def test_registry_anchors_lie_in_the_derived_ranges(data: Published, task: str) -> None:
    declared, ranges = find_task(task).declared.anchors, data.anchor_ranges[task]
    for anchor, (low, high) in ((declared.initial, ranges.x0), (declared.sota, ranges.sota)):
        assert low <= anchor.value <= high or anchor.note, (task, anchor)


def test_registry_anchors_are_the_recommended_ones() -> None:
    folder = default_folder()
    recommended = read_anchors(folder / "anchors_reconciled.csv")
    simple = {
        row.text("task_id"): (float(row.number("x0")), float(row.number("sota")))
        for row in read_rows(folder / "anchors_simple_science.csv", ("task_id", "x0", "sota"))
    }
    expected = {t: (float(a.x0), float(a.sota)) for t, a in recommended.items()} | simple
    assert len(expected) == 31
    for task, anchors in expected.items():
        declared = find_task(task).declared.anchors
        assert (declared.initial.value, declared.sota.value) == anchors, task


def test_registry_domains_are_those_of_the_paper(data: Published) -> None:
    titles = {task.name: task.declared.domain_title for task in catalogue().values()}
    assert {task: titles[task] for task in data.domains} == data.domains
