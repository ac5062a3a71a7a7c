"""Structured answers beyond the parity vectors: hostile text, switches one by one."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from method.evidence import judge
from method.parsing.json_answers import read_gate, read_query, read_scoring
from method.parsing.json_objects import SIZE_LIMIT, chain_object, strict_object
from method.parsing.latex import guard_latex
from method.rules import Rules

OFFICIAL, ROBUST = Rules.preset("official"), Rules.preset("robust")

GATE = '{"decision": "retrieve", "knowledge_state_analysis": "k"}'
TAGS = ("```json\n", "```", "<think>", "</think>")
pieces = st.sampled_from(
    [*'{}[]"\\\né', '{"query": "q"}', GATE, *TAGS, "\\u12", "NaN", "\ud800", "\\ud800"]
)


@given(st.lists(pieces, max_size=12).map("".join))
def test_no_answer_raises(text: str) -> None:
    for rules in (OFFICIAL, ROBUST):
        gate, query, scoring = (
            read_gate(text, rules),
            read_query(text, rules),
            read_scoring(text, rules),
        )
        assert gate.answer is not None
        assert (gate.answer.decision is None) == bool(gate.error)
        assert (query.answer is None) == bool(query.error)
        assert (scoring.answer is None) == bool(scoring.error)
        judge(scoring, ["evidence_1"], {}, rules)


@pytest.mark.parametrize(
    "text",
    [
        "{" * 100_000,
        '{"a":' * 50_000,
        "[" * 100_000,
        '{"query": "' + 'a"b' * 60_000,
        "```json\n" * 20_000,
        "<think>" * 20_000,
        '"' * 50_000 + "{",
        "<knowledge_state_analysis>" * 20_000,
        "```" + " \n" * 100_000,
    ],
    ids=["braces", "objects", "brackets", "quotes", "fences", "tags", "strings", "open", "blanks"],
)
def test_hostile_answers_are_read_in_time(text: str) -> None:
    started = time.process_time()
    for rules in (OFFICIAL, ROBUST):
        read_gate(text, rules)
        read_query(text, rules)
    assert time.process_time() - started < 20


def test_size_limit() -> None:
    text = json.dumps({"query": "q", "rationale": "ü" * (SIZE_LIMIT // 2)}, ensure_ascii=False)
    assert "1 MB" in strict_object(text).error
    assert "1 MB" in chain_object(text, {"query"}).error


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ('<think>{"query": "no"} {"query": "yes"}', None),
        ('{"query": "the </think> tag"}', "the </think> tag"),
        ('<think>a</think>{"query": "draft"}</think>{"query": "final"}', "final"),
        ('Answer: <think>{"query": "q"}', "q"),
        ('Set {a, b}: {"query": "q"}', "q"),
        ('```json\n{"query": "first"}\n```\n```json\n{"query": "last"}\n```', "last"),
        ('```\n{"query": "untagged"}\n```', "untagged"),
        ('```json\n{"example": 1}\n```\n{"query": "q"}', "q"),
        ('{"query": "a "quoted" word"}', 'a "quoted" word'),
        ('{"query": "a", "query": "b"}', "b"),
        ('{"query": 7}', None),
        ('{"query": "  "}', None),
        ('{"query": "<one concise web-search query>"}', None),
        ("{}", None),
        ('```json {"query": "one line"} ```', "one line"),
    ],
)
def test_chain(text: str, query: str | None) -> None:
    read = read_query(text, ROBUST)
    assert (read.answer and read.answer.query) == query


def test_chain_flags() -> None:
    assert read_query('{"query": "a", "query": "b"}', ROBUST).flags == ("duplicate_keys",)
    assert read_query('{"query": "a",}', ROBUST).flags == ("repaired",)
    assert read_query('{"query": "a"}', ROBUST).flags == ()


@given(st.text())
def test_the_guard_leaves_json_without_latex_alone(text: str) -> None:
    written = json.dumps({"query": text})
    decoded = json.loads(guard_latex(written))["query"]
    known = {"\b", "\f", "\n", "\r", "\t"}
    if not known & set(text):
        assert decoded == text


def test_gate_knowledge_that_is_no_text() -> None:
    text = json.dumps({"decision": "retrieve", "knowledge_state_analysis": {"known": ["a"]}})
    robust = read_gate(text, ROBUST)
    assert robust.answer is not None
    assert robust.answer.knowledge_state_analysis == '{"known": ["a"]}'
    assert robust.flags == ("knowledge_serialised",)
    official = read_gate(text, OFFICIAL)
    assert official.answer is not None
    assert official.answer.knowledge_state_analysis == ""
    assert official.answer.decision == "retrieve"


@pytest.mark.parametrize(
    ("text", "decision", "knowledge"),
    [
        (
            "<KNOWLEDGE_STATE_ANALYSIS>r</Knowledge_State_Analysis>\n"
            '<gate decision>\n```json\n{"decision": "no_op"}\n```\n</gate decision>',
            "no-op",
            "r",
        ),
        (
            "<knowledge_state_analysis>r</knowledge_state_analysis>"
            '<gate_decision>{"decision": "retrieve"}</gate_decision> more',
            None,
            "r",
        ),
        ("<knowledge_state_analysis>r</knowledge_state_analysis>", None, "r"),
        (
            "<knowledge_state_analysis> tag </knowledge_state_analysis><gate_decision>"
            '{"decision": "retrieve", "knowledge_state_analysis": "json"}</gate_decision>',
            "retrieve",
            "tag",
        ),
        ('```JSON\n{"decision": "\'Retrieve\'"}\n```', "retrieve", ""),
        ('```python\n{"decision": "retrieve"}\n```', None, ""),
        ('{"decision": ["retrieve"], "knowledge_state_analysis": "k"}', None, "k"),
        ('{"decision": "retrieve", "w": NaN}', "retrieve", ""),
    ],
)
def test_official_gate_forms(text: str, decision: str | None, knowledge: str) -> None:
    answer = read_gate(text, OFFICIAL).answer
    assert answer is not None
    assert (answer.decision, answer.knowledge_state_analysis) == (decision, knowledge)


def test_the_tag_of_a_scoring_fence_is_lower_case() -> None:
    body = '{"document_predictions": [], "knowledge_state_analysis": "k"}'
    assert read_scoring(f"```json\n{body}\n```", OFFICIAL).answer is not None
    assert read_scoring(f"```\n{body}\n```", OFFICIAL).answer is not None
    assert read_scoring(f"```JSON\n{body}\n```", OFFICIAL).answer is None
    query = '```JSON\n{"query": "q"}\n```'
    assert read_query(query, OFFICIAL).answer is not None


def test_robust_scores() -> None:
    rows = [("a", "0.5"), ("b", "NaN"), ("c", "1e3"), ("d", "1_0"), ("e", " 2 "), ("f", "1e999")]
    text = json.dumps(
        {
            "document_predictions": [
                {"evidence_ref": ref, "estimated_child_score": score} for ref, score in rows
            ],
            "knowledge_state_analysis": "k",
        }
    )
    judged = judge(read_scoring(text, ROBUST), list("abcdef"), {}, ROBUST)
    assert judged.scores == {"a": 0.5, "c": 1000.0, "e": 2.0}
    assert judged.unscored == ("b", "d", "f")
    assert judged.status == "partial"
    assert "numeric_strings" in judged.flags


def test_robust_example_text_is_no_knowledge() -> None:
    text = json.dumps(
        {
            "document_predictions": [{"evidence_ref": "a", "estimated_child_score": 1}],
            "knowledge_state_analysis": "<what is now known and what still needs to be learned>",
        }
    )
    robust = judge(read_scoring(text, ROBUST), ["a"], {}, ROBUST)
    assert (robust.status, robust.knowledge, robust.scores) == ("partial", None, {"a": 1.0})
    assert judge(read_scoring(text, OFFICIAL), ["a"], {}, OFFICIAL).status == "scored"
