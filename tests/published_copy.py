"""A copy of the published numbers that a test may change."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from analysis.published import Published

Change = Callable[[dict[str, str]], dict[str, str] | None]


class PublishedCopy:
    """The folder of published numbers, to be changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def change(self, name: str, change: Change) -> None:
        """Apply ``change`` to every row of a file; a row for which it returns None goes."""
        path = self.folder / f"{name}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            columns = list(reader.fieldnames or ())
            rows = [row for old in reader if (row := change(old)) is not None]
        self.write(name, columns, rows)

    def set(self, name: str, where: Mapping[str, str], **values: str) -> None:
        """Set fields of the one row that matches."""
        hits = 0

        def apply(row: dict[str, str]) -> dict[str, str]:
            nonlocal hits
            if all(row[key] == value for key, value in where.items()):
                hits += 1
                return {**row, **values}
            return row

        self.change(name, apply)
        assert hits == 1, (name, where, hits)

    def write(self, name: str, columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
        with (self.folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def read(self) -> Published:
        return Published(self.folder)


def read_csv(text: str) -> list[dict[str, str]]:
    """Rows of a CSV text."""
    return list(csv.DictReader(text.splitlines()))
