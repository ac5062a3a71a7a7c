"""Parity vectors of what models answer: gate, query, scoring, candidates (both rule presets)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from method_vectors import cases, official

from method.evidence import judge, retain
from method.exposure import query_key
from method.gates import candidates_of, gate_result
from method.parsing.candidates import parse_candidate
from method.parsing.json_answers import read_gate, read_query, read_scoring
from method.protocols import GivenDocument, Snapshot
from method.rules import Rules

OFFICIAL, ROBUST = Rules.preset("official"), Rules.preset("robust")


def snapshot_of(ids: list[str]) -> Snapshot:
    documents = {
        name: GivenDocument("t", f"https://ex.org/{name}", "", "body", None, db_id=name)
        for name in ids
    }
    return Snapshot("", tuple(ids), documents)


@pytest.mark.parametrize("case", official("gate.json"))
def test_official_gate(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    read = read_gate(given["answer_text"], OFFICIAL)
    result = gate_result(read, given["answer_text"], snapshot_of([]), OFFICIAL)
    assert {
        "decision": result.decision,
        "ids": list(result.requested_ids),
        "knowledge": result.knowledge,
        "n_candidates": candidates_of(result.decision, given["N"]),
        "malformed": result.malformed,
    } == expected


@pytest.mark.parametrize("case", cases("gate.json"))
def test_robust_gate(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    answer = given["answer"]
    text = "no JSON here" if answer is None else json.dumps(answer)
    result = gate_result(read_gate(text, ROBUST), text, snapshot_of(given["visible_ids"]), ROBUST)
    found = {
        "decision": result.decision,
        "ids": list(result.resolved_ids),
        "n_candidates": candidates_of(result.decision, given["N"]),
        "unresolved_ids": list(result.unresolved_ids),
    }
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize("case", official("query.json"))
def test_official_query(case: dict[str, Any]) -> None:
    read = read_query(case["input"]["answer_text"], OFFICIAL)
    if read.answer is None:
        assert case["expected"] == {"valid": False}
        return
    answer = read.answer
    assert case["expected"] == {
        "valid": True,
        "text": answer.query,
        "keywords": None if answer.keywords is None else list(answer.keywords),
        "resources": None if answer.resources is None else list(answer.resources),
        "intent": answer.query_intent,
    }


@pytest.mark.parametrize("case", cases("json_answers.json"))
def test_parser_chain(case: dict[str, Any]) -> None:
    read = read_query(case["input"]["text"], ROBUST)
    found = {"query": read.answer and read.answer.query, "valid": read.answer is not None}
    assert found == case["expected"]


@pytest.mark.parametrize("case", cases("query_batch.json"))
def test_query_batch(case: dict[str, Any]) -> None:
    first: dict[str, int] = {}
    found = []
    for slot, query in enumerate(case["input"]["queries"]):
        read = read_query(json.dumps({"query": query}), ROBUST)
        if read.answer is None:
            found.append({"slot": slot, "valid": False})
            continue
        same = first.setdefault(query_key(read.answer.query), slot)
        entry = {"slot": slot, "valid": True, "executed": same == slot}
        found.append(entry if same == slot else {**entry, "duplicate_of": same})
    assert found == case["expected"]


@pytest.mark.parametrize("case", official("scoring.json"))
def test_official_scoring(case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    read = read_scoring(given["answer_text"], OFFICIAL)
    judged = judge(read, given["available"], given["previous"], OFFICIAL)
    if expected["status"] == "failed":
        assert judged.status == "failed"
        return
    scores = {**judged.scores, **given["previous"]}
    assert {
        "status": judged.status,
        "new_scores": judged.scores,
        "selected": retain(given["available"], scores, given["D"]),
        "dropped": list(judged.dropped),
        "unscored": list(judged.unscored),
        "knowledge_committed": judged.knowledge is not None,
    } == expected


@pytest.mark.parametrize("case", cases("diffs.json"))
def test_diffs(case: dict[str, Any]) -> None:
    given, expected = case["input"], dict(case["expected"])
    parsed = parse_candidate(given["response"], given["source"], "python", "diff", 10_000)
    found = {
        "parse": parsed.status,
        "applied": parsed.blocks.count("applied"),
        "blocks": len(parsed.blocks),
        "code": parsed.code,
    }
    assert expected.pop("reason", "") in parsed.error
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize("case", cases("full_rewrite.json"))
def test_full_rewrites(case: dict[str, Any]) -> None:
    given = case["input"]
    parsed = parse_candidate(given["response"], "PARENT = 0", given["language"], "full", 10_000)
    assert {"code": parsed.code, "parse": parsed.status} == case["expected"]
