"""Checksums: every change of a file is noticed, an unchanged one is not read again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from local_mirror import WEIGHT, declared, sha256, source, write_data_task

from benchmark import checksums
from benchmark.checksums import Marks, array_digests
from benchmark.task import DataFile

URL = "https://example.org/weight.json"


@pytest.fixture
def file(tmp_path: Path) -> DataFile:
    """The declaration of the toy task's file."""
    return declaration(tmp_path, declared())


def declaration(folder: Path, table: str) -> DataFile:
    (only,) = write_data_task(folder / "tasks", table).declared.data
    return only


def aged(path: Path, content: bytes) -> Path:
    """A file that was written long ago, as far as its own times tell."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (1e9, 1e9))
    return path


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that are read, in order; every file counts as settled."""
    seen: list[Path] = []
    original = checksums.sha256_file
    monkeypatch.setattr(checksums, "SETTLED_NS", -(10**12))
    monkeypatch.setattr(checksums, "sha256_file", lambda p: (seen.append(p), original(p))[1])
    return seen


@pytest.mark.parametrize("inside", [True, False])
def test_an_unchanged_file_is_read_once(
    inside: bool, file: DataFile, reads: list[Path], tmp_path: Path
) -> None:
    path = aged(tmp_path / ("cache" if inside else "mirror") / "weight.json", WEIGHT)
    for _ in range(3):
        verdict = Marks(tmp_path / "cache").examine(path, file)
        assert (verdict.sha256, verdict.problem) == (sha256(WEIGHT), "")
    assert reads == [path]
    assert Marks(tmp_path / "cache").examine(path, file, again=True).problem == ""
    assert reads == [path, path]


def keep_times(path: Path, content: bytes) -> None:
    status = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def replace_keeping_times(path: Path, content: bytes) -> None:
    other = aged(path.with_name("other"), content)
    other.replace(path)


CHANGES: dict[str, tuple[Callable[[Path, bytes], None], bytes]] = {
    "one byte": (lambda path, content: (path.write_bytes(content), None)[1], b"2.6\n"),
    "one byte, times kept": (keep_times, b"2.6\n"),
    "another file, times kept": (replace_keeping_times, b"2.6\n"),
    "shorter": (keep_times, b"2.5"),
    "longer": (keep_times, b"2.50\n"),
    "empty": (keep_times, b""),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_noticed(
    change: str, file: DataFile, reads: list[Path], tmp_path: Path
) -> None:
    path = aged(tmp_path / "cache" / "weight.json", WEIGHT)
    marks = Marks(tmp_path / "cache")
    assert marks.examine(path, file).problem == ""
    time.sleep(0.02)  # the clock of a file system may tick only every few milliseconds
    act, content = CHANGES[change]
    act(path, content)
    for _ in range(2):
        assert "wrong checksum" in marks.examine(path, file).problem
    keep_times(path, WEIGHT)
    assert marks.examine(path, file).problem == ""


def test_a_change_within_the_same_tick_is_noticed(file: DataFile, tmp_path: Path) -> None:
    """A file that was written a moment ago is read again: its times cannot tell a change."""
    path = tmp_path / "cache" / "weight.json"
    path.parent.mkdir()
    marks = Marks(tmp_path / "cache")
    for _ in range(200):
        path.write_bytes(WEIGHT)
        marks.accept(path, file, sha256(WEIGHT))
        assert marks.examine(path, file).problem == ""
        path.write_bytes(b"2.6\n")
        assert "wrong checksum" in marks.examine(path, file).problem


def test_marks_of_another_declaration_do_not_count(tmp_path: Path, reads: list[Path]) -> None:
    first = declaration(tmp_path / "a", declared())
    second = declaration(tmp_path / "b", declared(b"3.5\n"))
    path = aged(tmp_path / "cache" / "weight.json", WEIGHT)
    marks = Marks(tmp_path / "cache")
    assert marks.examine(path, first).problem == ""
    assert "wrong checksum" in marks.examine(path, second).problem


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"sha256": 1}', "\x00"])
def test_a_broken_mark_does_no_harm(
    text: str, file: DataFile, reads: list[Path], tmp_path: Path
) -> None:
    path = aged(tmp_path / "cache" / "weight.json", WEIGHT)
    marks = Marks(tmp_path / "cache")
    marks.examine(path, file)
    (mark,) = (tmp_path / "cache" / ".checked").iterdir()
    mark.write_text(text)
    assert marks.examine(path, file).problem == ""
    assert reads == [path, path]


def test_a_cache_can_be_moved(tmp_path: Path) -> None:
    """What only a converter vouched for is still known in the new place."""
    table = declared(mirror="", source=f'{{ url = "{URL}", converter = "package.module:convert" }}')
    file = declaration(tmp_path, table)
    path = aged(tmp_path / "old" / "weight.json", WEIGHT)
    Marks(tmp_path / "old").accept(path, file, sha256(WEIGHT))
    (tmp_path / "old").rename(tmp_path / "new")
    moved = tmp_path / "new" / "weight.json"
    assert Marks(tmp_path / "new").examine(moved, file).problem == ""
    moved.write_bytes(b"2.6\n")
    problem = Marks(tmp_path / "new").examine(moved, file).problem
    assert "has changed since it was fetched" in problem
    (tmp_path / "new" / ".checked").rename(tmp_path / "marks")
    moved.write_bytes(WEIGHT)
    assert "was not fetched by evoduet" in Marks(tmp_path / "new").examine(moved, file).problem


def test_both_declared_checksums_are_right(tmp_path: Path) -> None:
    file = declaration(tmp_path, declared(source=source(URL, b"2.50\n")))
    marks = Marks(tmp_path / "cache")
    for content, right in ((WEIGHT, True), (b"2.50\n", True), (b"2.6\n", False)):
        path = aged(tmp_path / "weight.json", content)
        assert (marks.examine(path, file).problem == "") == right


def npz(path: Path, **arrays: Any) -> Path:
    np.savez_compressed(path, **arrays)
    return path


def test_arrays_decide_where_bytes_may_differ(tmp_path: Path) -> None:
    arrays = {"a": np.arange(5.0), "b": np.arange(3, dtype=np.int32)}
    digests = array_digests(npz(tmp_path / "data.npz", **arrays))
    lines = "".join(f'\n{name} = "{digest}"' for name, digest in digests.items())
    table = declared(name="data.npz") + f"[data.check.arrays]{lines}\n"
    file = declaration(tmp_path, table)
    marks = Marks(tmp_path / "cache")

    def problem(**changed: Any) -> str:
        return marks.examine(npz(tmp_path / "data.npz", **{**arrays, **changed}), file).problem

    assert problem() == ""
    assert problem(a=np.arange(5.0).astype(">f8")) == ""
    assert problem(a=np.arange(5.0) + 1e-12) == "has other arrays than expected (a)"
    assert "other arrays" in problem(b=np.arange(3))
    assert "other arrays" in problem(c=np.arange(3))
    unreadable = "is not a readable npz file"
    assert problem(a=np.array([{}])) == unreadable
    whole = npz(tmp_path / "data.npz", **arrays).read_bytes()
    np.save(tmp_path / "array.npy", arrays["a"])
    for content in (
        whole[:-40],
        whole[:60] + b"\xff\xff\xff" + whole[63:],
        (tmp_path / "array.npy").read_bytes(),
        b"",
    ):
        path = aged(tmp_path / "data.npz", content)
        assert marks.examine(path, file).problem == unreadable


def test_rows_decide_where_the_order_may_differ(tmp_path: Path) -> None:
    table = declared(name="rows.csv", check="{ rows = 3 }")
    file = declaration(tmp_path, table)
    marks = Marks(tmp_path / "cache")
    for content, problem in (
        (b"x\n1\n2\n3\n", ""),
        (b"x\n3\n2\n1", ""),
        (b"x\n1\n2\n", "has 2 rows, expected 3"),
        (b"", "has 0 rows, expected 3"),
    ):
        assert marks.examine(aged(tmp_path / "rows.csv", content), file).problem == problem
