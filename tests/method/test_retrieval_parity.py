"""Parity vectors of retrieval: inner loop, identity, gates by rule, statistics, rendering."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from method_vectors import cases, official
from scripted_run import ScriptedRun, ScriptedSettings, program, result, selection

from method.exposure import Ledger
from method.gates import StagnationCounter, draws_retrieve, stagnation_window
from method.identity import Index, keys_of
from method.inner import Found, QueryLoop
from method.protocols import Completion, GivenDocument, Request, SearchResult, Snapshot
from method.rendering import helpful_knowledge
from method.rules import Rules
from method.stats import Member, population_stats

OFFICIAL, ROBUST = Rules.preset("official"), Rules.preset("robust")


class Script:
    """Model and search answers of one inner loop, round by round."""

    def __init__(self, rounds: list[dict[str, Any]]) -> None:
        self._rounds = rounds
        self._round = -1
        self._queries: Iterator[str] = iter(())

    def answer(self, request: Request, slot: int) -> str | Completion:
        if request.purpose == "query":
            if slot == 0:
                self._round += 1
            searches = self._rounds[self._round]["searches"]
            if slot >= len(searches):
                return "not a query"
            return json.dumps({"query": searches[slot]["query"]})
        answer = self._rounds[self._round]["answer"]
        return Completion("", error="no answer") if answer is None else answer

    def find(self, query: str) -> list[SearchResult]:
        searches = self._rounds[self._round]["searches"]
        (found,) = (search["results"] for search in searches if search["query"] == query)
        return [
            SearchResult(r["url"], r["id"], r["title"], r["content"], r["raw"], None, rank)
            for rank, r in enumerate(found, start=1)
        ]


def run_loop(
    rounds: list[dict[str, Any]], rules: Rules, retain: int, knowledge: str, score: float = 0.0
) -> Found:
    script = Script(rounds)
    settings = ScriptedSettings(
        rules=rules,
        rounds=len(rounds),
        queries=max(len(r["searches"]) for r in rounds),
        retain=retain,
    )
    run = ScriptedRun(script.answer, script.find, settings)
    chosen = selection(program(score=score))
    loop = QueryLoop(chosen, Snapshot("(empty)"), "", knowledge, run, Ledger())
    found = asyncio.run(loop.find())
    assert [data for name, data in run.notes if name == "round"] == list(found.rounds)
    return found


@pytest.mark.parametrize("case", official("pool.json"))
def test_official_loop(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    found = run_loop(given["rounds"], OFFICIAL, given["D"], given["K0"])
    refs = {
        entry["doc_id"]: entry["ref"]
        for trace in found.rounds
        for search in trace["searches"]
        for entry in search["results"]
    }
    rounds = [
        {
            "candidates": [refs[name] for name in trace["pool"]],
            "new": [refs[name] for name in trace["unscored"]],
            "status": trace["scoring_status"],
            "retained": [refs[entry["doc_id"]] for entry in trace["retained"]],
            "K": trace["knowledge_after"],
        }
        for trace in found.rounds
    ]
    assert rounds == expected["rounds"]
    final = [{"ref": d.ref, "url": d.url, "predicted": d.predicted} for d in found.documents]
    assert final == expected["final"]


@pytest.mark.parametrize("case", cases("inner_loop.json"))
def test_robust_loop(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    names = list(dict.fromkeys(name for r in given["rounds"] for name in r["results"]))
    refs = {name: f"evidence_{number}" for number, name in enumerate(names, start=1)}
    rounds = [
        {
            "searches": [
                {"query": f"query {number}", "results": [hit(name) for name in r["results"]]}
            ],
            "answer": renamed(r["answer"], refs),
        }
        for number, r in enumerate(given["rounds"])
    ]
    found = run_loop(rounds, ROBUST, given["D"], given["K0"], given["parent_score"])
    name_of = {
        entry["doc_id"]: entry["url"].rpartition("/")[2]
        for trace in found.rounds
        for search in trace["searches"]
        for entry in search["results"]
    }
    traces = [
        {
            "pool": [name_of[doc] for doc in trace["pool"]],
            "unscored": [name_of[doc] for doc in trace["unscored"]],
            "scoring": trace["scoring_status"],
            "retained": [name_of[entry["doc_id"]] for entry in trace["retained"]],
            "K": trace["knowledge_after"],
        }
        for trace in found.rounds
    ]
    assert traces == expected["rounds"]
    final = {document.url.rpartition("/")[2]: document.predicted for document in found.documents}
    assert list(final) == expected["final"]
    assert final == {name: expected["scores"][name] for name in expected["final"]}
    promising = [
        n for n, score in final.items() if score is not None and score > given["parent_score"]
    ]
    assert promising == expected["promising"]


def hit(name: str) -> dict[str, Any]:
    page = result(name)
    return {
        "url": page.url,
        "id": page.provider_id,
        "title": page.title,
        "content": page.snippet,
        "raw": None,
    }


def renamed(answer: dict[str, Any] | None, refs: dict[str, str]) -> str | None:
    if answer is None:
        return None
    rows = [
        {**row, "evidence_ref": refs.get(row["evidence_ref"], row["evidence_ref"])}
        for row in answer["document_predictions"]
    ]
    return json.dumps({**answer, "document_predictions": rows})


@pytest.mark.parametrize("case", cases("dedup.json"))
def test_any_key(case: dict[str, Any]) -> None:
    index: Index[int] = Index()
    kept = []
    for number, page in enumerate(case["input"]):
        document = GivenDocument(
            page["title"], page.get("url", ""), page.get("provider_id", ""), page["body"], None
        )
        keys = keys_of(document, "any_key")
        if index.find(keys) is None:
            index.keep(keys, number)
            kept.append(number)
    assert kept == case["expected"]["kept_indices"]


@pytest.mark.parametrize("case", official("stagnation.json"))
def test_stagnation(case: dict[str, Any]) -> None:
    given = case["input"]
    counter = StagnationCounter(
        given["switch_interval"] or stagnation_window(given["max_iterations"])
    )
    steps = [
        {
            "decision": "retrieve" if counter.observe(best) else "no-op",
            "counter_after": counter.count,
        }
        for best in given["best_scores"]
    ]
    assert {"window": counter.window, "steps": steps} == case["expected"]


@pytest.mark.parametrize("case", official("random_gate.json"))
def test_random_gate(case: dict[str, Any]) -> None:
    given = case["input"]
    drawn = [draws_retrieve(given["seed"], t, given["p"]) for t in given["iterations"]]
    assert ["retrieve" if chosen else "no-op" for chosen in drawn] == case["expected"]


SHORT = {
    "scored": "scored_population_size",
    "missing": "missing_score_count",
    "distribution": "score_distribution",
    "unique_scores": "unique_score_count",
}


@pytest.mark.parametrize("case", official("population.json"))
def test_population(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    members = [
        Member(p["id"], p["score"], p["iteration"], p["parent_id"], tuple(p["context_ids"]))
        for p in given["programs"]
    ]
    parent = next((m for m in members if m.id == given["parent_id"]), None)
    stats = population_stats(members, parent or Member(given["parent_id"], None), given["recent_k"])
    payload = json.loads(stats.to_json())
    found = {short: payload[long] for short, long in SHORT.items()}
    concentration = payload["selection_concentration"]
    current = payload["current_parent"]
    found |= {
        "population_size": payload["population_size"],
        "top": [row["id"] for row in payload["top_programs"]],
        "parent": {
            "id": current["id"],
            "score": current["score"],
            "gap_to_best": current["gap_to_retained_best"],
        },
        "trace": [
            {key: row[key] for key in expected["trace"][0]} for row in payload["recent_trace"]
        ],
        "parent_concentration": concentration["parent"],
        "context_concentration": concentration["context"],
    }
    assert found.keys() == expected.keys()
    assert close(found, expected)


def close(found: Any, expected: Any) -> bool:
    """Equal, floats to 1e-12 relative."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(close(found[k], expected[k]) for k in found)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(close, found, expected))
    if isinstance(expected, float) and isinstance(found, float | int):
        return math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-15)
    return bool(found == expected)


@pytest.mark.parametrize("case", official("helpful_knowledge.json"))
def test_helpful_knowledge(case: dict[str, Any]) -> None:
    given = case["input"]
    documents = [
        GivenDocument(d["title"], d["url"], d.get("id", ""), d["body"], None)
        for d in given["documents"]
    ]
    assert helpful_knowledge(documents, given["limit"]) == case["expected"]
