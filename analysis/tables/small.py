"""Tables 1, 2, 3, 6 and 11-13 of the paper for people."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from analysis.ordering import DOMAINS, domain_key, domain_titles
from analysis.published import EVODUET, Published
from analysis.records import (
    cost_points,
    improvement,
    non_dominated,
    outcome,
    outcome_of,
    relative_change_pct,
)
from analysis.rows import Printed, Row
from analysis.tables.render import Cell, Field, Table, rounded

_NO_N = "The number of runs behind each value is not printed with it."


def table_1(data: Published) -> list[Table]:
    """Parts (a) to (e)."""
    return [_records(data), _gates(data), _search_methods(data), _scaffolds(data), _costs(data)]


def _records(data: Published) -> Table:
    rows: list[list[Field]] = []
    for cell in data.records:
        verdict, pct = outcome_of(cell), relative_change_pct(cell)
        change = "" if pct is None else f"{pct:.3g}"
        rows.append(
            [cell.task, {"min": "lower", "max": "higher"}[cell.direction], cell.previous.text,
             Cell(cell.found.text, verdict == "record"), change, verdict,
             cell.cost_usd.text]
        )  # fmt: skip
    costs = [cell.cost_usd.exact for cell in data.records]
    verdicts = [outcome_of(cell) for cell in data.records]
    note = (
        f"{verdicts.count('record')} records, {verdicts.count('tie')} ties (scores within 1e-9 as "
        f"printed), {verdicts.count('loss')} losses; mean cost "
        f"{rounded(sum(costs) / len(costs), 2)} USD. Records come from single runs, some outside "
        "the compared grid of models and N."
    )
    return Table(
        "Table 1(a): previous best known scores and EvoDuet's",
        ("task", "better", "previous", "EvoDuet", "change %", "outcome", "cost USD"),
        rows, 2, (note,),
    )  # fmt: skip


def _gates(data: Published) -> Table:
    columns = ("denoising_ndg_pct", "erdos_ndg_pct")
    rows = data.rows("table1b_gating", ("gating", *columns))
    return _best_marked(
        "Table 1(b): gates, NDG in percent", rows, "gating", columns, ("gate", "denoising", "erdos")
    )


def _search_methods(data: Published) -> Table:
    columns = ("molecule", "burgers", "cp26")
    rows = data.rows("table1c_search_methods", ("method", *columns, "source"))
    table = _best_marked(
        "Table 1(c): search methods", rows, "method", columns, ("method", *columns)
    )
    sources = [f"{row.text('method')}: {row.text('source')}." for row in rows]
    ties = "Bold marks the best of a column; two bold values are a tie. Molecule and Burgers are "
    return Table(
        table.title, table.columns, table.rows, 1,
        (ties + "outside the 31 tasks.", " ".join(sources)),
    )  # fmt: skip


def _scaffolds(data: Published) -> Table:
    columns = ("sums_diffs_delta_ndg", "denoising_delta_ndg")
    rows = data.rows("table1d_scaffolds", ("scaffold", *columns))
    shown = [[row.text("scaffold"), *(_signed(row.number(c)) for c in columns)] for row in rows]
    return Table(
        "Table 1(d): NDG points that EvoDuet adds to a scaffold",
        ("scaffold", "sums_diffs", "denoising"),
        shown, 1, (_NO_N,),
    )  # fmt: skip


def _costs(data: Published) -> Table:
    points = cost_points(data)
    known = [(p.cost_usd, p.ndg) for p in points if p.cost_usd is not None and p.ndg is not None]
    best = dict(zip(known, non_dominated(known), strict=True))
    cheapest = next((p.cost_usd for p in points if p.method == EVODUET), None)
    rows: list[list[Field]] = []
    for point in points:
        if point.cost_usd is None or point.ndg is None:
            rows.append([point.method, point.note, "not printed", "", "", ""])
            continue
        ratio = point.cost_usd / cheapest if cheapest else None
        flag = "yes" if best[point.cost_usd, point.ndg] else "no"
        rows.append(
            [point.method, point.note, f"{point.ndg:g}", f"{point.cost_usd:.2f}",
             rounded(ratio, 1), flag]
        )  # fmt: skip
    return Table(
        "Table 1(e): NDG and cost on Denoising",
        ("method", "cost is", "NDG %", "USD", "USD / EvoDuet's", "not dominated"),
        rows, 2, ("Dominated: another printed point is as cheap and as good, and better in one.",),
    )  # fmt: skip


def table_2(data: Published) -> list[Table]:
    """Joint-level and bi-level search."""
    columns = ("denoising_ndg_pct", "sums_diffs_ndg_pct")
    rows = data.rows("table2_joint_vs_bilevel", ("method", *columns))
    table = _best_marked(
        "Table 2: search by the generator and by EvoDuet, NDG in percent",
        rows, "method", columns, ("method", "denoising", "sums_diffs"),
    )  # fmt: skip
    warning = (
        "As printed: the rows mix means with best or single runs and do not follow from Tables "
        "4-10 (inconsistencies I01 and I02)."
    )
    return [Table(table.title, table.columns, table.rows, 1, (warning, _NO_N))]


def table_3() -> list[Table]:
    """Domains and tasks, from the catalogue of tasks."""
    from benchmark.catalogue import catalogue

    tasks = list(catalogue().values())
    rows: list[list[Field]] = []
    for domain, title in domain_titles().items():
        mine = [task for task in tasks if task.domain == domain]
        rows.append([title, ", ".join(task.name for task in mine), str(len(mine))])
    rows.append(["all", "", str(len(tasks))])
    extra = [title for name, title in domain_titles().items() if name not in DOMAINS]
    note = f"Domains from other distributions: {', '.join(extra)}." if extra else ""
    return [Table("Table 3: tasks by domain", ("domain", "tasks", "number"), rows, 2,
                  (note,) if note else ())]  # fmt: skip


def table_6(data: Published) -> list[Table]:
    """Rounds, and queries with documents retained."""
    rounds = data.rows("table6a_rounds", ("R", "is_default", "denoising_ndg_pct"))
    queries = data.rows("table6b_queries", ("J", "k_documents", "is_default", "denoising_ndg_pct"))
    defaults = "D is the number of documents retained (the paper's k; 3 where it is not printed); "
    return [
        Table(
            "Table 6(a): search rounds, NDG on Denoising in percent",
            ("R", "default", "NDG %"),
            [[r.text("R"), r.text("is_default"), r.text("denoising_ndg_pct")] for r in rounds],
            0, (_NO_N,),
        ),
        Table(
            "Table 6(b): queries a round and documents retained",
            ("J", "D", "default", "NDG %"),
            [
                [r.text("J"), r.optional("k_documents"), r.text("is_default"),
                 r.text("denoising_ndg_pct")]
                for r in queries
            ],
            0, (defaults + "five results a query throughout.", _NO_N),
        ),
    ]  # fmt: skip


def table_11(data: Published) -> list[Table]:
    """Curated failures."""
    columns = ("task_id", "evidence_type", "failure_type", "parent_score", "child_score", "verdict")
    return [_as_printed(data, "table11_failures", "Table 11: evidence that did not help", columns)]


def table_12(data: Published) -> list[Table]:
    """Curated cases."""
    columns = ("section", "task_id", "behaviours", "llm", "N", "iterations_shown")
    return [_as_printed(data, "table12_cases", "Table 12: cases", columns)]


def _as_printed(data: Published, name: str, title: str, columns: Sequence[str]) -> Table:
    rows = [[row.optional(column) for column in columns] for row in data.rows(name, columns)]
    return Table(title, columns, rows, len(columns))


def table_13(data: Published) -> list[Table]:
    """Best programs."""
    columns = ("task_id", "task", "direction", "llm", "N", "iteration", "simpletes", "evoduet")
    found = data.rows("table13_best_programs", columns)
    domains = data.domains
    rows: list[list[Field]] = []
    for row in sorted(found, key=lambda r: (domain_key(domains.get(r.text("task_id"), "")),
                                            r.text("task_id"))):  # fmt: skip
        theirs, ours = row.number("simpletes"), row.number("evoduet")
        delta = ours.exact - theirs.exact
        verdict = outcome(improvement(theirs.exact, ours.exact, row.text("direction")))
        rows.append(
            [row.text("task"), row.text("llm"), row.text("N"), row.text("iteration"), theirs.text,
             Cell(ours.text, verdict == "record"), _difference(delta, theirs, ours), verdict]
        )  # fmt: skip
    note = "The difference is of printed values; a tie is a difference within 1e-9 as printed."
    columns = ("task", "model", "N", "iteration", "SimpleTES", "EvoDuet", "Δ", "outcome")
    return [Table("Table 13: best programs", columns, rows, 2, (note,))]


def _difference(delta: Decimal, *printed: Printed) -> str:
    return rounded(delta, max(p.decimals for p in printed), sign=True)


def _signed(value: Printed) -> str:
    return rounded(value.exact, value.decimals, sign=True)


def _best_marked(
    title: str, rows: Sequence[Row], key: str, columns: Sequence[str], header: Sequence[str]
) -> Table:
    """As printed, with the largest value of each column in bold."""
    best = {c: max(row.number(c).exact for row in rows) for c in columns}
    shown: list[list[Field]] = [
        [
            row.text(key),
            *(Cell(row.number(c).text, row.number(c).exact == best[c]) for c in columns),
        ]
        for row in rows
    ]
    return Table(title, header, shown, 1, (_NO_N,))
