"""All tables of the paper's layout from own runs: files ``runs_table*``, nothing published in them
but the quoted column of Table 1(c), which says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from analysis.output import CsvFile
from analysis.published import Published
from analysis.runs import Study
from analysis.tables import own_ablations, own_grids, own_records
from analysis.tables.own_cells import choices
from analysis.tables.render import Table, latex, markdown


def layout_files(
    study: Study, data: Published, prefix: str = "runs_", about: str = ""
) -> dict[str, str]:
    """CSV, Markdown and LaTeX by file name.

    ``prefix`` of the names and the sentence ``about`` set other selections of runs apart.

    Raises :class:`~analysis.rows.DataProblem` where the published files that give layout and
    digits cannot be read.
    """
    found = choices(study)
    averages = {
        layout.name.removeprefix("runs_"): own_ablations.averages(layout, found)
        for layout in own_ablations.LAYOUTS
    }
    table_4, grid_4 = own_grids.oracle_documents(found)
    table_5, grid_5 = own_grids.parallel_candidates(found)
    natives, tables_7_to_10 = own_grids.native_scores(data, found)
    ones = (
        averages["table1b"],
        own_records.search_methods(data, found),
        own_ablations.scaffolds(found),
        own_records.cost_points(found),
    )
    programs, table_13 = own_records.best_programs(data, found)
    tables: list[CsvFile] = [
        *(csv for csv, _ in ones), *(averages[n][0] for n in ("table2", "table6a", "table6b")),
        *table_4, *table_5, natives, programs,
    ]  # fmt: skip
    pages: dict[str, Sequence[Table]] = {
        "table1": [table for _, page in ones for table in page],
        "table2": averages["table2"][1],
        "table4": grid_4,
        "table5": grid_5,
        "table6": [*averages["table6a"][1], *averages["table6b"][1]],
        **{f"table{number}": page for number, page in tables_7_to_10.items()},
        "table13": table_13,
    }
    files = {f"{prefix}{t.name.removeprefix('runs_')}.csv": t.text() for t in tables}
    for name, page in pages.items():
        text, source = markdown(page), latex(page)
        if about:
            text, source = f"{about}\n\n{text}", f"% {about}\n{source}"
        files |= {f"{prefix}{name}.md": text, f"{prefix}{name}.tex": source}
    return files
