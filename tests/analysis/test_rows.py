"""Printed digits survive; complaints say where."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from analysis.rows import DataProblem, Printed, read_rows


def test_a_trailing_zero_is_information() -> None:
    value = Printed.read("0.8200")
    assert (value.unit, value.decimals, float(value)) == (Decimal("0.0001"), 4, 0.82)
    assert Printed.read("14835").unit == 1
    assert Printed.read("+1.2e3").unit == 100
    assert Printed.read("+1.2e3").decimals == 0


@pytest.mark.parametrize("text", ["", "nan", "inf", "1_000", "1,000", "0x10", "1.2.3", " 1"])
def test_what_is_not_a_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a number"):
        Printed.read(text)


def test_complaints_name_file_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text("task,mean\ncp26,1.0\nac1,oops\nac2,\nac3,1.5\n")
    rows = read_rows(path, ("task", "mean"))
    with pytest.raises(DataProblem, match=r"some\.csv line 3: mean 'oops' is not a number"):
        rows[1].number("mean")
    with pytest.raises(DataProblem, match="line 4: mean is empty"):
        rows[2].number("mean")
    assert rows[2].optional_number("mean") is None
    with pytest.raises(DataProblem, match=r"line 5: mean is 1\.5, expected a whole number"):
        rows[3].integer("mean")
    with pytest.raises(DataProblem, match="line 2: task is 'cp26', expected a or b"):
        rows[0].one_of("task", ("a", "b"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"task\ncp26\n", "no column mean"),
        (b"task,mean\n", "no lines below the header"),
        (b"task,mean\ncp26\n", "line 2: not as many fields"),
        (b"task,mean\ncp26,1,2\n", "line 2: not as many fields"),
        (b"task,mean\n\xff,1\n", "not UTF-8"),
        (b'task,mean\n"cp26,1\n', "not CSV"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "some.csv"
    path.write_bytes(content)
    with pytest.raises(DataProblem, match=rf"some\.csv.*{message}"):
        read_rows(path, ("task", "mean"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataProblem, match=r"gone\.csv: missing"):
        read_rows(tmp_path / "gone.csv", ())


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_bytes(b"\xef\xbb\xbftask,mean\r\nErd\xc5\x91s,1\r\n")
    (row,) = read_rows(path, ("task",))
    assert row.text("task") == "Erdős"
