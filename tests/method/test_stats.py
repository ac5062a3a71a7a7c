"""Population statistics beyond the parity vectors."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_run import program

from method.protocols import Draws
from method.stats import Member, corrected, member, population_stats

KEYS = [
    *("schema", "scope", "score_key", "direction", "population_size", "scored_population_size"),
    *("missing_score_count", "score_distribution", "unique_score_count", "current_parent"),
    *("top_programs", "trace_window", "recent_trace", "selection_concentration", "omitted"),
]
SCOPE = [
    *("population", "trace_order", "global_outcome", "parent_score", "score_statistics"),
    *("unique_scores", "missing_values"),
]


def test_payload_form() -> None:
    text = population_stats([Member("é", 0.5, 0)], Member("é", 0.5)).to_json()
    payload = json.loads(text)
    assert list(payload) == KEYS
    assert list(payload["scope"]) == SCOPE
    assert text == json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    assert "é" in text
    assert payload["schema"] == "population_statistics_v1"
    assert payload["omitted"] == {
        "trace_by_recent_k": 0,
        "trace_by_budget": 0,
        "top_beyond_20": 0,
        "top_by_budget": 0,
    }


def test_empty_population() -> None:
    assert population_stats([], None).to_json() == ""


scores = st.none() | st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(scores, min_size=1, max_size=50))
def test_any_finite_scores_give_json_without_nan(values: list[float | None]) -> None:
    members = [
        Member(f"p{i:02d}", v, i, f"p{i // 2:02d}" if i else None) for i, v in enumerate(values)
    ]
    payload = json.loads(population_stats(members, members[-1]).to_json())
    found = [v for v in values if v is not None]
    distribution = payload["score_distribution"]
    assert distribution["best"] == (max(found) if found else None)
    assert distribution["worst"] == (min(found) if found else None)
    assert payload["omitted"]["top_beyond_20"] == max(0, len(found) - 20)
    assert payload["omitted"]["trace_by_recent_k"] == max(0, len(values) - 20)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30))
def test_distribution_agrees_with_numpy(values: list[float]) -> None:
    members = [Member(f"p{i}", value, i) for i, value in enumerate(values)]
    found = json.loads(population_stats(members, None).to_json())["score_distribution"]
    expected = {
        "mean": np.mean(values),
        "population_std": np.std(values),
        "median": np.median(values),
        "q25": np.quantile(values, 0.25),
        "q75": np.quantile(values, 0.75),
    }
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-9, abs=1e-8)


def test_sources_of_the_parent_score() -> None:
    population = [Member("a", 1.0, 0), Member("b", None, 1)]
    for parent, source, score in (
        (Member("a", 1.0), "retained_population", 1.0),
        (Member("gone", 0.5), "provided_parent", 0.5),
        (Member("gone", None), "unavailable", None),
        (None, "unavailable", None),
    ):
        current = json.loads(population_stats(population, parent).to_json())["current_parent"]
        assert (current["score_source"], current["score"]) == (source, score)
        assert current["gap_to_retained_best"] == (None if score is None else 1.0 - score)


def test_ties_of_the_best_go_to_the_smaller_id() -> None:
    members = [Member(name, 1.0, i) for i, name in enumerate("cab")]
    payload = json.loads(population_stats(members, None).to_json())
    assert [row["id"] for row in payload["top_programs"]] == ["a", "b", "c"]


def test_scores_that_are_not_finite_are_missing() -> None:
    assert member(program(score=math.nan)).score is None
    assert member(program(score=-math.inf)).score is None


def test_corrections_leave_copies_out() -> None:
    x0 = program("x0", 0.1)
    best = program("best", 0.9, parent_id="x0", iteration=4, label="diverge")
    migrant = program("m", 0.9, parent_id="best", copy_of="best")
    child = program("child", 0.95, parent_id="m", iteration=5, context_ids=("m", "x0"))
    members, parent, corrections = corrected(
        [x0, best, migrant, child], migrant, 8, Draws(40, 10, {4: 8, 5: 1})
    )
    assert [m.id for m in members] == ["x0", "best", "child"]
    assert members[2].parent_id == "best"
    assert members[2].context_ids == ("best", "x0")
    assert parent.id == "best"
    payload = json.loads(population_stats(members, parent, corrections=corrections).to_json())
    assert payload["copies_left_out"] == 1
    assert payload["candidates_per_iteration"] == 8
    assert (payload["children_drawn"], payload["invalid_children"]) == (40, 10)
    assert payload["invalid_children_rate"] == 0.25
    assert [row["candidates"] for row in payload["recent_trace"]] == [None, 8, 1]
    assert payload["labels"] == {"diverge": 1}
    assert payload["recent_trace"][-1]["outcome"] == "improved"
