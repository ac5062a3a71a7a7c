"""One circuit as two routers ran it: every operation is there, the inserted SWAPs are in colour."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from shared_data import require_shared

from benchmark.evaluation import load_evaluator, prepare
from benchmark.evaluator import Invalid
from tasks.quantum_compilation.circuit import Circuit
from tasks.quantum_compilation.swap_reduction import picture_pair
from tasks.quantum_compilation.swap_reduction.evaluator import SwapReduction
from tasks.quantum_compilation.swap_reduction.picture import ACCENT

Small = tuple[SwapReduction, list[dict[str, Any]]]


def traces(kind: str, ids: list[str]) -> list[dict[str, Any]]:
    """Valid traces of the parity vectors, and failures for all other cases of the suite."""
    path = require_shared() / "parity" / "swap_reduction" / "traces_valid.json"
    known = {case["case"]: case["input"] for case in json.loads(path.read_text())}
    return [
        {"id": i, **{key: known[f"{i}/{kind}"][key] for key in ("initial_layout", "swaps")}}
        if f"{i}/{kind}" in known else {"id": i, "error": "not in the vectors"}
        for i in ids
    ]  # fmt: skip


def swaps_drawn(axes: Any) -> int:
    return sum(line.get_marker() == "x" and line.get_color() == ACCENT for line in axes.lines)


def test_the_circuit_of_the_paper(mirror: Path, circuits: dict[str, Circuit]) -> None:
    evaluator = load_evaluator(prepare("swap_reduction", "official"))
    assert isinstance(evaluator, SwapReduction)
    ids = [case.id for case in evaluator.suite.cases]
    routed = [(kind, traces(kind, ids)) for kind in ("init", "improved")]
    figure = Figure()
    shown = picture_pair.draw(evaluator.suite, routed, figure)
    assert figure.get_suptitle() == "alu-v0_27 on q20, inserted SWAPs in colour"
    titles = [axes.get_title("left") for axes in figure.axes]
    assert titles == ["init: 5 SWAPs", "improved: 2 SWAPs"]
    assert [swaps_drawn(axes) for axes in figure.axes] == [5, 2]
    size = len(circuits["alu-v0_27"].operations)
    for label, swaps in (("init", 5), ("improved", 2)):
        operations = [row[2] for row in shown.rows if row[0] == label]
        assert operations.count("swap inserted") == swaps
        assert len(operations) == size + swaps


def test_another_circuit_where_that_is_not_in_the_suite(small: Small) -> None:
    evaluator, records = small
    figure = Figure()
    picture_pair.draw(evaluator.suite, [("a", records), ("b", records)], figure)
    assert "toffoli_5" in figure.get_suptitle()


def test_a_circuit_that_nobody_finished_is_not_drawn(small: Small) -> None:
    evaluator, records = small
    failed = [{"id": record["id"], "error": "panic"} for record in records]
    with pytest.raises(Invalid, match="no circuit on q20 was routed by all"):
        picture_pair.draw(evaluator.suite, [("a", records), ("b", failed)], Figure())
