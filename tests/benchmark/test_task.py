"""Declarations: what a broken task.toml says, and options."""

from __future__ import annotations

from pathlib import Path

import pytest
from toy_task import DECLARATION, write_toy_task

from benchmark.catalogue import UnknownTask, catalogue, find_task, select
from benchmark.task import TaskError, read_task


def test_a_good_folder_is_read(tmp_path: Path) -> None:
    task = read_task(write_toy_task(tmp_path))
    assert task.id == "toys/vector"
    assert task.limits.wall_s == 20
    assert task.limits.memory_mb == 2048
    assert task.declared.anchors.sota.value == 3.0


@pytest.mark.parametrize(
    ("old", "new", "key", "expected"),
    [
        ('direction = "max"', 'direction = "up"', "direction", "'min' or 'max'"),
        ("wall_s = 20", "wall_s = 0", "limits.wall_s", "greater than 0"),
        ("wall_s = 20", 'wall_s = "long"', "limits.wall_s", "number"),
        ("version = 1", "", "version", "missing"),
        ("version = 1", "version = 1\ncolour = 3", "colour", "unknown key"),
        ('status = "derived"', 'status = "guessed"', "anchors.sota.status", "'published'"),
        ("value = 3.0", "value = 1.0", "anchors", "must differ"),
        ('cost = "cheap"', 'cost = "free"', "cost", "'expensive'"),
    ],
)
def test_a_broken_declaration_names_file_key_and_expectation(
    tmp_path: Path, old: str, new: str, key: str, expected: str
) -> None:
    folder = write_toy_task(tmp_path, declaration=DECLARATION.replace(old, new))
    with pytest.raises(TaskError) as caught:
        read_task(folder)
    message = str(caught.value)
    assert str(folder / "task.toml") in message
    assert key in message
    assert expected in message
    assert "\n" not in message


def test_text_that_is_no_toml_names_the_line(tmp_path: Path) -> None:
    folder = write_toy_task(tmp_path, declaration="title = \n")
    with pytest.raises(TaskError, match=r"task\.toml: not TOML .*line 1"):
        read_task(folder)


@pytest.mark.parametrize("missing", ["instructions.md", "initial.py", "evaluator.py"])
def test_a_missing_file_is_named(tmp_path: Path, missing: str) -> None:
    folder = write_toy_task(tmp_path)
    (folder / missing).unlink()
    with pytest.raises(TaskError, match=missing):
        read_task(folder)


def test_options_are_typed_and_checked(tmp_path: Path) -> None:
    task = read_task(write_toy_task(tmp_path))
    assert task.options({}) == {"bonus": 0.0, "mode": "plain"}
    assert task.options({"bonus": "0.5"})["bonus"] == 0.5
    with pytest.raises(TaskError, match=r"--set speed: .* has: bonus, mode"):
        task.options({"speed": "1"})
    with pytest.raises(TaskError, match="expected a value of type float"):
        task.options({"bonus": "much"})
    with pytest.raises(TaskError, match="expected one of plain, doubled"):
        task.options({"mode": "tripled"})


def test_tasks_are_found_by_id_name_and_folder(tmp_path: Path) -> None:
    task = find_task("mathematics/cp26")
    assert find_task("cp26") is task
    assert find_task(str(task.folder)) is task
    assert find_task(str(write_toy_task(tmp_path))).id == "toys/vector"


def test_an_unknown_task_suggests_near_names() -> None:
    with pytest.raises(UnknownTask, match=r"did you mean .*cp26"):
        find_task("cp_26")


def test_selections() -> None:
    everything = {task.id for task in select("all")}
    assert everything == set(catalogue())
    assert all(task.declared.cost == "cheap" for task in select("cheap"))
    assert {task.name for task in select("cp32,mathematics/cp26")} == {"cp26", "cp32"}
    assert {task.domain for task in select("mathematics")} == {"mathematics"}
    with pytest.raises(UnknownTask):
        select("cp32,nonsense")
    with pytest.raises(UnknownTask, match="names no task"):
        select(",")


def test_every_declared_task_is_complete() -> None:
    for task in catalogue().values():
        assert task.package == f"tasks.{task.domain}.{task.name}"
        assert task.instructions.strip()
        assert task.declared.anchors.initial.source
        assert task.declared.anchors.sota.source
