"""From run folders to one HTML file."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from analysis.report.packing import write_page
from analysis.report.study import Details, Study, find_runs, read_study


def write_report(places: Sequence[Path], out: Path, details: Details = "improving") -> Study:
    """Write the report of the runs at or below ``places``; the file is whole or not there.

    ``details`` says which iterations can be opened with everything they hold: ``none``;
    ``improving``: those with a new run best, those on the way to the best program and those with
    an audit flag; ``all``. Memory is bounded by one run. Raises
    :class:`~analysis.rows.DataProblem` when no run can be read.
    """
    runs = find_runs(places)
    partial = out.with_name(f".{out.name}.partial")
    with tempfile.TemporaryDirectory(prefix="evoduet-report-") as folder:
        blocks = Path(folder) / "blocks"
        with blocks.open("w", encoding="ascii") as file:
            study = read_study(runs, details, file)
        try:
            with partial.open("w", encoding="utf-8", newline="\n") as page:
                write_page(page, study.index(), blocks)
            partial.replace(out)
        finally:
            partial.unlink(missing_ok=True)
    return study
