"""The private folder of the backend ``process``: how large it is, and that it can be removed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmark.sandbox import scratch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "scratch"
    made.mkdir()
    return made


def test_usage_counts_what_is_allocated(folder: Path) -> None:
    (folder / "large").write_bytes(os.urandom(3 << 20))
    (folder / "below").mkdir()
    (folder / "below" / "small").write_bytes(b"x")
    os.link(folder / "large", folder / "below" / "again")
    with open(folder / "sparse", "wb") as file:
        file.truncate(1 << 40)
    (folder / "loop").symlink_to(folder)
    used = scratch.usage(folder, [])
    assert used.files == 5
    assert 3.0 <= used.megabytes < 4.0
    assert not used.too_deep


def test_usage_counts_deleted_files_that_are_open(folder: Path) -> None:
    with open(folder / "gone", "wb", buffering=0) as file:
        (folder / "gone").unlink()
        file.write(os.urandom(2 << 20))
        assert scratch.usage(folder, [os.getpid()]).megabytes >= 2.0
    assert scratch.usage(folder, [os.getpid(), 2**22 + 1]).megabytes < 2.0


def test_everything_can_be_removed(folder: Path) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    (folder / "link").symlink_to(outside)
    (folder / "dangling").symlink_to("nowhere")
    os.mkfifo(folder / "pipe")
    for name in ("a", "b"):
        (folder / name).mkdir()
        for number in range(20):
            (folder / name / str(number)).mkdir()
            (folder / name / str(number) / "file").write_text("x")
    (folder / "a").chmod(0)
    start = os.open(".", os.O_RDONLY)
    os.chdir(folder)
    for _ in range(400):
        os.mkdir("deeper-and-deeper")
        os.chdir("deeper-and-deeper")
    os.fchdir(start)
    os.close(start)
    assert scratch.usage(folder, []).too_deep
    folder.chmod(0)
    scratch.remove(folder)
    assert not folder.exists()
    assert (outside / "kept").read_text() == "kept"
