"""Tables 4, 5 and 7-10 of the paper, and the cells above the SOTA anchor, for people."""

from __future__ import annotations

from decimal import Decimal
from statistics import fmean

from analysis.gains import Comparison, above_sota, comparisons
from analysis.oracle_study import overall_oracle, overall_parallel
from analysis.published import Published, Spread
from analysis.rows import Printed
from analysis.tables.render import Cell, Field, Table, rounded

_SPREAD = "mean ± standard deviation / best over runs"
_BOLD = "Bold: the higher mean, or best, at the digits shown."


def table_4(data: Published) -> list[Table]:
    """NDG without and with the oracle documents, one table a model."""
    tables = []
    for total in overall_oracle(data.oracle):
        rows: list[list[Field]] = [
            [cell.domain, cell.task, *_two(cell.baseline, cell.oracle)]
            for cell in data.oracle
            if cell.model == total.model
        ]
        before, after = _pair(total.openevolve_mean, total.oracle_mean)
        best_before, best_after = _pair(total.openevolve_best, total.oracle_best)
        rows.append(
            ["all", f"mean of {total.n_tasks} tasks", before, best_before, after, best_after,
             rounded(total.delta_mean, 1, sign=True), rounded(total.delta_best, 1, sign=True)]
        )  # fmt: skip
        tables.append(
            Table(
                f"Table 4: oracle documents, NDG in percent, {total.model}",
                ("domain", "task", "OpenEvolve mean", "best", "+ oracle mean", "best",
                 "Δ mean", "Δ best"),
                rows, 2,
                ("Mean ± standard deviation over runs; differences are taken before rounding. "
                 + _BOLD,),
            )
        )  # fmt: skip
    return tables


def table_5(data: Published) -> list[Table]:
    """NDG with one and with eight candidates, one table a model and method."""
    tables = []
    for total in overall_parallel(data.parallel):
        rows: list[list[Field]] = [
            [cell.domain, cell.task, *_two(cell.n1, cell.n8)]
            for cell in data.parallel
            if (cell.model, cell.method) == (total.model, total.method)
        ]
        before, after = _pair(total.n1_mean, total.n8_mean)
        best_before, best_after = _pair(total.n1_best, total.n8_best)
        rows.append(
            ["all", f"mean of {total.n_tasks} tasks", before, best_before, after, best_after,
             rounded(total.delta_mean, 1, sign=True), rounded(total.delta_best, 1, sign=True)]
        )  # fmt: skip
        tables.append(
            Table(
                f"Table 5: parallel candidates, NDG in percent, {total.model}, {total.method}",
                ("domain", "task", "N = 1 mean", "best", "N = 8 mean", "best", "Δ mean", "Δ best"),
                rows, 2,
                ("Differences are N = 8 minus N = 1 within the method, before rounding. " + _BOLD,),
            )
        )  # fmt: skip
    return tables


def _two(one: Spread, other: Spread) -> list[Field]:
    """Mean and best of both, and the differences, at the digits of the input."""
    return [
        _spread(one.mean, one.std, one.mean.exact > other.mean.exact),
        Cell(_grouped(one.best), one.best.exact > other.best.exact),
        _spread(other.mean, other.std, other.mean.exact > one.mean.exact),
        Cell(_grouped(other.best), other.best.exact > one.best.exact),
        _difference(other.mean.exact - one.mean.exact, one.mean, other.mean),
        _difference(other.best.exact - one.best.exact, one.best, other.best),
    ]


def _spread(mean: Printed, std: Printed, bold: bool) -> Cell:
    return Cell(f"{_grouped(mean)} ± {_grouped(std)}", bold)


def _grouped(number: Printed) -> str:
    """As printed, with separators between thousands."""
    return rounded(number.exact, number.decimals)


def _difference(delta: Decimal, *printed: Printed) -> str:
    return rounded(delta, max(number.decimals for number in printed), sign=True)


def _pair(one: float, other: float) -> tuple[Cell, Cell]:
    """Two means at one decimal, the higher one bold."""
    texts = rounded(one, 1), rounded(other, 1)
    higher = [a != b and x > y for a, b, x, y in ((*texts, one, other), (*texts, other, one))]
    return Cell(texts[0], higher[0]), Cell(texts[1], higher[1])


def tables_7_to_10(data: Published) -> dict[int, list[Table]]:
    """Native scores by number of the paper's table, one table a task."""
    by_task: dict[tuple[int, str], list[Comparison]] = {}
    for found in comparisons(data.scores):
        key = (found.evoduet.paper_table, found.evoduet.task_id)
        by_task.setdefault(key, []).append(found)
    tables: dict[int, list[Table]] = {}
    for (number, _), mine in sorted(by_task.items(), key=lambda item: item[0][0]):
        tables.setdefault(number, []).append(_native(number, mine))
    return dict(sorted(tables.items()))


def _native(number: int, mine: list[Comparison]) -> Table:
    cell = mine[0].evoduet
    goal = {"min": "lower is better", "max": "higher is better"}[cell.direction]
    rows: list[list[Field]] = []
    for found in mine:
        ours, theirs = found.evoduet.score, found.baseline.score
        rows.append(
            [found.evoduet.model, str(found.evoduet.n),
             _spread(theirs.mean, theirs.std, found.delta_mean < 0),
             Cell(_grouped(theirs.best), found.delta_best < 0),
             _spread(ours.mean, ours.std, found.delta_mean > 0),
             Cell(_grouped(ours.best), found.delta_best > 0),
             _difference(found.delta_mean, ours.mean, theirs.mean),
             _difference(found.delta_best, ours.best, theirs.best)]
        )  # fmt: skip
    return Table(
        f"Table {number}: {cell.task} ({cell.domain}), {goal}",
        ("model", "N", "OpenEvolve mean", "best", "EvoDuet mean", "best", "Δ mean", "Δ best"),
        rows, 1,
        (f"Task's own unit, {_SPREAD}. Differences are positive where EvoDuet is better. Bests of "
         "different numbers of runs are not comparable, and the paper does not print the numbers.",
         ),
    )  # fmt: skip


def above_sota_table(data: Published) -> list[Table]:
    """Cells above the anchor, with a mark where the anchor itself is not known so well."""
    found = above_sota(data)
    rows: list[list[Field]] = [
        [row.gain.cell.task, row.gain.cell.model, str(row.gain.cell.n), row.gain.cell.method,
         row.gain.score.text, row.sota.text, rounded(row.gain.value, 3),
         {True: "within anchor uncertainty", False: "outside", None: "not known"}[
             row.within_uncertainty]]
        for row in found
    ]  # fmt: skip
    share = fmean(row.gain.cell.method == "EvoDuet" for row in found) if found else 0.0
    notes = (
        f"{len(found)} of {len(data.scores)} cells, {rounded(100 * share, 0)} % of them EvoDuet's: "
        "the best run is better than the SOTA anchor by more than half a unit of its last printed "
        "digit. Last column: whether some anchor that the printed digits allow is as good.",
    )
    return [
        Table(
            "Cells above the SOTA anchor",
            ("task", "model", "N", "method", "best", "SOTA anchor", "NDG", "anchor range"),
            rows, 2, notes,
        )
    ]  # fmt: skip
