"""The call budget of methods.md 1.9, read from the traces of runs with a model of any behaviour."""

from __future__ import annotations

import json
import os
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from fake_task import LocalEvaluator, LocalSearch, config
from hypothesis import given, settings
from hypothesis import strategies as st
from steady_traces import steady_trace

from method.protocols import Completion, Request, SearchResponse
from method.runs import Clients, replay, resume, run
from method.trace import check_trace, read_trace

GATE = {"knowledge_state_analysis": "k", "reasoning": "r", "search_document_ids": ["doc_000001"]}
GARBAGE = [
    "", "{", "[1]", "no-op", "null", '{"query": "a", "query": "b"}', '{"query": NaN}',
    '{"decision": "look-up", "search_document_ids": [1]}', "<think>hm", "```json\n{}\n```",
    '{"document_predictions": [{"evidence_ref": "evidence_1", "estimated_child_score": "7"}]}',
    "\ud800", "```python\n```", "x" * 5000,
]  # fmt: skip


class Moody:
    """Answers each kind of call well, badly or not at all, as its moods and a seed have it."""

    name = "moody"

    def __init__(self, seed: int, good: float, failing: float) -> None:
        self._draw = random.Random(seed)
        self._good, self._failing = good, failing

    async def sample(self, request: Request) -> list[Completion]:
        return [self._one(request) for _ in request.slots]

    def _one(self, request: Request) -> Completion:
        draw = self._draw
        if draw.random() < self._failing:
            return Completion("", error="no", error_kind="refused")
        if draw.random() >= self._good:
            return Completion(draw.choice(GARBAGE))
        if request.purpose == "joint" and request.tools and draw.random() < 0.7:
            arguments = draw.choice(['{"query": "q1"}', "{", '{"query": "q", "max_results": 99}'])
            call = {"id": "c", "function": {"name": "tavily", "arguments": arguments}}
            return Completion("", tool_calls=(call,) * draw.randint(1, 2))
        return Completion(self._text(request.purpose))

    def _text(self, purpose: str) -> str:
        draw = self._draw
        if purpose == "gate":
            return json.dumps({**GATE, "decision": draw.choice(["no-op", "look-up", "retrieve"])})
        if purpose == "query":
            return json.dumps({"query": f"numbers {draw.randint(0, 3)}"})
        if purpose == "scoring":
            rows = [
                {"evidence_ref": f"evidence_{n}", "estimated_child_score": draw.random()}
                for n in draw.sample(range(1, 9), draw.randint(0, 8))
            ]
            return json.dumps({"document_predictions": rows, "knowledge_state_analysis": "more"})
        if purpose == "research":
            plan = [{"question": "q", "query": f"q{draw.randint(0, 5)}"} for _ in range(4)]
            review = {"ready": False, "critique": "c", "queries": ["q1", "q2", "q3"]}
            return json.dumps({"questions": plan, **review})
        return f"```python\nVALUE = {draw.uniform(-0.5, 1):.4f}\n```"


class Patchy(LocalSearch):
    """Fails, finds nothing or finds three pages."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._draw = random.Random(seed)

    async def search(self, query: str, max_results: int, depth: str) -> SearchResponse:
        mood = self._draw.random()
        if mood < 0.2:
            return SearchResponse(error="400", error_kind="refused")
        return SearchResponse() if mood < 0.4 else await super().search(query, max_results, depth)


@pytest.fixture(autouse=True)
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda fd: None)


def calls(record: Mapping[str, Any]) -> Counter[str]:
    return Counter({name: usage["calls"] for name, usage in record["usage"]["by_purpose"].items()})


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    good=st.sampled_from([0.0, 0.3, 0.8, 1.0]),
    failing=st.sampled_from([0.0, 0.1, 0.4]),
    gate=st.sampled_from(["knowledge", "knowledge", "random", "stagnation", "always", "never"]),
    rules=st.sampled_from(["official", "robust"]),
    rounds=st.integers(1, 3),
    queries=st.integers(1, 3),
    candidates=st.integers(1, 3),
)
def test_evoduet(
    seed: int,
    good: float,
    failing: float,
    gate: str,
    rules: str,
    rounds: int,
    queries: int,
    candidates: int,
) -> None:
    for record in traced(
        seed, good, failing, method="topk+evoduet", gate=gate, rules=rules, rounds=rounds,
        queries=queries, candidates=candidates,
    ):  # fmt: skip
        made = calls(record)
        drawn = made.pop("generation")
        decision = record["gate"]["executed"]
        asked = int(gate == "knowledge")
        assert made["gate"] == asked
        if decision == "retrieve":
            assert made.total() <= rounds * queries + rounds + 2
            assert record["search_usage"]["requests"] <= rounds * queries
            assert made["scoring"] <= rounds
            assert len(record["documents"]) <= 3
        else:
            assert made.total() == asked
            assert record["search_usage"]["requests"] == 0
            assert record["rounds"] == []
        n = candidates if decision in ("look-up", "retrieve") else 1
        check_candidates(record, n, drawn)
        if decision in (None, "no-op"):
            assert (record["documents"], record["prompt_docs"]) == ([], [])


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    good=st.sampled_from([0.3, 1.0]),
    method=st.sampled_from(["none", "oracle", "joint", "sequential"]),
    rules=st.sampled_from(["official", "robust"]),
    candidates=st.integers(1, 3),
)
def test_others(seed: int, good: float, method: str, rules: str, candidates: int) -> None:
    for record in traced(seed, good, 0.1, method=method, rules=rules, candidates=candidates):
        made, requests = calls(record), record["search_usage"]["requests"]
        assert record["gate"] is None
        assert made["research"] <= (12 if method == "sequential" else 0)
        assert requests <= {"sequential": 6, "joint": 6 * len(record["candidates"])}.get(method, 0)
        if method == "joint":
            assert made["joint"] <= 4 * len(record["candidates"])
            assert made.keys() == {"joint"}
            drawn = len(record["candidates"])
        else:
            drawn = made["generation"]
        check_candidates(record, candidates, drawn, 6 if method == "sequential" else 3)


def check_candidates(record: Mapping[str, Any], n: int, drawn: int, attempts: int = 3) -> None:
    """At most 3 N_t generations and evaluations; the best valid one of the last attempt is kept."""
    assert record["n_planned"] == n
    assert record["attempts"] <= attempts
    assert len(record["candidates"]) == drawn == n * record["attempts"]
    evaluated = [c for c in record["candidates"] if c["eval"] is not None]
    assert all(c["parse"] == "ok" for c in evaluated)
    last = [c for c in record["candidates"] if c["attempt"] == record["attempts"]]
    scores = [
        c["eval"]["search_score"] if c["eval"] and c["eval"]["status"] == "ok" else None
        for c in last
    ]
    valid = [score for score in scores if score is not None]
    if not valid:
        assert record["selected_slot"] is None
        assert record["child"] is None
    else:
        assert record["selected_slot"] == scores.index(max(valid))
        assert record["child"]["search_score"] == max(valid)


def traced(seed: int, good: float, failing: float, **options: Any) -> Iterator[dict[str, Any]]:
    """The records of a run of four iterations, which replays to the same trace."""
    with tempfile.TemporaryDirectory() as folder:
        given_clients = Clients(Moody(seed, good, failing), Patchy(seed), LocalEvaluator())
        run(config(iterations=4, seed=seed % 7, **options), Path(folder), clients=given_clients)
        records = read_trace(Path(folder))
        check_trace(records)
        before = steady_trace(Path(folder))
        replay(Path(folder))
        resume(Path(folder), clients=given_clients)
        assert steady_trace(Path(folder)) == before
        yield from records
