"""What a sweep has done so far: as JSON, and as a table for people."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from method.executors.work import numbers
from method.sweep.driver import states
from method.sweep.ledger import JobState, Projection, driven, read_ledger

if TYPE_CHECKING:
    from rich.table import Table

COLOURS = {
    "done": "green",
    "running": "cyan",
    "failed": "red",
    "blocked": "yellow",
    "budget": "magenta",
    "held": "magenta",
    "interrupted": "yellow",
}
ORDER = ("running", "interrupted", "failed", "blocked", "held", "budget", "done", "planned")


def status(folder: Path) -> dict[str, Any]:
    """The state of every job of the plan. Raises ``LedgerError`` when there is no sweep.

    A job that was running when its driver vanished counts as interrupted.
    """
    return report(read_ledger(folder), folder, alive=driven(folder))


def report(
    projection: Projection, folder: Path, *, alive: bool, details: bool = True
) -> dict[str, Any]:
    """The same from a projection at hand; without ``details`` it has no ``jobs``."""
    jobs = [_row(job, folder, alive) for job in projection.plan] if details else []
    counts = states(projection.plan)
    if not alive and counts.get("running"):
        counts["interrupted"] = counts.get("interrupted", 0) + counts.pop("running")
    return {
        "sweep": projection.started.get("name"),
        "kind": projection.started.get("kind"),
        "out": str(folder),
        "driven": alive,
        "executor": projection.started.get("executor"),
        "max_cost": projection.started.get("max_cost"),
        "notes": projection.started.get("notes", []),
        "cost_usd": projection.spent_usd,
        "counts": counts,
        "jobs": jobs,
    }


def _row(job: JobState, folder: Path, alive: bool) -> dict[str, Any]:
    state, result = job.state, dict(job.result)
    if state == "running":
        state = "running" if alive else "interrupted"
        if job.kind == "run":
            result = numbers(folder / job.id)
    return {
        "job": job.id,
        "axes": dict(job.axes),
        "state": state,
        "reason": job.reason,
        "attempts": job.attempts,
        "host": job.host,
        "since": job.since,
        "cost_usd": result.get("cost_usd", job.cost_usd),
        "result": result,
    }


def table(current: Mapping[str, Any], rows: int | None = None) -> Table:
    """One line a job, those that want attention first; at most ``rows``."""
    from rich.markup import escape
    from rich.table import Table

    shown = Table(box=None, header_style="bold", pad_edge=False, title_justify="left")
    for name in ("job", "state"):
        shown.add_column(name, overflow="fold")
    for name in ("done", "best", "NDG", "USD"):
        shown.add_column(name, justify="right", no_wrap=True)
    shown.add_column("", overflow="fold")
    jobs = sorted(current["jobs"], key=lambda job: ORDER.index(job["state"]))
    for job in jobs[:rows]:
        result, state = job["result"], job["state"]
        colour = COLOURS.get(state, "white")
        shown.add_row(
            escape(job["job"]), f"[{colour}]{state}[/{colour}]", _progress(result),
            _number(_best(result)), _number(result.get("ndg")), _number(job["cost_usd"]),
            escape(job["reason"]),
        )  # fmt: skip
    if rows is not None and len(jobs) > rows:
        shown.add_row(f"... and {len(jobs) - rows} more", *[""] * 6)
    shown.caption = headline(current)
    return shown


def headline(current: Mapping[str, Any]) -> str:
    """Counts and costs in one line."""
    counts = ", ".join(f"{current['counts'][s]} {s}" for s in ORDER if current["counts"].get(s))
    cap = "" if current["max_cost"] is None else f" of at most {current['max_cost']:g}"
    driver = "" if current["driven"] else "; no driver works on it"
    return f"{counts or 'nothing planned'}; {current['cost_usd']:.4g}{cap} USD{driver}"


def _progress(result: Mapping[str, Any]) -> str:
    if "T" in result:
        return f"{result['done']}/{result['T']}"
    return str(result.get("status", ""))


def _best(result: Mapping[str, Any]) -> float | None:
    best = result.get("best")
    value: float | None = result.get("search") if best is None else best["search_score"]
    return value


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
