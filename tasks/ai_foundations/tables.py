"""Tables of measured losses: groups of rows, their features and targets, read from CSV."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Split = Literal["train", "test"]


@dataclass(frozen=True)
class Rows:
    """The rows of one group: ``features`` (n, F) and ``targets`` (n, D), both float64."""

    features: Array
    targets: Array

    def __len__(self) -> int:
        return len(self.features)


Table: TypeAlias = dict[str, Rows]
"""Rows by group; groups in sorted order of their names, rows in the order of the file."""

Sizes: TypeAlias = dict[Split, dict[str, int]]
"""Number of rows by split and group."""


def read_table(path: Path, features: Sequence[str], targets: Sequence[str]) -> Table:
    """The table in a CSV file whose columns (any order, others ignored) include ``group``.

    Raises ``ValueError`` naming the file and the missing column or the line that holds no numbers.
    """
    wanted = [*features, *targets]
    rows: dict[str, list[list[float]]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        missing = [name for name in ("group", *wanted) if name not in (reader.fieldnames or ())]
        if missing:
            raise ValueError(f"{path}: no column {', '.join(missing)}")
        for record in reader:
            try:
                values = [float(record[name]) for name in wanted]
            except (TypeError, ValueError):
                raise ValueError(f"{path}: line {reader.line_num} lacks a number") from None
            rows.setdefault(record["group"], []).append(values)
    return make_table({name: np.array(values) for name, values in rows.items()}, len(features))


def make_table(groups: Mapping[str, Array], n_features: int) -> Table:
    """A table from one array (n, F + D) for each group: features first, then targets."""
    return {
        name: Rows(
            np.ascontiguousarray(groups[name][:, :n_features], dtype=np.float64),
            np.ascontiguousarray(groups[name][:, n_features:], dtype=np.float64),
        )
        for name in sorted(groups)
    }


def write_csv(
    path: Path, columns: Sequence[str], records: Sequence[Mapping[str, str | float]]
) -> None:
    """Write records as CSV, floats by ``repr`` (which reads back as the same number)."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for record in records:
            values = [record[name] for name in columns]
            writer.writerow([repr(v) if isinstance(v, float) else v for v in values])


def sizes(table: Table) -> dict[str, int]:
    """Number of rows by group."""
    return {name: len(rows) for name, rows in table.items()}
