"""Every scaffold with every retriever, one and three candidates, both presets: 80 whole runs.

Runs are offline with a scripted model, evaluated in this process, twelve iterations, EvoX with a
window of six. Each replays to the same end and its trace keeps the schema.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from fake_task import LocalEvaluator, LocalSearch, config
from scaffolds.scaffold_cases import Strategist, needs

from method.planning import plan
from method.runs import Clients, replay, run
from method.trace import check_trace, read_trace

OPTIONS: dict[str, dict[str, Any]] = {
    "openevolve-native": {},
    "openevolve-package": {"native_params": True},
    "topk": {},
    "evox": {"window": 6},
}
PACKAGES = {"openevolve-package": ("openevolve", "0.4."), "evox": ("skydiscover", "0.1.0")}
RETRIEVERS = ("none", "oracle", "joint", "sequential", "evoduet")
VARIANTS = tuple(itertools.product((1, 3), ("official", "robust")))
T = 12


def cases() -> list[Any]:
    """All 80; twelve of them, each scaffold with three retrievers, are not marked slow."""
    found = []
    for place, (scaffold, retriever) in enumerate(itertools.product(OPTIONS, RETRIEVERS)):
        for number, (candidates, rules) in enumerate(VARIANTS):
            quick = number == place % 4 and (place + place // 5) % 5 < 3
            marks = [] if quick else [pytest.mark.slow]
            if scaffold in PACKAGES:
                marks.append(needs(*PACKAGES[scaffold]))
            name = f"{scaffold}-{retriever}-{candidates}-{rules}"
            found.append(pytest.param(scaffold, retriever, candidates, rules, id=name, marks=marks))
    return found


def test_the_matrix_is_whole() -> None:
    marked = [{mark.name for mark in case.marks} for case in cases()]
    assert len(marked) == 80
    assert sum("slow" not in marks for marks in marked) == 12
    quick = [case.values for case in cases() if all(mark.name != "slow" for mark in case.marks)]
    for place, wanted in enumerate((OPTIONS, RETRIEVERS, (1, 3), ("official", "robust"))):
        assert {values[place] for values in quick} == set(wanted)


@pytest.mark.parametrize(("scaffold", "retriever", "candidates", "rules"), cases())
def test_runs(tmp_path: Path, scaffold: str, retriever: str, candidates: int, rules: str) -> None:
    folder, options = tmp_path / "run", OPTIONS[scaffold]
    given = config(
        method=f"{scaffold}+{retriever}",
        scaffold_options=options,
        rules=rules,
        candidates=candidates,
        iterations=T,
    )
    local = Clients(Strategist(), LocalSearch(), LocalEvaluator())
    result = run(given, folder, clients=local)
    assert result.status == "finished"
    assert result.summary["done"] == T
    assert replay(folder).summary == result.summary
    records = read_trace(folder)
    check_trace(records)
    assert [record["t"] for record in records] == list(range(1, T + 1))
    for record in records:
        assert (record["gate"] is not None) == (retriever == "evoduet")
        without_documents = retriever == "evoduet" and record["gate"]["executed"] in (None, "no-op")
        assert record["n_planned"] == (1 if without_documents else candidates)
        assert len(record["candidates"]) == record["n_planned"] * record["attempts"]
        assert (record["child"] is None) == (record["selected_slot"] is None)
        assert record["child"] is None or record["child"]["admitted"]
        assert bool(record["prompt_docs"]) == bool(record["documents"])
        assert record["documents"] or retriever != "oracle"
    calls = {name: usage["calls"] for name, usage in result.summary["usage"]["by_purpose"].items()}
    own = calls.get("guide", 0) + calls.get("strategy", 0)
    assert (own > 0) == (scaffold == "evox")
    bound = plan(given)
    assert sum(calls.values()) <= bound.model_calls
    assert sum(len(record["candidates"]) for record in records) < bound.evaluations
