"""Tables 1(c), 1(e) and 13 from own runs: best runs, what they cost, and best programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal

from analysis.output import CsvFile, Value
from analysis.published import Published
from analysis.records import improvement, non_dominated, outcome
from analysis.rows import DataProblem, Printed
from analysis.runs import Run
from analysis.tables.own_cells import (
    EMPTY,
    JOINT,
    NO_RUNS,
    NONE,
    SERIES,
    Choice,
    at_one_budget,
    by_series,
    cell,
    counted_runs,
    in_paper_order,
    is_plain,
    missing_note,
)
from analysis.tables.render import Cell, Field, Table, rounded
from benchmark.catalogue import UnknownTask, find_task

QUOTED = "DeepEvolve"
"""The method of Table 1(c) that nobody ran again; its numbers are quoted."""

METHODS: dict[str, Callable[[Choice], bool]] = {
    "OpenEvolve": lambda choice: choice.retriever == NONE,
    "Joint-level": lambda choice: choice.retriever == JOINT,
    "EvoDuet": is_plain,
}
COST_TASK = "denoising"


def search_methods(data: Published, found: Sequence[Choice]) -> tuple[CsvFile, list[Table]]:
    """Table 1(c): best of own runs beside the published column, sources and ties marked."""
    quoted = _quoted(data)
    wanted = [
        choice
        for choice in found
        if choice.run.task.name in quoted and any(of(choice) for of in METHODS.values())
    ]
    rows: list[tuple[Value, ...]] = []
    tables = []
    for series, mine in (by_series(wanted) or {EMPTY: []}).items():
        kept, notes = at_one_budget(mine)
        shown: list[list[Field]] = [["source", *["own runs"] * 2, "published", "own runs"]]
        missing = []
        for task, printed in quoted.items():
            values, counts = _values(kept, task, printed)
            marks = _marks(values, task, printed)
            for method, value in values.items():
                source = "published" if method == QUOTED else "own runs"
                n = None if method == QUOTED else counts[method]
                note = "" if value is not None else NO_RUNS if _is_task(task) else "no task here"
                rows.append((*series.label, task, method, source, n, value,
                             marks.get(method, ""), note))  # fmt: skip
                missing += [f"{method} on {task}"] if note == NO_RUNS else []
            shown.append([task, *(_marked(values[m], printed, marks.get(m, "")) for m in _ORDER)])
        tables.append(
            Table(
                f"Table 1(c): search methods, best of own runs; {series.title or NO_RUNS}",
                ("task", *_ORDER), shown, 1,
                (f"{QUOTED}: published by its authors, not run again. The others: best of "
                 f"n = {_counts(kept, quoted)} own runs. Bold is the best of a row; = marks a tie "
                 "at the digits shown.", *_elsewhere(quoted), *missing_note(missing), *notes),
            )
        )  # fmt: skip
    columns = (*SERIES, "task_id", "method", "source", "n", "value", "mark", "note")
    return CsvFile("runs_table1c", columns, rows), tables


_ORDER = ("OpenEvolve", "Joint-level", QUOTED, "EvoDuet")


def _quoted(data: Published) -> dict[str, Printed]:
    """The published column by task, in the order of the file."""
    known = data.rows("table1c_search_methods", ("method",))
    row = next((row for row in known if row.text("method") == QUOTED), None)
    if row is None:
        raise DataProblem(f"table1c_search_methods.csv: no row for {QUOTED}")
    tasks = [name for name in row.fields if name not in ("method", "source")]
    return {task: row.number(task) for task in tasks}


def _is_task(name: str) -> bool:
    try:
        find_task(name)
    except UnknownTask:
        return False
    return True


def _elsewhere(tasks: Iterable[str]) -> tuple[str, ...]:
    named = [task for task in tasks if not _is_task(task)]
    return (f"Not among the tasks here: {', '.join(named)}.",) if named else ()


def _values(
    kept: Sequence[Choice], task: str, printed: Printed
) -> tuple[dict[str, float | None], dict[str, int]]:
    cells = {method: cell(kept, task, of) for method, of in METHODS.items()}
    values = {method: own.native_best for method, own in cells.items()}
    return {m: float(printed) if m == QUOTED else values[m] for m in _ORDER}, {
        method: own.n for method, own in cells.items()
    }


def _marks(values: dict[str, float | None], task: str, printed: Printed) -> dict[str, str]:
    """``best``, or ``tie`` where several share the best digits; nothing to compare, no mark."""
    shown = {m: rounded(v, printed.decimals) for m, v in values.items() if v is not None}
    if len(shown) < 2 or not _is_task(task):
        return {}
    largest = find_task(task).declared.direction == "max"
    top = (max if largest else min)(float(values[m] or 0.0) for m in shown)
    leaders = [m for m in shown if shown[m] == rounded(top, printed.decimals)]
    return dict.fromkeys(leaders, "tie" if len(leaders) > 1 else "best")


def _marked(value: float | None, printed: Printed, mark: str) -> Cell:
    text = rounded(value, printed.decimals)
    return Cell(f"{text} =" if mark == "tie" else text, bool(mark))


def _counts(kept: Sequence[Choice], tasks: dict[str, Printed]) -> str:
    counts = {cell(kept, task, of).n for task in tasks for of in METHODS.values()} - {0}
    return "/".join(map(str, sorted(counts))) or "0"


def cost_points(found: Sequence[Choice]) -> tuple[CsvFile, list[Table]]:
    """Table 1(e): every run with a known cost as a point, and which no other run beats."""
    mine = [c for c in found if c.run.task.name == COST_TASK]
    priced = [c for c in mine if c.run.cost_usd is not None and not c.run.unpriced_calls]
    points = [(float(c.run.cost_usd or 0.0), float(c.run.ndg or 0.0)) for c in priced]
    best = [choice for choice in priced if is_plain(choice)]
    top = max(best, key=lambda c: (c.run.ndg or 0.0, -(c.run.cost_usd or 0.0)), default=None)
    rows: list[tuple[Value, ...]] = []
    shown: list[list[Field]] = []
    for choice, (cost, gain), alone in zip(priced, points, non_dominated(points), strict=True):
        ratio = cost / top.run.cost_usd if top is not None and top.run.cost_usd else None
        config = choice.run.configuration
        rows.append((choice.run.run_id, *config.label, choice.run.iterations, gain, cost, ratio,
                     alone))  # fmt: skip
        shown.append([config.method, config.model, str(config.n or ""), choice.run.run_id,
                      rounded(gain, 2), rounded(cost, 2), rounded(ratio, 1),
                      "yes" if alone else "no"])  # fmt: skip
    left = len(mine) - len(priced)
    notes = [
        "One row a run: NDG of its best program, and the cost of its model calls and searches. "
        "Not dominated: no other run is as cheap and as good, and better in one. The ratio is to "
        f"the EvoDuet run with the highest NDG{'' if top is None else f' ({top.run.run_id})'}.",
    ]
    notes += [f"{counted_runs(left)} with calls of unknown price left out."] if left else []
    notes += [] if priced else [f"No runs with a known cost on {COST_TASK}."]
    columns = ("method", "model", "N", "run", "NDG %", "USD", "USD / EvoDuet's", "not dominated")
    title = f"Table 1(e) from own runs: NDG and cost on {COST_TASK}"
    csv = CsvFile(
        "runs_table1e",
        ("run_id", "model", "N", "method", "settings", "iterations", "ndg", "cost_usd",
         "cost_ratio", "not_dominated"),
        rows,
    )  # fmt: skip
    return csv, [Table(title, columns, shown, 4, notes)]


def best_programs(data: Published, found: Sequence[Choice]) -> tuple[CsvFile, list[Table]]:
    """Table 13: the best EvoDuet run of each task against the SOTA anchor of the registry."""
    printed = data.rows("table13_best_programs", ("task_id", "simpletes"))
    digits = {row.text("task_id"): row.number("simpletes").decimals for row in printed}
    rows: list[tuple[Value, ...]] = []
    shown: list[list[Field]] = []
    missing = []
    for task in in_paper_order():
        if task.name not in digits:
            continue
        mine = [c.run for c in found if c.run.task.name == task.name and c.retriever == "evoduet"]
        run = max(mine, key=lambda r: (r.search_score or float("-inf"), r.run_id), default=None)
        title, sota = task.declared.title, task.declared.anchors.sota.value
        if run is None or run.objective is None:
            rows.append((task.name, *[None] * 6, sota, None, None, None, NO_RUNS))
            shown.append([title, *[""] * 3, rounded(sota, digits[task.name]), "", "", NO_RUNS])
            missing.append(task.name)
            continue
        ours, theirs = Decimal(repr(float(run.objective))), Decimal(repr(float(sota)))
        verdict = outcome(improvement(theirs, ours, task.declared.direction))
        config = run.configuration
        when = _iteration_of_best(run)
        rows.append((task.name, run.run_id, config.model, config.n, config.method,
                     config.settings, when, sota, run.objective, float(ours - theirs),
                     verdict == "tie", verdict))  # fmt: skip
        shown.append(
            [title, config.model, str(config.n or ""), "" if when is None else str(when),
             rounded(sota, digits[task.name]),
             Cell(rounded(run.objective, digits[task.name]), verdict == "record"),
             rounded(float(ours - theirs), digits[task.name], sign=True), verdict]
        )  # fmt: skip
    note = (
        "Best program of the EvoDuet runs of each task, chosen by the search score; the score is "
        "the reporting metric of its own evaluation, SOTA the anchor of the task. The difference "
        "is taken before rounding; a tie is a difference within 1e-9."
    )
    csv = CsvFile(
        "runs_table13",
        ("task_id", "run_id", "model", "N", "method", "settings", "iteration", "sota", "score",
         "delta", "tie", "outcome"),
        rows,
    )  # fmt: skip
    columns = ("task", "model", "N", "iteration", "SOTA", "own best", "Δ", "outcome")
    title = "Table 13 from own runs: best programs"
    return csv, [Table(title, columns, shown, 2, (note, *missing_note(missing)))]


def _iteration_of_best(run: Run) -> int | None:
    """Iteration that found the best program; 0 is the initial one."""
    summary = json.loads((run.folder / "summary.json").read_text(encoding="utf-8"))
    found = summary["best"].get("t")
    return None if found is None else int(found)
