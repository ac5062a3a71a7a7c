"""Reading CSV files: printed digits survive, complaints name file, line and column."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class DataProblem(ValueError):
    """The data cannot be used; the message names the file, the place and what is expected."""


@dataclass(frozen=True)
class Printed:
    """A number as it is printed: a trailing zero is information about rounding."""

    text: str
    exact: Decimal

    @classmethod
    def read(cls, text: str) -> Printed:
        """The number that ``text`` prints. Raises ``ValueError``, also for NaN and infinities."""
        if not _NUMBER.fullmatch(text):
            raise ValueError(f"{text!r} is not a number")
        return cls(text, Decimal(text))

    def __float__(self) -> float:
        return float(self.text)

    @property
    def unit(self) -> Decimal:
        """One unit of the last printed digit."""
        exponent = self.exact.as_tuple().exponent
        assert isinstance(exponent, int)
        return Decimal(1).scaleb(exponent)

    @property
    def decimals(self) -> int:
        """Digits after the point."""
        exponent = self.unit.as_tuple().exponent
        assert isinstance(exponent, int)
        return max(0, -exponent)


@dataclass(frozen=True)
class Row:
    """One line of a CSV file; its readers raise :class:`DataProblem`."""

    path: Path
    line: int
    fields: Mapping[str, str]

    def text(self, column: str) -> str:
        """A field that must not be empty."""
        value = self.optional(column)
        if not value:
            raise self.problem(column, "is empty")
        return value

    def optional(self, column: str) -> str:
        """A field that may be empty."""
        return self.fields[column].strip()

    def one_of(self, column: str, allowed: Iterable[str]) -> str:
        """A field that must be one of ``allowed``."""
        value = self.text(column)
        if value not in allowed:
            raise self.problem(column, f"is {value!r}, expected {' or '.join(allowed)}")
        return value

    def number(self, column: str) -> Printed:
        """A field that must be a finite number."""
        try:
            return Printed.read(self.text(column))
        except DataProblem:
            raise
        except ValueError as error:
            raise self.problem(column, str(error)) from None

    def optional_number(self, column: str) -> Printed | None:
        """A finite number, or ``None`` for an empty field."""
        return self.number(column) if self.optional(column) else None

    def integer(self, column: str) -> int:
        """A field that must be a whole number."""
        value = self.number(column).exact
        if value != value.to_integral_value():
            raise self.problem(column, f"is {value}, expected a whole number")
        return int(value)

    def problem(self, column: str, what: str) -> DataProblem:
        """An error about one field."""
        return DataProblem(f"{self.path} line {self.line}: {column} {what}")


def read_rows(path: Path, columns: Sequence[str]) -> list[Row]:
    """The lines of a CSV file that has at least these columns.

    Raises :class:`DataProblem` for a file that is missing, not UTF-8, without one of the columns,
    without lines, or ragged.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            missing = [name for name in columns if name not in (reader.fieldnames or ())]
            if missing:
                raise DataProblem(f"{path}: no column {', '.join(missing)}")
            rows = [_row(path, reader.line_num, record) for record in reader]
    except FileNotFoundError:
        raise DataProblem(f"{path}: missing") from None
    except UnicodeDecodeError:
        raise DataProblem(f"{path}: not UTF-8") from None
    except csv.Error as error:
        raise DataProblem(f"{path}: not CSV ({error})") from None
    if not rows:
        raise DataProblem(f"{path}: no lines below the header")
    return rows


def _row(path: Path, line: int, record: Mapping[str | None, str | None]) -> Row:
    if None in record or None in record.values():
        raise DataProblem(f"{path} line {line}: not as many fields as the header has")
    return Row(path, line, {str(name): str(value) for name, value in record.items()})
