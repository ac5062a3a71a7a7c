"""The paper's numbers, as transcribed into a folder of CSV files (`results/published`).

Only transcribed columns are read: what the paper derives from its own numbers (overall rows,
deltas, Figures 3-7) is computed again. File and column names are those of the folder's README.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import analysis
from analysis.anchors import Anchors, Range, read_anchors, read_ranges
from analysis.ordering import domain_key, model_key
from analysis.rows import DataProblem, Printed, Row, read_rows

BASELINE, EVODUET, ORACLE = "OpenEvolve", "EvoDuet", "OpenEvolve+Oracle"
"""Method names of the files."""

DIRECTIONS = ("min", "max")


def default_folder() -> Path:
    """The project's own copy, beside the packages in a checkout and in an installed wheel alike."""
    return Path(analysis.__file__).resolve().parents[1] / "results" / "published"


@dataclass(frozen=True)
class Spread:
    """Mean, sample standard deviation and best of the runs of a cell."""

    mean: Printed
    std: Printed
    best: Printed


@dataclass(frozen=True)
class ScoreCell:
    """A cell of Tables 7-10, in the task's own unit."""

    paper_table: int
    model: str
    n: int
    method: str
    task_id: str
    task: str
    domain: str
    direction: str
    score: Spread


@dataclass(frozen=True)
class OracleCell:
    """A row of Table 4: NDG without and with the oracle documents, one candidate at a time."""

    task_id: str
    task: str
    domain: str
    model: str
    baseline: Spread
    oracle: Spread

    @property
    def delta(self) -> float:
        """Difference of the means."""
        return float(self.oracle.mean.exact - self.baseline.mean.exact)


@dataclass(frozen=True)
class ParallelCell:
    """A row of Table 5: NDG with one and with eight candidates at a time."""

    task_id: str
    task: str
    domain: str
    model: str
    method: str
    n1: Spread
    n8: Spread


@dataclass(frozen=True)
class RecordCell:
    """A row of Table 1(a): the previous best known score, EvoDuet's, and what the run cost."""

    task_id: str
    task: str
    direction: str
    previous: Printed
    found: Printed
    cost_usd: Printed


class Published:
    """The folder; each file is read when it is first used. Raises :class:`DataProblem`."""

    def __init__(self, folder: Path, anchors: Path | None = None) -> None:
        if not folder.is_dir():
            raise DataProblem(f"{folder}: no folder of published numbers")
        self.folder = folder
        self.anchors_file = anchors or folder / "anchors_derived.csv"

    def rows(self, name: str, columns: Iterable[str]) -> list[Row]:
        """Lines of ``<name>.csv``, in the order of the file."""
        return read_rows(self.folder / f"{name}.csv", tuple(columns))

    @cached_property
    def anchors(self) -> dict[str, Anchors]:
        """Anchors by task."""
        return read_anchors(self.anchors_file)

    @cached_property
    def anchor_ranges(self) -> dict[str, Range]:
        """What the printed digits allow for the anchors, by task; empty without that file."""
        path = self.folder / "anchors_derived.csv"
        return read_ranges(path) if path.is_file() else {}

    @cached_property
    def scores(self) -> list[ScoreCell]:
        """Tables 7-10."""
        columns = ("paper_table", "model", "N", "method", "task_id", "task", "domain", "direction")
        rows = self.rows("tables7_10_scores", (*columns, "mean", "std", "best"))
        cells = [
            ScoreCell(
                row.integer("paper_table"), row.text("model"), row.integer("N"),
                row.one_of("method", (BASELINE, EVODUET)), row.text("task_id"), row.text("task"),
                row.text("domain"), row.one_of("direction", DIRECTIONS), _spread(row, ""),
            )
            for row in rows
        ]  # fmt: skip
        _refuse_doubles(rows, [(c.model, c.n, c.method, c.task_id) for c in cells])
        return sorted(
            cells,
            key=lambda c: (model_key(c.model), c.n, domain_key(c.domain), c.task_id, c.method),
        )

    @cached_property
    def oracle(self) -> list[OracleCell]:
        """Table 4."""
        columns = ("task_id", "task", "domain", "model")
        rows = self.rows("table4_oracle", (*columns, *_spread_columns("openevolve_", "oracle_")))
        cells = [
            OracleCell(
                row.text("task_id"), row.text("task"), row.text("domain"), row.text("model"),
                _spread(row, "openevolve_"), _spread(row, "oracle_"),
            )
            for row in rows
        ]  # fmt: skip
        _refuse_doubles(rows, [(c.model, c.task_id) for c in cells])
        return sorted(cells, key=lambda c: (model_key(c.model), domain_key(c.domain), c.task_id))

    @cached_property
    def parallel(self) -> list[ParallelCell]:
        """Table 5."""
        columns = ("task_id", "task", "domain", "model", "method")
        rows = self.rows("table5_parallel", (*columns, *_spread_columns("n1_", "n8_")))
        cells = [
            ParallelCell(
                row.text("task_id"), row.text("task"), row.text("domain"), row.text("model"),
                row.one_of("method", (BASELINE, ORACLE)), _spread(row, "n1_"), _spread(row, "n8_"),
            )
            for row in rows
        ]  # fmt: skip
        _refuse_doubles(rows, [(c.model, c.method, c.task_id) for c in cells])
        return sorted(
            cells,
            key=lambda c: (model_key(c.model), domain_key(c.domain), c.task_id, c.method),
        )

    @cached_property
    def records(self) -> list[RecordCell]:
        """Table 1(a)."""
        columns = ("task_id", "task", "direction", "prev_sota", "evoduet", "cost_usd")
        rows = self.rows("table1a_records", columns)
        cells = [
            RecordCell(
                row.text("task_id"), row.text("task"), row.one_of("direction", DIRECTIONS),
                row.number("prev_sota"), row.number("evoduet"), row.number("cost_usd"),
            )
            for row in rows
        ]  # fmt: skip
        _refuse_doubles(rows, [(c.task_id,) for c in cells])
        domains = self.domains
        return sorted(cells, key=lambda c: (domain_key(domains.get(c.task_id, "")), c.task_id))

    @cached_property
    def domains(self) -> dict[str, str]:
        """Domain of each task of Table 3."""
        rows = self.rows("table3_tasks", ("task_id", "domain"))
        _refuse_doubles(rows, [(row.text("task_id"),) for row in rows])
        return {row.text("task_id"): row.text("domain") for row in rows}

    @cached_property
    def claims(self) -> dict[str, Row]:
        """Numbers of the running text, by their id (``C001`` ...)."""
        rows = self.rows("text_claims", ("id", "quantity", "value", "figure_or_table"))
        _refuse_doubles(rows, [(row.text("id"),) for row in rows])
        return {row.text("id"): row for row in rows}

    def keyed(self, name: str, key: str, column: str) -> dict[str, Printed]:
        """One column of a small table by another, for example NDG by gate."""
        rows = self.rows(name, (key, column))
        _refuse_doubles(rows, [(row.text(key),) for row in rows])
        return {row.text(key): row.number(column) for row in rows if row.optional(column)}


def _spread_columns(*prefixes: str) -> tuple[str, ...]:
    return tuple(prefix + name for prefix in prefixes for name in ("mean", "std", "best"))


def _spread(row: Row, prefix: str) -> Spread:
    return Spread(*(row.number(prefix + name) for name in ("mean", "std", "best")))


def _refuse_doubles(rows: list[Row], keys: list[tuple[object, ...]]) -> None:
    seen: set[tuple[object, ...]] = set()
    for row, key in zip(rows, keys, strict=True):
        if key in seen:
            named = ", ".join(map(str, key))
            raise DataProblem(f"{row.path} line {row.line}: a second row for {named}")
        seen.add(key)
