"""Runs whose process is killed, or whose journal is torn, go on to the same end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from fake_task import LocalEvaluator, clients, config
from steady_traces import steady_trace

from method.journal import FILE_NAME, Event, read_journal
from method.runs import resume, run

DRIVER = Path(__file__).with_name("kill_driver.py")


def verdicts(events: list[Event]) -> Counter[tuple[int, int, int]]:
    """How many verdicts a journal holds on each (t, attempt, slot)."""
    return Counter(tuple(e.data["key"][:3]) for e in events if e.name == "evaluation")


@pytest.mark.slow
def test_a_process_killed_at_any_event(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(DRIVER), str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    lives = [json.loads(line) for line in done.stdout.splitlines()]
    expected = steady_trace(tmp_path / "whole")
    once = Counter((tmp_path / "whole" / "evaluations.txt").read_text().splitlines())
    assert set(once.values()) == {1}
    assert len(expected) == 6
    total = len(read_journal(tmp_path / "whole"))
    assert [x["folder"] for x in lives if "app" in x["folder"]] == [
        f"{event:03d}-appended" for event in range(total)
    ]
    assert lives[-1]["left"] == total
    reruns = 0
    for life in lives:
        name = life["folder"]
        event, when = name.split("-")
        assert (life["signal"], life["end"]) == (signal.SIGKILL, 0), (name, done.stderr)
        assert life["left"] <= int(event) if when == "appended" else life["left"] > int(event)
        assert steady_trace(tmp_path / name) == expected, name
        events = read_journal(tmp_path / name)
        assert set(verdicts(events).values()) == {1}
        started = Counter((tmp_path / name / "evaluations.txt").read_text().splitlines())
        again = started - once
        assert started.keys() == once.keys()
        assert again.total() <= 1, name  # the slot in flight
        marked = sum(e.data["reruns"] for e in events if e.name == "evaluation")
        assert again.total() <= marked <= 1
        reruns += again.total()
    assert reruns > 0


@pytest.fixture
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Journals are cut here by hand, so nothing has to be on the platters."""
    monkeypatch.setattr(os, "fsync", lambda fd: None)


def cut(whole: Path, folder: Path, content: bytes) -> Path:
    folder.mkdir()
    (folder / FILE_NAME).write_bytes(content)
    (folder / "blobs").symlink_to(whole / "blobs")
    return folder


@pytest.mark.slow
@pytest.mark.usefixtures("no_sync")
def test_a_journal_cut_after_any_event(tmp_path: Path) -> None:
    """What is in the journal is neither asked nor evaluated again."""
    whole = tmp_path / "whole"
    run(config(iterations=6, seed=3), whole, clients=clients())
    expected = steady_trace(whole)
    lines = (whole / FILE_NAME).read_bytes().splitlines(keepends=True)
    names = [event.name for event in read_journal(whole)]
    for kept in range(1, len(lines)):
        folder = cut(whole, tmp_path / f"cut{kept}", b"".join(lines[:kept]))
        evaluator = LocalEvaluator()
        again: Any = clients(evaluator)
        resume(folder, clients=again)
        assert steady_trace(folder) == expected, f"after event {kept} ({names[kept - 1]})"
        assert set(verdicts(read_journal(folder)).values()) == {1}
        assert len(evaluator.evaluated) == names[kept:].count("evaluation")
        assert again.model.calls == names[kept:].count("model_call")


@pytest.mark.usefixtures("no_sync")
def test_a_journal_torn_at_any_byte(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    run(config(iterations=6, seed=3, rounds=1, candidates=2), whole, clients=clients())
    expected = steady_trace(whole)
    content = (whole / FILE_NAME).read_bytes()
    first = content.index(b"\n") + 1
    for size in range(first, len(content), max(1, (len(content) - first) // 60)):
        folder = cut(whole, tmp_path / f"torn{size}", content[:size])
        resume(folder, clients=clients())
        assert steady_trace(folder) == expected, f"torn at byte {size}"
        assert set(verdicts(read_journal(folder)).values()) == {1}
