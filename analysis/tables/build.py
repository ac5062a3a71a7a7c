"""All files of `evoduet tables`, as name and content; nothing is written here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analysis import (
    artifact_reuse,
    gate_regression,
    published_statistics,
    run_curves,
    run_statistics,
)
from analysis.behaviour.files import behaviour_files, flag_files, notes_of, page_of
from analysis.behaviour.flags import read_flags
from analysis.output import CsvFile
from analysis.published import Published
from analysis.reading import read_traces
from analysis.runs import read_study
from analysis.summaries import Section
from analysis.tables import grids, published_csv, small
from analysis.tables.own_layout import layout_files
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


def run_files(folder: Path, data: Published) -> tuple[dict[str, str], Sequence[str]]:
    """Everything about own runs, and notes on what was left out.

    Of the published numbers only anchor ranges, layout, digits and the quoted column are used.
    """
    study = read_study(folder)
    reading = read_traces(study)
    flags = read_flags(reading.runs)
    notes = (*study.notes, *reading.notes, *notes_of(reading.runs), *flags.notes)
    sections = (
        *run_statistics.sections(study, data.anchor_ranges),
        *run_curves.sections(reading.curves),
        gate_regression.section(study, reading.runs),
        *artifact_reuse.sections(study, flags),
    )
    table = run_statistics.runs_table(study)
    files = {"runs.csv": table.text(), **_statistics("runs_statistics", sections, notes)}
    counted = (*behaviour_files(reading.runs), *flag_files(flags))
    files |= {f"{t.name}.csv": t.text() for t in counted} | layout_files(study, data)
    files |= _statistics("runs_behaviour", page_of(counted), notes)
    if reused := artifact_reuse.flagged(flags):
        others = artifact_reuse.without(study, reused)
        files |= layout_files(others, data, "runs_unflagged_", artifact_reuse.ABOUT)
    return files, notes


def _statistics(name: str, sections: Sequence[Section], notes: Sequence[str]) -> dict[str, str]:
    files = {f"{section.table.name}.csv": section.table.text() for section in sections}
    tables = [_shown(section) for section in sections]
    text = markdown(tables)
    if notes:
        text += "\n## Left out\n\n" + "".join(f"* {note}\n" for note in notes)
    return {**files, f"{name}.md": text}


def _shown(section: Section) -> Table:
    file = section.table
    if file.name in LONG:
        file = CsvFile(file.name, ("file", "rows"), [(f"{file.name}.csv", len(file.rows))])
    words = sum(name in _WORDS for name in file.columns)
    return from_csv(file, section.title, section.says, words)


_WORDS = {"model", "method", "settings", "aggregate", "ours", "theirs", "change", "task_id",
          "domain", "file", "axis", "group", "parent_rank", "key", "prediction", "flag",
          "retriever", "docs", "rate", "run_id"}  # fmt: skip
