"""Giving the jobs of a plan to an executor: only what is missing, within the cap, interruptible."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from method.executors.jobs import Executor, Job, Outcome
from method.executors.work import numbers
from method.manifest import manifest_config
from method.runs import GRACE_S
from method.sweep.cells import Cell
from method.sweep.ledger import JobState, Ledger
from method.sweep.purse import Purse

MAX_LOSSES = 3
"""A job that loses its worker so often in one sweep is at fault itself."""
_TURN_S = 0.5
FINAL = ("done", "budget")

Ending = Literal["finished", "interrupted"]


@dataclass
class Driver:
    """Works through ``cells`` in their order, skipping what the ledger knows as done.

    A job that does not fit waits, and those behind it with it: so none starves. ``changed`` is
    called after each turn in which something happened.
    """

    cells: list[Cell]
    ledger: Ledger
    executor: Executor
    purse: Purse
    retry: bool = False
    changed: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self.jobs = self.ledger.projection.jobs
        self._announce()
        self._waiting = deque(cell for cell in self.cells if self._missing(cell))
        self._running: dict[str, Cell] = {}
        self._before: dict[str, float] = {}
        self._losses: dict[str, int] = {}
        self._priced = all(cell.cost_usd is not None for cell in self._waiting)
        self._weights = sum(self._weight(cell) for cell in self._waiting)
        self._stops = 0
        self._asked = 0
        self._deadline = 0.0
        self.purse.spent_usd = self.ledger.projection.spent_usd

    def stop(self) -> None:
        """Start nothing more and interrupt what runs; called again: at once. Safe in a signal."""
        self._stops += 1

    def run(self) -> Ending:
        """Until nothing is left to do. Raises ``OSError`` when the ledger cannot be written."""
        happened = 0
        while True:
            if self._stops:
                self._interrupt()
            else:
                happened += self._start()
            self.ledger.commit()
            if happened:
                self.changed()
            if not self._running:
                break
            outcomes = self.executor.finished(_TURN_S)
            for outcome in outcomes:
                self._settle(outcome)
            happened = len(outcomes)
        ending: Ending = "interrupted" if self._stops else "finished"
        self.ledger.note("sweep_stopped", reason=ending)
        self.ledger.commit()
        self.changed()
        return ending

    def _announce(self) -> None:
        planned = {cell.job.id for cell in self.cells}
        for cell in self.cells:
            known = self.jobs.get(cell.job.id)
            if known is None or known.withdrawn:
                self.ledger.note(
                    "planned", job=cell.job.id, kind=cell.job.kind, axes=dict(cell.axes)
                )
        for job in list(self.jobs.values()):
            if job.id not in planned and not job.withdrawn:
                self.ledger.note("withdrawn", job=job.id)
        self.ledger.commit()

    def _missing(self, cell: Cell) -> bool:
        state = self.jobs[cell.job.id].state
        return state not in FINAL and (state != "failed" or self.retry)

    def _start(self) -> int:
        """Start what fits and can be paid for; how many were started."""
        started = 0
        while self._waiting and self.executor.room(self._waiting[0].job.resources):
            cell = self._waiting[0]
            job = cell.job
            if job.kind == "run" and not cell.free:
                share = self._share(cell)
                if share is not None and share <= 0.0:
                    if self._running:
                        break  # what they leave may be enough
                    self._hold(cell)
                    continue
                job = _with_cap(cell, share)
            self._take(cell)
            state = self.jobs[job.id]
            self._before[job.id] = state.cost_usd
            self.ledger.note("started", job=job.id, attempt=state.attempts + 1)
            self._running[job.id] = cell
            self.executor.submit(job)
            started += 1
        return started

    def _weight(self, cell: Cell) -> float:
        """How much of the sweep's money a run may need: its cost at worst, else its calls."""
        if cell.free or cell.bound is None:
            return 0.0
        if self._priced and cell.cost_usd is not None:
            return cell.cost_usd
        return float(cell.bound.model_calls + cell.bound.searches)

    def _take(self, cell: Cell) -> None:
        self._waiting.popleft()
        self._weights -= self._weight(cell)

    def _share(self, cell: Cell) -> float | None:
        """The cap of a run that starts; what a run that goes on may still spend is reserved."""
        assert cell.config is not None
        folder = Path(cell.job.spec["folder"])
        known = numbers(folder)
        cost = known.get("cost_usd") or 0.0
        if known:
            cap = manifest_config(folder).max_cost
            rest = None if cap is None else max(0.0, cap - cost)
            if rest is not None:
                enough = rest <= self.purse.left_usd
                self.purse.reserve(cell.job.id, rest if enough else 0.0)
                return cap if enough else 0.0
        share = self.purse.share(self._weight(cell), self._weights, cell.config.max_cost)
        self.purse.reserve(cell.job.id, share if self.purse.cap_usd is not None else None)
        return share

    def _hold(self, cell: Cell) -> None:
        self._take(cell)
        reason = f"not started: the cap of {self.purse.cap_usd} USD for the sweep is used up"
        self.ledger.note("held", job=cell.job.id, reason=reason)

    def _settle(self, outcome: Outcome) -> None:
        cell = self._running.pop(outcome.job, None)
        if cell is None:
            return
        data: Any = dict(outcome.data)
        if outcome.lost and cell.job.kind == "run":
            data |= numbers(Path(cell.job.spec["folder"]))
        cost = data.get("cost_usd") if cell.job.kind == "run" else 0.0
        state, reason = self._verdict(outcome)
        self.ledger.note(
            "ended", job=outcome.job, state=state, reason=reason, lost=outcome.lost,
            host=outcome.host, cost_usd=cost, data=data,
        )  # fmt: skip
        self.purse.settle(outcome.job, self._before.pop(outcome.job), cost)
        if outcome.lost and state == "interrupted":
            self._waiting.appendleft(cell)
            self._weights += self._weight(cell)

    def _verdict(self, outcome: Outcome) -> tuple[str, str]:
        if not outcome.lost:
            return outcome.state, outcome.reason
        losses = self._losses[outcome.job] = self._losses.get(outcome.job, 0) + 1
        if losses < MAX_LOSSES:
            return outcome.state, outcome.reason
        return "failed", f"lost its worker {losses} times, the last: {outcome.reason}"

    def _interrupt(self) -> None:
        """Pass requests on; when the grace period is over, the second comes by itself."""
        now = time.monotonic()
        if self._asked and now > self._deadline:
            self._stops += 1
        if self._stops > self._asked:
            self._asked = self._stops
            self._deadline = now + GRACE_S + 5
            self.executor.interrupt()


def _with_cap(cell: Cell, share: float | None) -> Job:
    config = {**cell.job.spec["config"], "max_cost": share}
    return replace(cell.job, spec={**cell.job.spec, "config": config})


def states(jobs: Iterable[JobState]) -> dict[str, int]:
    """How many jobs are in each state."""
    counts: dict[str, int] = {}
    for job in jobs:
        counts[job.state] = counts.get(job.state, 0) + 1
    return counts
