"""The project's copy of the published numbers, and copies with mistakes in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from published_copy import PublishedCopy

from analysis.published import Published, default_folder
from analysis.rows import DataProblem


def test_the_copy_is_the_mirror_byte_for_byte(shared: Path) -> None:
    mirror = shared / "data" / "paper"
    ours = {path.name: path.read_bytes() for path in default_folder().glob("*.csv")}
    assert ours == {path.name: path.read_bytes() for path in mirror.glob("*.csv")}


def test_every_file_is_explained() -> None:
    text = (default_folder() / "README.md").read_text(encoding="utf-8")
    spans = {"table1a_records": "table1e_pareto", "table7_scores": "table10_scores"}
    hidden = {"table1b_gating", "table1c_search_methods", "table1d_scaffolds", "table8_scores",
              "table9_scores"}  # fmt: skip
    assert all(f"`{a}` … `{b}`" in text for a, b in spans.items())
    for path in default_folder().glob("*.csv"):
        assert f"`{path.stem}`" in text or path.stem in hidden, path.stem


def test_what_the_files_hold(data: Published) -> None:
    assert len(data.scores) == 252
    assert len(data.oracle) == 62
    assert len(data.parallel) == 42
    assert len(data.records) == 11
    assert len(data.domains) == 31
    assert len(data.claims) == 255


def test_a_second_row_for_a_cell_is_refused(copy: PublishedCopy) -> None:
    copy.set("tables7_10_scores", {"model": "Qwen3.5-9B", "N": "1", "method": "EvoDuet",
                                   "task_id": "ac1"}, task_id="ac2")  # fmt: skip
    with pytest.raises(
        DataProblem, match=r"tables7_10_scores\.csv line \d+: a second row for Qwen"
    ):
        _ = copy.read().scores


def test_unknown_methods_and_directions_are_refused(copy: PublishedCopy) -> None:
    first = {"model": "Qwen3.5-9B", "N": "1", "method": "EvoDuet", "task_id": "ac1"}
    copy.set("tables7_10_scores", first, direction="up")
    with pytest.raises(DataProblem, match="direction is 'up', expected min or max"):
        _ = copy.read().scores


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataProblem, match="no folder of published numbers"):
        Published(tmp_path / "nowhere")
