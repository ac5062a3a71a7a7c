"""Tables 1(b), 1(d), 2 and 6 from own runs: mean NDG by what a run was set to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from analysis.output import CsvFile, Value
from analysis.tables.own_cells import (
    EMPTY,
    EVODUET,
    JOINT,
    NO_RUNS,
    NONE,
    PLAIN,
    SERIES,
    Choice,
    OwnCell,
    Series,
    at_one_budget,
    by_series,
    cell,
    difference,
    is_plain,
    missing_note,
)
from analysis.tables.render import Cell, Field, Table, rounded

Belongs = Callable[[Choice], bool]


@dataclass(frozen=True)
class Line:
    """A row of a table: what stands in its text columns, and which runs it averages."""

    label: tuple[Value, ...]
    belongs: Belongs


@dataclass(frozen=True)
class Layout:
    """A table of mean NDG: rows by settings, one column a task."""

    name: str
    title: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    tasks: tuple[str, ...]
    decimals: int = 1
    note: str = ""


def _gate(kind: str, **more: float) -> Belongs:
    return lambda choice: (
        choice.retriever == EVODUET and choice.is_set(**{**PLAIN, "gate": kind}, **more)
    )


def _retriever(name: str) -> Belongs:
    return lambda choice: choice.retriever == name


def _rounds(number: int) -> Belongs:
    return partial(is_plain, rounds=number)


def _queries(number: int, retained: int) -> Belongs:
    return partial(is_plain, queries=number, retain=retained)


GATES = Layout(
    "runs_table1b",
    "Table 1(b) from own runs: gates, NDG in percent",
    ("gate",),
    (
        Line(("random_p0.5",), _gate("random", gate_p=0.5)),
        Line(("stagnation_heuristic",), _gate("stagnation")),
        Line(("knowledge_gap",), _gate("knowledge")),
    ),
    ("denoising", "erdos"),
)
LEVELS = Layout(
    "runs_table2",
    "Table 2 from own runs: search by the generator and by EvoDuet, NDG in percent",
    ("method",),
    (
        Line(("no_search",), _retriever(NONE)),
        Line(("joint_level",), _retriever(JOINT)),
        Line(("bi_level",), is_plain),
    ),
    ("denoising", "sums_diffs"),
)
ROUNDS = Layout(
    "runs_table6a",
    "Table 6(a) from own runs: search rounds, NDG in percent",
    ("R", "default"),
    tuple(
        Line((r, "yes" if r == PLAIN["rounds"] else "no"), _rounds(r)) for r in (1, 3, 5)
    ),
    ("denoising",),
    2,
    "J = 1, D = 3 and five results a query throughout.",
)  # fmt: skip
QUERIES = Layout(
    "runs_table6b",
    "Table 6(b) from own runs: queries a round and documents retained, NDG in percent",
    ("J", "D", "default"),
    tuple(
        Line((j, d, "yes" if (j, d) == (PLAIN["queries"], PLAIN["retain"]) else "no"),
             _queries(j, d))
        for j, d in ((1, 3), (3, 3), (3, 5), (5, 3))
    ),
    ("denoising",),
    2,
    "R = 3 and five results a query throughout; D is the number of documents retained.",
)  # fmt: skip
LAYOUTS = (GATES, LEVELS, ROUNDS, QUERIES)

_MEAN_OF_N = (
    "Mean over the n runs that completed their budget, floored at 0 before the mean; differences "
    "between rows with few runs are weak evidence."
)


def averages(layout: Layout, found: Sequence[Choice]) -> tuple[CsvFile, list[Table]]:
    """One table a series with any run for it, and all cells as CSV."""
    wanted = [
        choice
        for choice in found
        if choice.run.task.name in layout.tasks and any(li.belongs(choice) for li in layout.lines)
    ]
    rows: list[tuple[Value, ...]] = []
    tables = []
    for series, mine in (by_series(wanted) or {EMPTY: []}).items():
        kept, notes = at_one_budget(mine)
        cells = [[cell(kept, task, li.belongs) for task in layout.tasks] for li in layout.lines]
        rows += _csv_rows(layout, series, cells)
        tables.append(_table(layout, series, cells, notes))
    columns = (*SERIES, *layout.columns, "task_id", "iterations", "n", "ndg_mean", "ndg_std",
               "ndg_best", "note")  # fmt: skip
    return CsvFile(layout.name, columns, rows), tables


def _csv_rows(
    layout: Layout, series: Series, cells: Sequence[Sequence[OwnCell]]
) -> list[tuple[Value, ...]]:
    return [
        (*series.label, *line.label, task, own.iterations, own.n, own.mean, own.std, own.best,
         own.note)
        for line, row in zip(layout.lines, cells, strict=True)
        for task, own in zip(layout.tasks, row, strict=True)
    ]  # fmt: skip


def _table(
    layout: Layout, series: Series, cells: Sequence[Sequence[OwnCell]], notes: Sequence[str]
) -> Table:
    highest = [
        max((rounded_mean(own, layout) for row in cells if (own := row[i]).runs), default=None)
        for i in range(len(layout.tasks))
    ]
    shown: list[list[Field]] = []
    missing = []
    for line, row in zip(layout.lines, cells, strict=True):
        fields: list[Field] = [str(part) for part in line.label]
        for task, own, top in zip(layout.tasks, row, highest, strict=True):
            best = bool(own.runs) and rounded_mean(own, layout) == top
            fields += [Cell(rounded(own.mean, layout.decimals), best), str(own.n)]
            if not own.runs:
                named = zip(layout.columns, line.label, strict=True)
                words = ", ".join(f"{k} {v}" for k, v in named if k != "default")
                missing.append(f"{words} on {task}")
        shown.append(fields)
    columns = [*layout.columns, *(part for task in layout.tasks for part in (task, "n"))]
    return Table(
        f"{layout.title}; {series.title or NO_RUNS}", columns, shown, len(layout.columns),
        (*((layout.note,) if layout.note else ()), _MEAN_OF_N, *missing_note(missing), *notes),
    )  # fmt: skip


def rounded_mean(own: OwnCell, layout: Layout) -> float:
    """The mean as it is shown, so that what looks equal is marked alike."""
    return float(rounded(own.mean, layout.decimals).replace(",", "").replace("−", "-"))


SCAFFOLD_TASKS = ("sums_diffs", "denoising")


def scaffolds(found: Sequence[Choice]) -> tuple[CsvFile, list[Table]]:
    """Table 1(d): what EvoDuet adds to each scaffold, NDG(with) - NDG(without)."""
    wanted = [
        choice
        for choice in found
        if choice.run.task.name in SCAFFOLD_TASKS and (is_plain(choice) or choice.retriever == NONE)
    ]
    rows: list[tuple[Value, ...]] = []
    tables = []
    for series, mine in (by_series(wanted, with_scaffold=False) or {EMPTY: []}).items():
        kept, notes = at_one_budget(mine)
        shown: list[list[Field]] = []
        missing = []
        for scaffold in sorted({choice.scaffold for choice in kept}) or [""]:
            fields: list[Field] = [scaffold]
            for task in SCAFFOLD_TASKS:
                its = [choice for choice in kept if choice.scaffold == scaffold]
                with_, without = cell(its, task, is_plain), cell(its, task, _retriever(NONE))
                delta = difference(without.mean, with_.mean)
                note = "; ".join(
                    f"{NO_RUNS} {word}"
                    for word, own in (("with", with_), ("without", without))
                    if not own.runs
                )
                rows.append((series.model, series.n, series.settings, scaffold, task,
                             with_.iterations or without.iterations, with_.n, without.n,
                             with_.mean, without.mean, delta, note))  # fmt: skip
                fields += [rounded(delta, 1, sign=True), f"{with_.n}, {without.n}"]
                missing += [f"{scaffold or 'any scaffold'} on {task}: {note}"] if note else []
            shown.append(fields)
        columns = ["scaffold", *(p for task in SCAFFOLD_TASKS for p in (task, "n with, without"))]
        tables.append(
            Table(
                f"Table 1(d) from own runs: NDG points that EvoDuet adds to a scaffold; "
                f"{series.title or NO_RUNS}",
                columns, shown, 1,
                ("NDG(with) − NDG(without), means over runs.", *missing_note(missing), *notes),
            )
        )  # fmt: skip
    csv = CsvFile(
        "runs_table1d",
        ("model", "N", "settings", "scaffold", "task_id", "iterations", "n_with", "n_without",
         "ndg_with", "ndg_without", "delta", "note"),
        rows,
    )  # fmt: skip
    return csv, tables
