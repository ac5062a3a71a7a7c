"""The evaluator digest changes with what decides a score, and with nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from toy_task import write_toy_task

from benchmark.provenance import evaluator_digest, machine, versions
from benchmark.task import read_task


def digest(folder: Path, package: str | None = None) -> str:
    return evaluator_digest(read_task(folder, package))


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("evaluator.py", True),
        ("task.toml", True),
        ("data/table.csv", True),
        ("helper.py", True),
        ("initial.py", False),
        ("instructions.md", False),
    ],
)
def test_files_of_the_task(tmp_path: Path, file: str, changes: bool) -> None:
    folder = write_toy_task(tmp_path)
    before = digest(folder)
    path = folder / file
    path.parent.mkdir(exist_ok=True)
    path.write_text((path.read_text() if path.exists() else "") + "\n# changed\n")
    assert (digest(folder) != before) == changes


def test_what_tasks_share_counts_and_their_neighbours_do_not(tmp_path: Path) -> None:
    folder = write_toy_task(tmp_path)
    before, alone = digest(folder, "toys.vector"), digest(folder)
    write_toy_task(tmp_path, name="other")
    assert digest(folder, "toys.vector") == before
    (folder.parent / "shared.py").write_text("x = 1\n")
    with_module = digest(folder, "toys.vector")
    (folder.parent / "tools").mkdir()
    (folder.parent / "tools" / "orbit.py").write_text("y = 2\n")
    assert len({before, with_module, digest(folder, "toys.vector")}) == 3
    assert digest(folder) == alone  # a folder outside any package stands alone


def test_digest_does_not_depend_on_the_place(tmp_path: Path) -> None:
    one = write_toy_task(tmp_path / "a")
    other = write_toy_task(tmp_path / "b")
    assert digest(one) == digest(other)


def test_versions_and_machine_are_told() -> None:
    assert {"python", "numpy"} <= versions().keys()
    assert int(machine()["cores"]) >= 1
