"""Files of results: CSV with numbers as plain decimals, written whole or not at all."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

Value = str | int | float | Decimal | None


@dataclass(frozen=True)
class CsvFile:
    """A table of results; ``name`` has no suffix, rows are aligned with ``columns``."""

    name: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Value]]

    def text(self) -> str:
        """The file's content: UTF-8, LF, header first, empty for ``None``."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self.rows:
            assert len(row) == len(self.columns), (self.name, row)
            writer.writerow(map(plain, row))
        return stream.getvalue()


def plain(value: Value) -> str:
    """A value as text: shortest decimal that reads back the same, never with an exponent.

    Raises ``ValueError`` for NaN, which must not leave the program.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if math.isnan(value):
        raise ValueError("NaN is not a result; leave the field empty")
    exact = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
    text = format(exact, "f")
    return text.removesuffix(".0") if isinstance(value, float) else text


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> list[Path]:
    """Write files below ``folder``, each whole or not at all; the folder is made when needed.

    Half a surrogate pair, which a model may have sent, becomes a question mark.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, content in files.items():
        path = folder / name
        partial = path.with_name(f".{path.name}.partial")
        try:
            if isinstance(content, str):
                content = content.encode(errors="replace")
            partial.write_bytes(content)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
        paths.append(path)
    return paths
