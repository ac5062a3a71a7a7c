"""Figures 1, 2, 5 and 9: drawn from code, with no number but the two of Figure 2."""

from __future__ import annotations

import re

import pytest
from published_copy import PublishedCopy, read_csv

from analysis.figures import schematics, style
from analysis.figures.style import Drawn
from analysis.published import Published
from analysis.rows import DataProblem

SCHEMATICS = (
    schematics.loops, schematics.worked_example, schematics.overview, schematics.couplings,
)  # fmt: skip


def drawn(draw, data: Published) -> Drawn:  # type: ignore[no-untyped-def]
    with style.drawing():
        result: Drawn = draw(data)
        return result


def texts(found: Drawn) -> str:
    """Everything written in a figure: comments in the SVG hold the text of each label."""
    return "\n".join(re.findall(r"<!-- (.*?) -->", found.pictures["svg"].decode(), re.DOTALL))


def test_only_figure_2_has_numbers(data: Published) -> None:
    for draw in SCHEMATICS:
        found = drawn(draw, data)
        numbers = re.findall(r"\d[\d,.]*", texts(found))
        assert sorted(numbers) == (["14,835", "15,186", "2.31"] if found.name == "fig2" else [])


def test_figure_2_follows_the_data(data: Published, copy: PublishedCopy) -> None:
    before = drawn(schematics.worked_example, data)
    copy.set("table1a_records", {"task_id": "swap_reduction"}, evoduet="12345")
    after = drawn(schematics.worked_example, copy.read())
    assert "12,345" in texts(after)
    assert "14,835" not in texts(after)
    assert before.pictures["png"] != after.pictures["png"]
    (row,) = read_csv(after.data[0].text())
    assert (row["previous_best"], row["evoduet"]) == ("15186", "12345")


def test_figure_2_needs_its_row(copy: PublishedCopy) -> None:
    copy.change("table1a_records", lambda row: None if row["task_id"] == "swap_reduction" else row)
    with pytest.raises(DataProblem, match="no row for swap_reduction"):
        drawn(schematics.worked_example, copy.read())


def test_the_same_bytes_twice(data: Published) -> None:
    assert all(drawn(d, data).pictures == drawn(d, data).pictures for d in SCHEMATICS)
