"""Every task's anchors are those of the registry files (specs/README.md, "Anchors rule")."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from benchmark.catalogue import catalogue
from benchmark.task import Task

BY_NAME = {task.name: task for task in catalogue().values()}


def rows(shared: Path, name: str) -> list[dict[str, str]]:
    with (shared / "data" / "paper" / name).open(newline="") as file:
        return list(csv.DictReader(file))


def check(task: Task, x0: str, sota: str) -> None:
    anchors = task.declared.anchors
    assert anchors.initial.value == float(x0), task.id
    assert anchors.sota.value == float(sota), task.id


def test_reconciled_anchors(shared: Path) -> None:
    for row in rows(shared, "anchors_reconciled.csv"):
        task = BY_NAME.get(row["task_id"])
        if task is None:
            continue
        check(task, row["recommended_x0"], row["recommended_sota"])
        anchors = task.declared.anchors
        assert anchors.initial.status == row["recommended_x0_status"], task.id
        assert anchors.sota.status == row["recommended_sota_status"], task.id


def test_anchors_of_the_simple_tasks(shared: Path) -> None:
    listed = rows(shared, "anchors_simple_science.csv")
    assert len(listed) == 10
    for row in listed:
        check(BY_NAME[row["task_id"]], row["x0"], row["sota"])
        assert BY_NAME[row["task_id"]].declared.anchors.initial.status == "official"


@pytest.mark.parametrize("task", BY_NAME.values(), ids=BY_NAME)
def test_better_is_what_the_direction_says(task: Task) -> None:
    anchors = task.declared.anchors
    rises = anchors.sota.value > anchors.initial.value
    assert rises == (task.declared.direction == "max")
