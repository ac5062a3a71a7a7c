"""All files of `evoduet tables`, as name and content; nothing is written here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analysis import published_statistics, run_curves, run_statistics
from analysis.anchors import Range
from analysis.output import CsvFile
from analysis.published import Published
from analysis.runs import read_study
from analysis.summaries import Section
from analysis.tables import grids, published_csv, small
from analysis.tables.render import Table, from_csv, latex, markdown

LONG = {"statistics_profile", "runs_profile", "runs_anytime", "runs_ecdf", "runs_area"}
"""Tables for machines alone: curves, which a page of Markdown does not show."""


def published_files(data: Published) -> dict[str, str]:
    """Everything that is computed from published numbers."""
    files = {f"{file.name}.csv": file.text() for file in published_csv.all_files(data)}
    pages = {
        "table1": small.table_1(data),
        "table2": small.table_2(data),
        "table3": small.table_3(),
        "table4": grids.table_4(data),
        "table5": grids.table_5(data),
        "table6": small.table_6(data),
        **{f"table{n}": page for n, page in grids.tables_7_to_10(data).items()},
        "table11": small.table_11(data),
        "table12": small.table_12(data),
        "table13": small.table_13(data),
        "above_sota": grids.above_sota_table(data),
    }
    for name, page in pages.items():
        files |= {f"{name}.md": markdown(page), f"{name}.tex": latex(page)}
    return files | _statistics("statistics", published_statistics.sections(data), ())


def run_files(folder: Path, ranges: dict[str, Range]) -> tuple[dict[str, str], Sequence[str]]:
    """Everything about own runs, and notes on what was left out."""
    study = read_study(folder)
    curves = run_curves.read_curves(study)
    notes = run_curves.notes_of(study, curves)
    sections = (*run_statistics.sections(study, ranges), *run_curves.sections(curves))
    table = run_statistics.runs_table(study)
    return {"runs.csv": table.text(), **_statistics("runs_statistics", sections, notes)}, notes


def _statistics(page: str, sections: Sequence[Section], notes: Sequence[str]) -> dict[str, str]:
    files = {f"{section.table.name}.csv": section.table.text() for section in sections}
    tables = [_shown(section) for section in sections]
    text = markdown(tables)
    if notes:
        text += "\n## Left out\n\n" + "".join(f"* {note}\n" for note in notes)
    return {**files, f"{page}.md": text}


def _shown(section: Section) -> Table:
    file = section.table
    if file.name in LONG:
        file = CsvFile(file.name, ("file", "rows"), [(f"{file.name}.csv", len(file.rows))])
    words = sum(name in _WORDS for name in file.columns)
    return from_csv(file, section.title, section.says, words)


_WORDS = {"model", "method", "settings", "aggregate", "ours", "theirs", "change", "task_id",
          "domain", "file", "axis"}  # fmt: skip
