"""A table for people, written as Markdown and as LaTeX from the same cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal

from analysis.output import CsvFile, Value


@dataclass(frozen=True)
class Cell:
    """Text of a field; ``bold`` marks the better of what is compared."""

    text: str
    bold: bool = False


Field = Cell | str


@dataclass(frozen=True)
class Table:
    """A table; the first ``text_columns`` columns are words, the rest numbers (to the right)."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Field]]
    text_columns: int = 1
    notes: Sequence[str] = field(default_factory=tuple)


def markdown(tables: Sequence[Table]) -> str:
    """Pages of tables as Markdown."""
    return "\n".join(_markdown(table) for table in tables)


def _markdown(table: Table) -> str:
    rule = ["---" if i < table.text_columns else "--:" for i in range(len(table.columns))]
    lines = [f"## {table.title}", "", _row(table.columns), _row(rule)]
    lines += [_row([_markdown_cell(field) for field in row]) for row in table.rows]
    for note in table.notes:
        lines += ["", note]
    return "\n".join(lines) + "\n"


def _row(fields: Sequence[str]) -> str:
    return f"| {' | '.join(fields)} |"


def _markdown_cell(field: Field) -> str:
    cell = Cell(field) if isinstance(field, str) else field
    text = cell.text.replace("|", "\\|")
    return f"**{text}**" if cell.bold else text


def latex(tables: Sequence[Table]) -> str:
    """The tables as `table` environments, for the package booktabs."""
    return "\n".join(_latex(table) for table in tables)


def _latex(table: Table) -> str:
    alignment = "l" * table.text_columns + "r" * (len(table.columns) - table.text_columns)
    notes = " ".join((f"{table.title}.", *table.notes))
    body = [_latex_row([_latex_cell(field) for field in row]) for row in table.rows]
    return "\n".join(
        (
            r"\begin{table}",
            rf"\caption{{{_escaped(notes)}}}",
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            _latex_row([_escaped(name) for name in table.columns]),
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        )
    )


def _latex_row(fields: Sequence[str]) -> str:
    return " & ".join(fields) + r" \\"


def _latex_cell(field: Field) -> str:
    cell = Cell(field) if isinstance(field, str) else field
    text = _escaped(cell.text)
    return rf"\textbf{{{text}}}" if cell.bold else text


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "±": r"$\pm$", "Δ": r"$\Delta$", "−": "$-$", "≥": r"$\ge$", "→": r"$\to$", "`": "",
    "<": "$<$", ">": "$>$",
}  # fmt: skip


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def rounded(value: float | Decimal | None, decimals: int, *, sign: bool = False) -> str:
    """A number with so many digits after the point and a true minus; empty for ``None``.

    With ``sign`` a positive number gets its plus; what rounds to zero gets none.
    """
    if value is None:
        return ""
    exact = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
    shown = exact.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_EVEN)
    if shown == 0:
        shown = abs(shown)
    text = f"{shown:+,f}" if sign and shown != 0 else f"{shown:,f}"
    return text.replace("-", "−")


def from_csv(file: CsvFile, title: str, note: str, text_columns: int) -> Table:
    """A table of results as people read it: four significant digits."""
    rows = [[_shown(value) for value in row] for row in file.rows]
    return Table(title, file.columns, rows, text_columns, (note,))


def _shown(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}".replace("-", "−")
    return str(value)
