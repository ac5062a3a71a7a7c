"""The driver: nothing twice, nothing lost, nothing beyond the cap; on stand-ins for executors."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sweep_cases import Instant, states, sweep, toy_plan, write_plan

from method.executors.jobs import Job, Outcome
from method.sweep.ledger import read_ledger
from method.sweep.session import drive, open_session

PAID = """
[defaults]
model = "openai/some"
iterations = 10
[grid]
task = ["cp26", "cp32"]
method = ["none", "evoduet"]
seed = [1, 2, 3]
"""


def ids(executor: Instant) -> list[str]:
    return [job.id for job in executor.submitted]


def test_again_does_only_what_is_missing(tmp_path: Path) -> None:
    plan = toy_plan(tmp_path, "cp26", "cp32")
    first = Instant()
    ending, projection = sweep(plan, tmp_path / "out", first)
    assert ending == "finished"
    assert set(states(projection).values()) == {"done"}
    assert len(first.submitted) == 4
    again = Instant()
    sweep(plan, tmp_path / "out", again)
    assert again.submitted == []
    plan.write_text(plan.read_text() + "seed = [42, 43]\n")
    more = Instant()
    sweep(plan, tmp_path / "out", more)
    assert len(more.submitted) == 4
    assert not set(ids(more)) & set(ids(first))


def test_what_was_taken_out_of_the_plan_comes_back_as_it_was(tmp_path: Path) -> None:
    plan = toy_plan(tmp_path, "cp26", "cp32")
    whole = plan.read_text()
    sweep(plan, tmp_path / "out", Instant())
    plan.write_text(whole.replace(', "cp32"', ""))
    _, smaller = sweep(plan, tmp_path / "out", Instant())
    assert len(smaller.plan) == 2
    plan.write_text(whole)
    again = Instant()
    _, projection = sweep(plan, tmp_path / "out", again)
    assert len(projection.plan) == 4
    assert again.submitted == []


@pytest.mark.parametrize(
    ("state", "again", "with_retry"),
    [("done", 0, 0), ("budget", 0, 0), ("failed", 0, 1), ("blocked", 1, 1), ("interrupted", 1, 1)],
)
def test_what_is_tried_again(tmp_path: Path, state: Any, again: int, with_retry: int) -> None:
    plan = toy_plan(tmp_path, "cp26")
    answers = {}

    def answer(job: Job) -> Outcome:
        return answers.get(job.id, Outcome(job.id, state, "so it is"))

    first = Instant(answer)
    _, projection = sweep(plan, tmp_path / "out", first)
    assert {job.reason for job in projection.plan} == {"so it is"}
    second = Instant(answer)
    sweep(plan, tmp_path / "out", second)
    assert len(second.submitted) == 2 * again
    third = Instant()
    _, projection = sweep(plan, tmp_path / "out", third, retry=True)
    assert len(third.submitted) == 2 * with_retry
    assert all(job.attempts == 1 + again + with_retry for job in projection.plan)


def test_a_job_that_lost_its_worker_is_given_out_again(tmp_path: Path) -> None:
    plan = toy_plan(tmp_path, "cp26")
    losses = {"none": 2, "topk": 99}

    def answer(job: Job) -> Outcome:
        kind = "topk" if "topk" in job.id else "none"
        losses[kind] -= 1
        lost = losses[kind] >= 0
        return Outcome(job.id, "interrupted" if lost else "done", "node died", lost=lost)

    executor = Instant(answer, capacity=1)
    _, projection = sweep(plan, tmp_path / "out", executor)
    none, topk = projection.plan
    assert (none.state, none.attempts) == ("done", 3)
    assert (topk.state, topk.attempts) == ("failed", 3)
    assert topk.reason == "lost its worker 3 times, the last: node died"


def test_jobs_wait_for_room_in_their_order(tmp_path: Path) -> None:
    plan = toy_plan(tmp_path, "cp26", "cp32")
    plan.write_text(plan.read_text() + "workers = [3]\nseed = [1, 2]\n")
    session = open_session(plan, tmp_path / "out")
    executor = Instant(capacity=7)
    drive(session, executor)
    assert executor.most == 2
    assert ids(executor) == [cell.job.id for cell in session.cells]


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    cap=st.just(0.0) | st.floats(0.01, 30.0),
    capacity=st.integers(1, 5),
    own=st.sampled_from([None, 1.5]),
)
def test_caps_of_all_runs_together_stay_below_the_sweeps(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    cap: float,
    capacity: int,
    own: float | None,
) -> None:
    folder = tmp_path_factory.mktemp("caps")
    text = PAID if own is None else PAID.replace("iterations", f"max_cost = {own}\niterations")
    plan = write_plan(folder, text)
    draw = random.Random(seed)
    spent = 0.0
    most = 0.0

    def answer(job: Job) -> Outcome:
        nonlocal spent, most
        handed = [each.spec["config"]["max_cost"] for each in executor.running.values()]
        most = max(most, spent + sum(handed) + job.spec["config"]["max_cost"])
        cost = draw.uniform(0.0, job.spec["config"]["max_cost"])
        spent += cost
        return Outcome(job.id, "done", data={"cost_usd": cost})

    executor = Instant(answer, capacity)
    session = open_session(plan, folder / "out")
    session = open_session(plan, folder / "out", max_cost=cap) if own is None else session
    _, projection = drive(session, executor)
    assert projection.spent_usd == pytest.approx(spent)
    if own is None:
        assert most <= cap * (1 + 1e-9)
    assert all(own is None or j.spec["config"]["max_cost"] <= own for j in executor.submitted)
    for job in projection.plan:
        assert job.state == ("done" if job.attempts else "held")
    if cap > 0:
        assert len(executor.submitted) == 12


def test_a_run_that_may_call_more_gets_more(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, PAID.replace("seed = [1, 2, 3]", "candidates = [1, 8]"))
    executor = Instant(lambda job: Outcome(job.id, "done", data={"cost_usd": 0.0}), capacity=8)
    sweep(plan, tmp_path / "out", executor, max_cost=10.0)
    caps = [job.spec["config"]["max_cost"] for job in executor.submitted]
    assert sum(caps) == pytest.approx(10.0)
    evoduet, none = (
        min(job.spec["config"]["max_cost"] for job in executor.submitted if f"/{name}-" in job.id)
        for name in ("evoduet", "none")
    )
    assert evoduet > none


def test_beyond_the_cap_nothing_is_started_and_more_money_goes_on(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, PAID)

    def greedy(job: Job) -> Outcome:  # the last iteration of a run goes over its cap
        return Outcome(job.id, "budget", data={"cost_usd": job.spec["config"]["max_cost"] + 1.0})

    first = Instant(greedy, capacity=1)
    _, projection = sweep(plan, tmp_path / "out", first, max_cost=3.0)
    held = [job for job in projection.plan if job.state == "held"]
    assert 0 < len(held) < 12
    assert "cap of 3.0 USD" in held[0].reason
    assert projection.spent_usd >= 3.0
    again = Instant(greedy)
    sweep(plan, tmp_path / "out", again, max_cost=3.0)
    assert again.submitted == []
    more = Instant(lambda job: Outcome(job.id, "done", data={"cost_usd": 0.1}))
    _, projection = sweep(plan, tmp_path / "out", more, max_cost=30.0)
    assert set(ids(more)) == {job.id for job in held}
    assert {projection.jobs[job.id].state for job in held} == {"done"}


def test_runs_that_cost_nothing_need_no_money(tmp_path: Path) -> None:
    executor = Instant()
    _, projection = sweep(toy_plan(tmp_path, "cp26"), tmp_path / "out", executor, max_cost=0.0)
    assert set(states(projection).values()) == {"done"}
    assert "max_cost" not in executor.submitted[0].spec["config"]


def test_an_interrupt_starts_nothing_more_and_is_written_down(tmp_path: Path) -> None:
    session = open_session(write_plan(tmp_path, PAID), tmp_path / "out")
    seen: list[str] = []

    class Stopping(Instant):
        def finished(self, timeout_s: float) -> list[Outcome]:
            import os
            import signal

            if not self.interrupts:
                os.kill(os.getpid(), signal.SIGINT)
                return []
            job = self.running.pop(next(iter(self.running)))
            seen.append(job.id)
            return [Outcome(job.id, "interrupted", "stopped on request")]

    executor = Stopping(capacity=2)
    ending, projection = drive(session, executor)
    assert ending == "interrupted"
    assert executor.interrupts == 1
    assert len(seen) == len(executor.submitted) == 2
    assert sorted(states(projection).values()).count("planned") == 10
    assert read_ledger(tmp_path / "out") == projection
