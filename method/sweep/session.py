"""A sweep from its plan to its end: what is planned and refused before anything starts."""

from __future__ import annotations

import json
import os
import platform
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from method.executors.jobs import Executor
from method.sweep.cells import Cell, check_equal_conditions, run_cells
from method.sweep.driver import FINAL, Driver, Ending
from method.sweep.ledger import FILE_NAME, FORMAT, Ledger, Projection, evaluations, read_ledger
from method.sweep.plan import SweepPlan, read_plan
from method.sweep.programs import evaluation_cells
from method.sweep.purse import Purse

DEFAULT_PARENT = Path("results/runs")
RESULTS_NAME = "results.json"
AS_RELEASED = "as released: the arms may differ in how they are evaluated, in edit mode and in T"


@dataclass(frozen=True)
class Estimate:
    """Upper bounds of what is still to do; ``cost_usd`` is ``None`` where a price is unknown."""

    jobs: int
    model_calls: int
    searches: int
    evaluations: int
    cost_usd: float | None

    def to_json(self) -> dict[str, Any]:
        """The numbers by name."""
        return asdict(self)


@dataclass(frozen=True)
class Session:
    """A checked plan, its folder and its jobs."""

    plan: SweepPlan
    out: Path
    cells: list[Cell]
    max_cost: float | None
    notes: tuple[str, ...]
    before: Projection
    """What the ledger said when the plan was read."""

    def missing(self, retry: bool = False) -> list[Cell]:
        """What another call would do."""
        states = {job.id: job.state for job in self.before.jobs.values()}
        final = FINAL if retry else (*FINAL, "failed")
        return [cell for cell in self.cells if states.get(cell.job.id) not in final]

    def estimate(self, cells: list[Cell]) -> Estimate:
        """The bounds of some jobs together, less what they have cost already."""
        bounds = [cell.bound for cell in cells if cell.bound is not None]
        spent = {job.id: job.cost_usd for job in self.before.jobs.values()}
        costs = [
            None if cell.cost_usd is None else max(0.0, cell.cost_usd - spent.get(cell.job.id, 0.0))
            for cell in cells
        ]
        single = sum(cell.job.spec.get("repeats", 1) for cell in cells if cell.bound is None)
        return Estimate(
            jobs=len(cells),
            model_calls=sum(bound.model_calls for bound in bounds),
            searches=sum(bound.searches for bound in bounds),
            evaluations=sum(bound.evaluations for bound in bounds) + single,
            cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        )


def open_session(
    file: Path,
    out: Path | None = None,
    *,
    max_cost: float | None = None,
    as_released: bool = False,
    retry: bool = False,
) -> Session:
    """Read and check a plan. Writes nothing.

    Raises :class:`~method.sweep.plan.PlanError`, also when it may cost more than the cap.
    """
    plan = read_plan(file)
    folder = out or DEFAULT_PARENT / plan.name
    notes: list[str] = []
    if plan.kind == "runs":
        cells = run_cells(plan, folder)
        if plan.as_released or as_released:
            notes.append(AS_RELEASED)
        else:
            check_equal_conditions(plan, cells)
    else:
        cells, notes = evaluation_cells(plan)
    before = read_ledger(folder) if (folder / FILE_NAME).exists() else Projection()
    cap = plan.max_cost if max_cost is None else max_cost
    session = Session(plan, folder, cells, cap, tuple(notes), before)
    _check_cap(session, retry)
    return session


def folder_of(file: Path) -> Path:
    """Where the runs of a plan lie by default. Raises as :func:`~method.sweep.plan.read_plan`."""
    return DEFAULT_PARENT / read_plan(file).name


def _check_cap(session: Session, retry: bool) -> None:
    estimate = session.estimate(session.missing(retry))
    if session.max_cost is None or estimate.cost_usd is None:
        return
    total = session.before.spent_usd + estimate.cost_usd
    if estimate.cost_usd and total > session.max_cost:
        raise session.plan.problem(
            ("max_cost",),
            f"the plan may cost {total:.2f} USD ({session.before.spent_usd:.2f} spent, "
            f"{estimate.model_calls} calls and {estimate.searches} searches to come), the cap is "
            f"{session.max_cost:.2f}; take a smaller grid, or a higher cap (--max-cost)",
        )


def drive(
    session: Session,
    executor: Executor,
    *,
    retry: bool = False,
    watching: Callable[[Projection], None] = lambda projection: None,
) -> tuple[Ending, Projection]:
    """Do what is missing. Raises ``LedgerError`` when another driver works there.

    The first SIGINT or SIGTERM interrupts gracefully, the second at once.
    """
    with Ledger(session.out) as ledger:
        if any(cell.job.kind == "run" for cell in session.cells):
            executor.prepare(session.out)
        ledger.note(
            "sweep_started",
            format=FORMAT,
            name=session.plan.name,
            kind=session.plan.kind,
            plan=session.plan.text.encode(errors="replace").decode(),
            max_cost=session.max_cost,
            notes=list(session.notes),
            executor=executor.name,
            host=platform.node(),
            pid=os.getpid(),
        )
        driver = Driver(
            session.cells, ledger, executor, Purse(session.max_cost), retry,
            lambda: watching(ledger.projection),
        )  # fmt: skip
        with _signals(driver.stop):
            ending = driver.run()
        if session.plan.kind == "evaluations":
            write_results(session.out)
        return ending, ledger.projection


def write_results(folder: Path) -> None:
    """Write the records of all evaluations as `evoduet suite` writes its own."""
    path = folder / RESULTS_NAME
    partial = path.with_name(f".{RESULTS_NAME}.partial")
    try:
        content = {"results": evaluations(folder)}
        partial.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _signals(stop: Callable[[], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda *_: stop()) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
