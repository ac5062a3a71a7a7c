"""The journal survives every kind of end, and notices every kind of damage."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from method.journal import FILE_NAME, Blobs, Journal, JournalError, read_journal

payloads = st.dictionaries(
    st.text(max_size=5), st.none() | st.integers() | st.text(max_size=20) | st.lists(st.booleans())
)


def write(folder: Path, count: int = 3) -> bytes:
    with Journal(folder, clock=lambda: "2026-01-01T00:00:00.000+00:00") as journal:
        for number in range(len(journal.events), count):
            journal.append("sample", {"number": number, "text": "ü\n"})
    return (folder / FILE_NAME).read_bytes()


@settings(max_examples=25)
@given(st.lists(payloads, max_size=5))
def test_events_come_back(
    tmp_path_factory: pytest.TempPathFactory, data: list[dict[str, object]]
) -> None:
    folder = tmp_path_factory.mktemp("run")
    with Journal(folder) as journal:
        for payload in data:
            journal.append("sample", payload)
    read = read_journal(folder)
    assert [event.data for event in read] == data
    assert [event.seq for event in read] == list(range(len(data)))


def test_uncommitted_events_are_not_on_disk(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.append("sample", {})
        assert read_journal(tmp_path) == []
        journal.commit()
        assert len(read_journal(tmp_path)) == 1


def test_a_journal_torn_at_any_byte_opens(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole")
    lines = whole.splitlines(keepends=True)
    for size in range(len(whole) + 1):
        folder = tmp_path / f"cut{size}"
        folder.mkdir()
        (folder / FILE_NAME).write_bytes(whole[:size])
        kept = sum(1 for i in range(1, 4) if len(b"".join(lines[:i])) <= size)
        with Journal(folder, clock=lambda: "2026-01-01T00:00:00.000+00:00") as journal:
            assert len(journal.events) == kept
        assert write(folder) == whole


@pytest.mark.parametrize("line", [0, 1])
def test_damage_before_the_end_is_refused(tmp_path: Path, line: int) -> None:
    content = write(tmp_path)
    lines = content.splitlines(keepends=True)
    record = json.loads(lines[line])
    record["data"]["number"] = 99
    altered = [*lines]
    altered[line] = json.dumps(record).encode() + b"\n"
    for damaged in (altered, lines[:line] + lines[line + 1 :], [b"junk\n", *lines]):
        (tmp_path / FILE_NAME).write_bytes(b"".join(damaged))
        with pytest.raises(JournalError, match=r"line \d is damaged"):
            read_journal(tmp_path)
        with pytest.raises(JournalError, match=r"line \d is damaged"):
            Journal(tmp_path)


def test_two_writers_are_refused(tmp_path: Path) -> None:
    with Journal(tmp_path):
        with pytest.raises(JournalError, match="another process"):
            Journal(tmp_path)
        code = f"from method.journal import *; Journal(Path({str(tmp_path)!r}))"
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "another process writes this run" in other.stderr
    Journal(tmp_path).close()


def test_a_full_disk_leaves_the_file_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, 1)
    with Journal(tmp_path) as journal:
        journal.append("sample", {"text": "x" * 1000})
        real = os.write

        def full(fd: int, content: bytes) -> int:
            real(fd, bytes(content)[:10])
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(os, "write", full)
            with pytest.raises(OSError, match="No space"):
                journal.commit()
        assert len(read_journal(tmp_path)) == 1
    assert len(read_journal(tmp_path)) == 2


def test_no_nan_in_a_journal(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal, pytest.raises(ValueError, match="JSON"):
        journal.append("sample", {"value": float("nan")})


def test_a_folder_without_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="no run there"):
        read_journal(tmp_path)


def test_blobs_are_addressed_by_content(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    name = blobs.put("text \ud800 with a lone surrogate")
    assert blobs.put("text \ud800 with a lone surrogate") == name
    assert blobs.get(name) == "text \ud800 with a lone surrogate"
    assert (tmp_path / "blobs" / name[:2] / name).is_file()
    (tmp_path / "blobs" / name[:2] / name).write_text("altered")
    with pytest.raises(JournalError, match="not what the journal recorded"):
        blobs.get(name)
    with pytest.raises(JournalError, match="missing"):
        blobs.get("0" * 64)


def test_a_line_nested_too_deeply_is_damage(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("[" * 200_000 + "\n")
    with pytest.raises(JournalError, match="line 1 is damaged"):
        read_journal(tmp_path)
