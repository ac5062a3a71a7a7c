"""The short form of the soak: a few hundred evaluations, with its own account proven to count."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from faults.soak import account, soak

from method.journal import FILE_NAME


@pytest.mark.slow
def test_two_hundred_evaluations_while_workers_and_driver_are_killed(tmp_path: Path) -> None:
    figures = soak(tmp_path, 200)
    assert figures["finished"]
    assert figures["evaluations"] >= 201
    assert (figures["lost"], figures["duplicated"], figures["wrong"]) == (0, 0, 0)
    assert figures["killed_from_outside"] <= figures["workers_killed"]
    assert figures["drivers_killed"] >= 1
    ends = figures["drivers_killed"] + figures["harness_failures"]
    assert figures["driver_starts"] == 1 + ends
    assert figures["processes_left"] == 0
    assert figures["replay_identical"]
    assert {"ok", "invalid", "error"} <= figures["verdicts"].keys()
    the_account_notices_what_is_wrong(tmp_path / "run", tmp_path)


def the_account_notices_what_is_wrong(run: Path, folder: Path) -> None:
    """A lost, a doubled and a wrong verdict, each in a journal whose chain is whole."""
    from test_verification import rewritten

    lines = (run / FILE_NAME).read_bytes().splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if b'"event":"evaluation"' in line]
    ok = next(i for i in places[1:] if b'"status":"ok"' in lines[i])
    wrong = json.loads(lines[ok])
    wrong["data"]["result"]["status"] = "timeout"
    changes = {
        "lost": [*lines[:ok], *lines[ok + 1 :]],
        "duplicated": [*lines[: ok + 1], lines[ok], *lines[ok + 1 :]],
        "wrong": [*lines[:ok], json.dumps(wrong).encode() + b"\n", *lines[ok + 1 :]],
    }
    iterations = sum(b'"event":"iteration_done"' in line for line in lines)
    for name, changed in changes.items():
        copy = folder / name
        shutil.copytree(run, copy)
        (copy / FILE_NAME).write_bytes(b"".join(changed))
        rewritten(copy, b"", b"")
        told = account(copy, iterations)
        found = {key for key in ("lost", "duplicated", "wrong") if told[key]}
        assert found == {name}
