"""The ledger survives crashes, notices damage and lets one driver work."""

from __future__ import annotations

from pathlib import Path

import pytest

from method.sweep.ledger import (
    FILE_NAME,
    Ledger,
    LedgerError,
    driven,
    evaluations,
    read_ledger,
)


def ended(ledger: Ledger, job: str, **more: object) -> None:
    given = {"state": "done", "reason": "", "lost": False, "host": "h", "cost_usd": 0.5, "data": {}}
    ledger.note("ended", job=job, **{**given, **more})


def write(folder: Path) -> None:
    with Ledger(folder) as ledger:
        ledger.note("sweep_started", name="toy", kind="runs")
        for job in ("a", "b", "c"):
            ledger.note("planned", job=job, kind="run", axes={"task": job})
        ledger.note("started", job="a", attempt=1)
        ended(ledger, "a", data={"T": 3, "done": 3, "best": {"search_score": 1.0}, "other": 1})
        ledger.note("started", job="b", attempt=1)
        ledger.note("withdrawn", job="c")


def test_the_projection_is_the_same_from_the_file(tmp_path: Path) -> None:
    write(tmp_path)
    projection = read_ledger(tmp_path)
    assert {job.id: job.state for job in projection.plan} == {"a": "done", "b": "running"}
    assert projection.jobs["a"].result == {"T": 3, "done": 3, "best": {"search_score": 1.0}}
    assert projection.spent_usd == 0.5
    with Ledger(tmp_path) as ledger:
        assert ledger.projection == projection
        ledger.note("planned", job="c", kind="run", axes={})
        assert len(ledger.projection.plan) == 3
        assert read_ledger(tmp_path) == projection  # not before it is committed
        ledger.commit()
        assert read_ledger(tmp_path) == ledger.projection


@pytest.mark.parametrize("cut", [1, 20, 100])
def test_a_torn_line_is_cut(tmp_path: Path, cut: int) -> None:
    write(tmp_path)
    file = tmp_path / FILE_NAME
    whole = file.read_bytes()
    file.write_bytes(whole[:-cut])
    lines = whole[:-cut].count(b"\n")
    assert len(read_ledger(tmp_path).plan) == 3
    with Ledger(tmp_path) as ledger:
        ledger.note("withdrawn", job="c")
    content = file.read_bytes()
    assert content.count(b"\n") == lines + 1
    assert len(read_ledger(tmp_path).plan) == 2


def test_damage_is_refused_with_the_line(tmp_path: Path) -> None:
    write(tmp_path)
    file = tmp_path / FILE_NAME
    lines = file.read_bytes().splitlines(keepends=True)
    for damaged in (
        [*lines[:3], *lines[4:]],
        [*lines[:3], lines[3].replace(b'"axes"', b'"axis"'), *lines[4:]],
        [*lines[:4], b"\x00" * 50 + b"\n", *lines[5:]],
    ):
        file.write_bytes(b"".join(damaged))
        with pytest.raises(LedgerError, match=r"line [45] does not follow"):
            read_ledger(tmp_path)
        with pytest.raises(LedgerError, match=r"line [45] does not follow"):
            Ledger(tmp_path)


def test_a_second_driver_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("method.sweep.ledger._LOCK_S", 0.1)
    assert not driven(tmp_path)
    with Ledger(tmp_path):
        assert driven(tmp_path)
        with pytest.raises(LedgerError, match="another driver works on this sweep"):
            Ledger(tmp_path)
    assert not driven(tmp_path)
    Ledger(tmp_path).close()


def test_no_sweep_is_said(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="no sweep there"):
        read_ledger(tmp_path)


def test_evaluations_are_the_last_records_of_what_is_planned(tmp_path: Path) -> None:
    with Ledger(tmp_path) as ledger:
        for job in ("a", "b", "c"):
            ledger.note("planned", job=job, kind="evaluation", axes={})
        for job, score in (("b", 1.0), ("a", 2.0), ("b", 3.0), ("c", 4.0)):
            ended(ledger, job, data={"stage": "search", "status": "valid", "search": score})
        ledger.note("withdrawn", job="c")
    assert [record["search"] for record in evaluations(tmp_path)] == [2.0, 3.0]
