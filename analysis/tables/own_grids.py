"""Tables 4, 5 and 7-10 from own runs: one row a task, NDG or the task's own unit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from analysis.output import CsvFile, Value
from analysis.published import Published
from analysis.tables.own_cells import (
    EMPTY,
    NO_RUNS,
    NONE,
    NOTHING,
    ORACLE,
    SERIES,
    Choice,
    OwnCell,
    Series,
    at_one_budget,
    by_series,
    cell,
    difference,
    higher,
    in_paper_order,
    is_plain,
    missing_note,
    spread,
)
from analysis.tables.render import Cell, Field, Table, rounded
from benchmark.task import Task

Pair = tuple[OwnCell, OwnCell]

_PAIR = ("n", "mean", "std", "best")
_HEADS = {("openevolve", "oracle"): ("OpenEvolve", "+ oracle"), ("n1", "n8"): ("N = 1", "N = 8")}
"""What people read for the names in CSV columns."""
_BOLD = "Bold: the higher mean, or best, at the digits shown."
_BESTS = "The best of more runs is better for that reason alone: compare bests at equal n."


def oracle_documents(found: Sequence[Choice]) -> tuple[list[CsvFile], list[Table]]:
    """Table 4: without and with the oracle documents, one candidate at a time."""
    wanted = [
        c for c in found if c.retriever in (NONE, ORACLE) and c.run.configuration.n == 1
    ]  # fmt: skip
    grids = []
    for series, mine in (by_series(wanted) or {EMPTY: []}).items():
        kept, notes = at_one_budget(mine)
        pairs = {
            task.name: (_of(kept, task, NONE), _of(kept, task, ORACLE)) for task in in_paper_order()
        }
        grids.append((series, "", pairs, notes))
    return _grid("4", "oracle documents", ("openevolve", "oracle"), grids)


def parallel_candidates(found: Sequence[Choice]) -> tuple[list[CsvFile], list[Table]]:
    """Table 5: one and eight candidates at a time, within a method."""
    wanted = [c for c in found if c.retriever in (NONE, ORACLE) and c.run.configuration.n in (1, 8)]
    grids = []
    for series, mine in (by_series(wanted, with_n=False) or {EMPTY: []}).items():
        kept, notes = at_one_budget(mine)
        for method, retriever in (("OpenEvolve", NONE), ("OpenEvolve+Oracle", ORACLE)):
            pairs = {
                task.name: (_of(kept, task, retriever, 1), _of(kept, task, retriever, 8))
                for task in in_paper_order()
            }
            if not mine or any(one.runs or other.runs for one, other in pairs.values()):
                grids.append((series, method, pairs, notes))
    return _grid("5", "parallel candidates", ("n1", "n8"), grids)


def _of(kept: Sequence[Choice], task: Task, retriever: str, n: int | None = None) -> OwnCell:
    return cell(
        kept,
        task.name,
        lambda c: c.retriever == retriever and n in (None, c.run.configuration.n),
    )


def _grid(
    number: str,
    what: str,
    names: tuple[str, str],
    grids: Sequence[tuple[Series, str, dict[str, Pair], list[str]]],
) -> tuple[list[CsvFile], list[Table]]:
    """Rows by task with an overall row over the tasks that have both cells."""
    rows: list[tuple[Value, ...]] = []
    totals: list[tuple[Value, ...]] = []
    tables = []
    for series, method, pairs, notes in grids:
        both = [pair for pair in pairs.values() if pair[0].runs and pair[1].runs]
        shown = []
        for task in in_paper_order():
            one, other = pairs[task.name]
            rows.append((*series.label, method, task.declared.domain_title, task.name,
                         *_numbers(one), *_numbers(other), difference(one.mean, other.mean),
                         difference(one.best, other.best), _why(names, one, other)))  # fmt: skip
            shown.append([task.declared.domain_title, task.declared.title, *_shown(one, other)])
        overall = _overall(both)
        totals.append((*series.label, method, *overall, len(both)))
        shown.append(["all", f"mean of {len(both)} of {len(pairs)} tasks", *_last(overall)])
        heads = _HEADS[names]
        columns = ("domain", "task", "n", f"{heads[0]} mean", "best", "n", f"{heads[1]} mean",
                   "best", "Δ mean", "Δ best")  # fmt: skip
        tables.append(
            Table(
                f"Table {number} from own runs: {what}, NDG in percent; "
                + (", ".join(part for part in (series.title, method) if part) or NO_RUNS),
                columns, shown, 2,
                (f"Mean ± standard deviation over n runs; differences are taken before rounding. "
                 f"The last row is over tasks with both cells. {_BOLD} {_BESTS}",
                 *_missing(heads, pairs), *notes),
            )
        )  # fmt: skip
    cells = (*SERIES, "method", "domain", "task_id",
             *(f"{name}_{part}" for name in names for part in _PAIR), "delta_mean", "delta_best",
             "note")  # fmt: skip
    overall_columns = (*SERIES, "method", *(f"{name}_{part}" for name in names
                                            for part in ("mean", "best")),
                       "delta_mean", "delta_best", "n_tasks")  # fmt: skip
    return [
        CsvFile(f"runs_table{number}", cells, rows),
        CsvFile(f"runs_table{number}_overall", overall_columns, totals),
    ], tables


def _missing(heads: tuple[str, str], pairs: dict[str, Pair]) -> tuple[str, ...]:
    """Notes that name the tasks without any run, and the single cells without."""
    nothing = [task for task, (one, other) in pairs.items() if not one.runs and not other.runs]
    single = [
        f"{head} on {task}"
        for task, pair in pairs.items()
        for head, own in zip(heads, pair, strict=True)
        if not own.runs and task not in nothing
    ]
    tasks = (f"{len(nothing)} of {len(pairs)} tasks without runs: {', '.join(nothing)}.",)
    return (*(tasks if nothing else ()), *missing_note(single))


def _numbers(own: OwnCell) -> tuple[Value, ...]:
    return (own.n, own.mean, own.std, own.best)


def _why(names: tuple[str, str], one: OwnCell, other: OwnCell) -> str:
    """Which of the two cells is empty."""
    empty = [name for name, own in zip(names, (one, other), strict=True) if not own.runs]
    return "" if not empty else NO_RUNS if len(empty) == 2 else f"{NO_RUNS}: {empty[0]}"


def _shown(one: OwnCell, other: OwnCell) -> list[Field]:
    return [
        str(one.n),
        spread(one.mean, one.std, 1, higher(one.mean, other.mean, 1)),
        Cell(rounded(one.best, 1), higher(one.best, other.best, 1)),
        str(other.n),
        spread(other.mean, other.std, 1, higher(other.mean, one.mean, 1)),
        Cell(rounded(other.best, 1), higher(other.best, one.best, 1)),
        rounded(difference(one.mean, other.mean), 1, sign=True),
        rounded(difference(one.best, other.best), 1, sign=True),
    ]


def _overall(both: Sequence[Pair]) -> tuple[float | None, ...]:
    """Means over tasks of cell means and bests of either side, and their differences."""
    if not both:
        return (None,) * 6
    means = [fmean(pair[side].mean or 0.0 for pair in both) for side in (0, 1)]
    bests = [fmean(pair[side].best or 0.0 for pair in both) for side in (0, 1)]
    return (means[0], bests[0], means[1], bests[1], means[1] - means[0], bests[1] - bests[0])


def _last(overall: tuple[float | None, ...]) -> list[Field]:
    one, best_one, other, best_other, delta, delta_best = overall
    return [
        "", Cell(rounded(one, 1), higher(one, other, 1)),
        Cell(rounded(best_one, 1), higher(best_one, best_other, 1)),
        "", Cell(rounded(other, 1), higher(other, one, 1)),
        Cell(rounded(best_other, 1), higher(best_other, best_one, 1)),
        rounded(delta, 1, sign=True), rounded(delta_best, 1, sign=True),
    ]  # fmt: skip


def native_scores(
    data: Published, found: Sequence[Choice]
) -> tuple[CsvFile, dict[int, list[Table]]]:
    """Tables 7-10: the tasks of each published table, in their own units and digits."""
    places = {c.task_id: c.paper_table for c in data.scores}
    digits = _digits(data)
    wanted = [
        c for c in found if c.run.task.name in places and (c.retriever == NONE or is_plain(c))
    ]
    grouped = {}
    for series, mine in by_series(wanted).items():
        grouped[series] = at_one_budget(mine)
    rows: list[tuple[Value, ...]] = []
    tables: dict[int, list[Table]] = {number: [] for number in sorted(set(places.values()))}
    for task in in_paper_order():
        if task.name not in places:
            continue
        pairs = {
            series: (_of(kept, task, NONE), cell(kept, task.name, is_plain))
            for series, (kept, _) in grouped.items()
        }
        pairs = {s: pair for s, pair in pairs.items() if pair[0].runs or pair[1].runs}
        notes = [n for _, ns in grouped.values() for n in ns if n.startswith(f"{task.name}:")]
        sign = 1 if task.declared.direction == "max" else -1
        for series, (base, ours) in (pairs or {EMPTY: (NOTHING, NOTHING)}).items():
            rows.append(
                (places[task.name], *series.label, task.declared.domain_title, task.name,
                 *_natives(base), *_natives(ours),
                 _gain(sign, base.native_mean, ours.native_mean),
                 _gain(sign, base.native_best, ours.native_best),
                 _why(("OpenEvolve", "EvoDuet"), base, ours))
            )  # fmt: skip
        table = _native_table(places[task.name], task, pairs, digits[task.name], notes)
        tables[places[task.name]].append(table)
    columns = ("paper_table", *SERIES, "domain", "task_id",
               *(f"{name}_{part}" for name in ("openevolve", "evoduet") for part in _PAIR),
               "delta_mean", "delta_best", "note")  # fmt: skip
    return CsvFile("runs_tables7_10", columns, rows), tables


@dataclass(frozen=True)
class Digits:
    """Digits after the point of a task's scores and of their standard deviations."""

    score: int
    std: int


def _digits(data: Published) -> dict[str, Digits]:
    """What the published tables print for most cells of each task."""
    scores: dict[str, Counter[int]] = {}
    deviations: dict[str, Counter[int]] = {}
    for published in data.scores:
        score, task = published.score, published.task_id
        scores.setdefault(task, Counter()).update((score.mean.decimals, score.best.decimals))
        deviations.setdefault(task, Counter())[score.std.decimals] += 1
    return {
        task: Digits(scores[task].most_common(1)[0][0], deviations[task].most_common(1)[0][0])
        for task in scores
    }


def _natives(own: OwnCell) -> tuple[Value, ...]:
    return (own.n, own.native_mean, own.native_std, own.native_best)


def _gain(sign: int, base: float | None, ours: float | None) -> float | None:
    delta = difference(base, ours)
    return None if delta is None else sign * delta


def _native(own: OwnCell, digits: Digits, bold: bool) -> Cell:
    text = rounded(own.native_mean, digits.score)
    std = own.native_std
    return Cell(text if std is None else f"{text} ± {rounded(std, digits.std)}", bold)


def _native_table(
    number: int, task: Task, pairs: dict[Series, Pair], digits: Digits, notes: Sequence[str]
) -> Table:
    goal = {"min": "lower is better", "max": "higher is better"}[task.declared.direction]
    sign = 1 if task.declared.direction == "max" else -1
    shown: list[list[Field]] = []
    missing = []
    for series, (base, ours) in pairs.items():
        gain = _gain(sign, base.native_mean, ours.native_mean)
        gain_best = _gain(sign, base.native_best, ours.native_best)
        up, up_best = (rounded(g, digits.score, sign=True)[:1] for g in (gain, gain_best))
        shown.append(
            [series.model, f"{series.scaffold} {series.settings}".strip(), str(series.n or ""),
             str(base.n), _native(base, digits, up == "−"),
             Cell(rounded(base.native_best, digits.score), up_best == "−"),
             str(ours.n), _native(ours, digits, up == "+"),
             Cell(rounded(ours.native_best, digits.score), up_best == "+"),
             rounded(gain, digits.score, sign=True), rounded(gain_best, digits.score, sign=True)]
        )  # fmt: skip
        for name, own in (("OpenEvolve", base), ("EvoDuet", ours)):
            missing += [] if own.runs else [f"{name} ({series.title})"]
    if not pairs:
        shown.append(["", NO_RUNS, *[""] * 9])
    columns = ("model", "scaffold", "N", "n", "OpenEvolve mean", "best", "n", "EvoDuet mean",
               "best", "Δ mean", "Δ best")  # fmt: skip
    return Table(
        f"Table {number} from own runs: {task.declared.title} ({task.declared.domain_title}), "
        f"{goal}",
        columns, shown, 2,
        ("Task's own unit, mean ± standard deviation / best over n runs. Differences are positive "
         f"where EvoDuet is better, taken before rounding. {_BESTS}",
         *missing_note(missing), *notes),
    )  # fmt: skip
