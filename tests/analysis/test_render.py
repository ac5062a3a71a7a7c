"""Rounding, Markdown and LaTeX."""

from __future__ import annotations

from decimal import Decimal

import pytest

from analysis.output import CsvFile, plain, write_files
from analysis.tables.render import Cell, Table, from_csv, latex, markdown, rounded


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (18032.4, 0, "18,032"),
        (Decimal("0.8200"), 4, "0.8200"),
        (-3.44, 1, "−3.4"),
        (-0.04, 1, "0.0"),
        (None, 1, ""),
    ],
)
def test_rounding(value: float | Decimal | None, decimals: int, text: str) -> None:
    assert rounded(value, decimals) == text


def test_signs() -> None:
    assert rounded(3.96, 1, sign=True) == "+4.0"
    assert rounded(0.04, 1, sign=True) == "0.0"
    assert rounded(-1555.0, 0, sign=True) == "−1,555"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e-9, "0.000000001"),
        (1e22, "10000000000000000000000"),
        (0.1 + 0.2, "0.30000000000000004"),
        (100.0, "100"),
        (Decimal("-0.0002"), "-0.0002"),
        (Decimal("1.20"), "1.20"),
        (float("inf"), "inf"),
        (None, ""),
        (True, "yes"),
        (3, "3"),
    ],
)
def test_plain_decimals(value: object, text: str) -> None:
    assert plain(value) == text  # type: ignore[arg-type]


def test_nan_never_leaves() -> None:
    with pytest.raises(ValueError, match="NaN"):
        plain(float("nan"))


def test_cells_are_escaped() -> None:
    table = Table("A & B", ("name", "50 %"), [["a_b|c", Cell("1 ± 2", bold=True)]], 1, ("x < y",))
    assert "| a_b\\|c | **1 ± 2** |" in markdown([table])
    text = latex([table])
    assert r"a\_b|c & \textbf{1 $\pm$ 2} \\" in text
    assert r"name & 50 \% \\" in text
    assert r"\caption{A \& B. x $<$ y}" in text


def test_results_are_shown_with_four_digits() -> None:
    file = CsvFile("f", ("name", "value"), [("a", 0.123456), ("b", None), ("c", True)])
    assert "| a | 0.1235 |\n| b |  |\n| c | yes |" in markdown([from_csv(file, "T", "note", 1)])


def test_files_are_written_whole(tmp_path: object) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path)) / "new" / "folder"
    paths = write_files(folder, {"a.csv": "x\n", "b.png": b"\x89"})
    assert [path.name for path in paths] == ["a.csv", "b.png"]
    assert sorted(path.name for path in folder.iterdir()) == ["a.csv", "b.png"]
