"""The clock of the machine jumps: limits count monotonic time, journals stay in order."""

from __future__ import annotations

import itertools
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fake_task import clients, config
from toy_task import write_toy_task

from benchmark import evaluate
from benchmark.harness import Harness
from method.budget import Budget
from method.journal import Journal, read_journal
from method.runs import replay, resume, run
from method.trace import check_trace, read_trace

JUMPS = (0, 86_400, -7 * 86_400, 3, -1, 10 * 365 * 86_400, -30 * 365 * 86_400)
"""Seconds by which the clock is wrong, one after the other."""


@pytest.fixture
def jumping(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the wall clock finds another time."""
    real, real_ns, jumps = time.time, time.time_ns, itertools.cycle(JUMPS)
    monkeypatch.setattr(time, "time", lambda: real() + next(jumps))
    monkeypatch.setattr(time, "time_ns", lambda: real_ns() + next(jumps) * 10**9)

    def now() -> str:
        moment = datetime.now(UTC) + timedelta(seconds=next(jumps))
        return moment.isoformat(timespec="milliseconds")

    monkeypatch.setattr(Journal.__init__, "__defaults__", (now,))


@pytest.mark.usefixtures("jumping")
def test_time_limits_are_those_of_the_monotonic_clock(tmp_path: Path) -> None:
    task = str(write_toy_task(tmp_path))
    program = tmp_path / "program.py"
    with Harness(workers=1) as harness:
        program.write_text("def run_code():\n    return [1.0]\n")
        for _ in range(len(JUMPS)):
            result = evaluate(task, program, harness=harness)
            assert (result.status, result.search) == ("valid", 1.0), result.reason
            assert 0 <= result.wall_s < 20
        program.write_text("import time\ndef run_code():\n    time.sleep(60)\n")
        started = time.monotonic()
        result = evaluate(task, program, harness=harness, wall_s=1.0)
        assert result.status == "timeout"
        assert 1.0 <= result.wall_s <= time.monotonic() - started < 30


@pytest.mark.usefixtures("jumping")
def test_a_run_is_the_same_whatever_the_clock_says(tmp_path: Path) -> None:
    given = config(iterations=6, max_hours=1.0)
    result = run(given, tmp_path / "run", clients=clients())
    assert (result.status, result.summary["done"]) == ("finished", 6)
    events = read_journal(tmp_path / "run")
    assert [event.seq for event in events] == list(range(len(events)))
    check_trace(read_trace(tmp_path / "run"))
    assert replay(tmp_path / "run").summary == result.summary
    assert resume(tmp_path / "run", clients=clients()).summary == result.summary


def test_a_journal_takes_any_time_and_keeps_its_order(tmp_path: Path) -> None:
    moments = itertools.cycle(["2026-01-02T00:00:00.000+00:00", "1970-01-01T00:00:00.000+00:00"])
    for _ in range(2):
        with Journal(tmp_path, clock=lambda: next(moments)) as log:
            for number in range(3):
                log.append("sample", {"number": number})
    events = read_journal(tmp_path)
    assert [event.seq for event in events] == list(range(6))
    assert len({event.time for event in events}) == 2


def test_hours_of_a_budget_are_monotonic(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = Budget(max_wall_s=3600)
    monkeypatch.setattr(time, "time", lambda: 1e12)
    budget.check()
    assert budget.reached is None
    later = [0.0]
    budget = Budget(max_wall_s=3600, clock=lambda: later[0])
    later[0] = 3599
    budget.check()
    assert budget.reached is None
    later[0] = 3600
    budget.check()
    assert budget.reached == "3600 s"
