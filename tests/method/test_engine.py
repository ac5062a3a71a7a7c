"""Which candidate an iteration keeps (methods.md 1.2 step 9)."""

from __future__ import annotations

from pathlib import Path

import pytest
from shared_data import parity_files, read_case

from method.attempts import best_slot, valid_score


@pytest.mark.parametrize("path", parity_files("methods", "candidate_selection.json"))
def test_vectors(path: Path) -> None:
    for case in read_case(path, numbers=False):
        slots = case["input"]["slots"]
        index = best_slot([valid_score(slot["status"], slot["search_score"]) for slot in slots])
        selected = None if index is None else slots[index]["slot"]
        assert selected == case["expected"]["selected_slot"], case["case"]


def test_only_finite_numbers_of_ok_candidates_count() -> None:
    assert valid_score("ok", 1) == 1.0
    for bad in (True, "1.0", None, float("nan"), float("inf"), -float("inf")):
        assert valid_score("ok", bad) is None
    for status in ("invalid", "error", "timeout", "unavailable", "parse_error"):
        assert valid_score(status, 1.0) is None
    assert best_slot([]) is None
    assert best_slot([1.0, 2.0, 2.0]) == 1
