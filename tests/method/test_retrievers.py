"""Retrievers compared: what each gives, asks and records; no-op and empty retrieves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_run import ScriptedRun, ScriptedSettings, program, result, selection

from benchmark.oracle import OracleDocument, Source
from method.gates import make_gate
from method.protocols import (
    Completion,
    GivenDocument,
    Request,
    Retrieval,
    Retriever,
    SearchResponse,
    Snapshot,
)
from method.rendering import given_text
from method.retrievers.evoduet import EvoDuet
from method.retrievers.joint import TOOL, Joint, read_call
from method.retrievers.none import NoRetriever
from method.retrievers.oracle import Oracle, given_documents
from method.retrievers.sequential import Sequential
from method.rules import Rules
from method.searchdb import SearchDatabase

OFFICIAL, ROBUST = Rules.preset("official"), Rules.preset("robust")


def retrieve(retriever: Retriever, run: ScriptedRun, snapshot: Snapshot | None = None) -> Retrieval:
    return asyncio.run(retriever.retrieve(selection(), snapshot or Snapshot("(db)"), run))


def prompt_of(retrieval: Retrieval) -> str:
    return selection().build_prompt(given_text(retrieval), [])


def deciding(decision: str, **more: Any) -> Any:
    gate = {"knowledge_state_analysis": "k", "decision": decision, "reasoning": "", **more}

    def answer(request: Request, slot: int) -> str:
        return json.dumps(gate) if request.purpose == "gate" else "{}"

    return answer


# --- none and EvoDuet --------------------------------------------------------------------------


def test_none() -> None:
    run = ScriptedRun(lambda request, slot: "")
    retrieval = retrieve(NoRetriever(), run)
    assert (retrieval.decision, retrieval.n_candidates, retrieval.documents) == (None, 8, ())
    assert run.calls.total() == 0


@pytest.mark.parametrize("decision", ["no-op", "nonsense"])
def test_no_op_prompts_hold_no_document(decision: str) -> None:
    run = ScriptedRun(deciding(decision), lambda query: [result("secret", body="secret text")])
    retrieval = retrieve(EvoDuet(make_gate("knowledge")), run)
    assert retrieval.n_candidates == 1
    assert prompt_of(retrieval) == selection().build_prompt("", [])
    assert "Helpful Knowledge" not in prompt_of(retrieval)


def test_retrieve_without_documents_draws_all_candidates() -> None:
    for response in (SearchResponse(error="timeout"), SearchResponse()):
        run = ScriptedRun(
            lambda request, slot: json.dumps({"query": "q", "decision": "retrieve"}),
            {"q": response}.__getitem__,
            programs=[program()],
        )
        retrieval = retrieve(EvoDuet(make_gate("knowledge")), run)
        assert (retrieval.decision, retrieval.documents) == ("retrieve", ())
        assert retrieval.n_candidates == 8
        assert retrieval.executed_queries == ((1, "q"), (2, "q"), (3, "q"))
        assert prompt_of(retrieval) == selection().build_prompt("", [])


def test_look_up_gives_stored_bodies_in_the_gate_s_order() -> None:
    database = SearchDatabase(OFFICIAL)
    pages = tuple(
        GivenDocument(f"T{n}", f"https://ex.org/{n}", "", f"body {n}", None) for n in (1, 2)
    )
    database.add(1, Retrieval("retrieve", pages), program())
    run = ScriptedRun(deciding("look-up", search_document_ids=["doc_000002", "doc_000001"]))
    retrieval = retrieve(EvoDuet(make_gate("knowledge")), run, database.snapshot())
    assert [d.db_id for d in retrieval.documents] == ["doc_000002", "doc_000001"]
    assert retrieval.n_candidates == 8
    prompt = prompt_of(retrieval)
    assert prompt.index("body 2") < prompt.index("body 1") < prompt.index("# Task")
    assert run.notes == [("gate", retrieval.gate)]


def test_population_analysis_and_knowledge_of_gates_without_a_model() -> None:
    def answer(request: Request, slot: int) -> str:
        text = str(request.messages[-1]["content"])
        if request.purpose == "analysis":
            if text.startswith("Population Statistics:\n\n{"):
                assert "NUMBER-BACKED" in str(request.messages[0]["content"])
                return "the observations"
            assert "Analysis]\nthe observations\n" in text
            return "the knowledge"
        assert "\nthe observations\n" in text
        assert "\nthe knowledge\n" in text
        return "no query"

    run = ScriptedRun(answer, programs=[program(score=0.5)])
    retrieval = retrieve(EvoDuet(make_gate("always")), run)
    assert retrieval.analysis is not None
    assert retrieval.analysis["text"] == "the observations"
    assert retrieval.knowledge == "the knowledge"
    assert run.calls["query"] == 3


def test_analysis_is_skipped_without_a_population_and_may_fail() -> None:
    run = ScriptedRun(lambda request, slot: "")
    assert retrieve(EvoDuet(make_gate("always")), run).analysis is None
    run = ScriptedRun(lambda request, slot: Completion("", error="down"), programs=[program()])
    retrieval = retrieve(EvoDuet(make_gate("always")), run)
    assert retrieval.errors == ("population analysis failed: down", "knowledge call failed: down")
    assert run.calls["query"] == 3


# --- oracle ------------------------------------------------------------------------------------


def test_oracle_gives_the_same_documents_every_time() -> None:
    source = Source("A page", None, None, "https://ex.org/page", None)
    documents = [
        OracleDocument("The answer", "direct", "solution", (source,), "Body.\n\n```json\n[1]\n```"),
        OracleDocument("More", "direct", "solution", (source,), "Another body."),
    ]
    oracle = Oracle(given_documents("toy", documents))
    run = ScriptedRun(lambda request, slot: "")
    first, second = (retrieve(oracle, run) for _ in range(2))
    assert first == second
    assert [document.title for document in first.documents] == ["The answer", "More"]
    assert {document.url for document in first.documents} == {"https://ex.org/page"}
    assert (first.decision, first.n_candidates) == (None, 8)
    assert "~~~json\n[1]\n~~~" in prompt_of(first)
    assert run.calls.total() == 0


# --- joint -------------------------------------------------------------------------------------


def tool_call(number: int, **arguments: Any) -> dict[str, Any]:
    function = {"name": "tavily", "arguments": json.dumps(arguments)}
    return {"id": f"call_{number}", "type": "function", "function": function}


def generate(joint: Joint, run: ScriptedRun, slots: tuple[int, ...] = (0,)) -> list[Any]:
    return asyncio.run(joint.generate(run, "system", "user", slots))


def test_joint_leaves_retrieval_to_the_generator() -> None:
    retrieval = retrieve(Joint(), ScriptedRun(lambda request, slot: ""))
    assert (retrieval.generator, retrieval.n_candidates) == ("tool_loop", 8)


def test_tool_loop_is_bounded() -> None:
    def answer(request: Request, slot: int) -> Completion:
        calls = (tool_call(1, query=f"q{slot}"), tool_call(2, query="other", max_results=2))
        return Completion("thinking", tool_calls=calls)

    run = ScriptedRun(answer, lambda query: [result("a", body="see [[/Observed Document]]")])
    samples = generate(Joint(), run, (0, 1))
    assert run.calls == {"joint": 8}
    assert [bool(request.tools) for request in run.requests] == [True] * 6 + [False] * 2
    assert {request.tool_choice for request in run.requests} == {"auto", None}
    assert len(run.searches) == 12
    assert run.searches[:2] == [
        ("a1:s0:r1:q0", "q0", 5, "basic"),
        ("a1:s0:r1:q1", "other", 2, "basic"),
    ]
    assert [sample.slot for sample in samples] == [0, 1]
    assert [entry["r"] for entry in samples[1].rounds] == [1, 2, 3]
    assert all(entry["scoring_status"] is None for entry in samples[1].rounds)
    last = run.requests[-1].messages
    assert [m["role"] for m in last[:5]] == ["system", "user", "assistant", "tool", "tool"]
    assert last[3]["tool_call_id"] == "call_1"
    (hit,) = json.loads(last[3]["content"])["results"]
    assert hit == {
        "title": "Title a",
        "url": "https://ex.org/a",
        "snippet": "see [[\u200b/Observed Document]]",
    }


def test_tool_loop_ends_with_the_answer() -> None:
    turns: dict[int, int] = {}

    def answer(request: Request, slot: int) -> Completion:
        turns[slot] = turns.get(slot, 0) + 1
        if turns[slot] <= slot:
            return Completion("", tool_calls=(tool_call(1, query="q"),))
        return Completion(f"program {slot}")

    run = ScriptedRun(answer, lambda query: SearchResponse(error="quota"))
    samples = generate(Joint(), run, (0, 1, 2))
    assert [sample.completion.text for sample in samples] == ["program 0", "program 1", "program 2"]
    assert [sample.flags for sample in samples] == [("no_search",), (), ()]
    assert json.loads(str(run.requests[-1].messages[-1]["content"])) == {"error": "quota"}
    assert [data["candidate_slot"] for _, data in run.notes] == [1, 2, 2]


def test_tool_use_can_be_forced_once() -> None:
    run = ScriptedRun(lambda request, slot: Completion("", tool_calls=(tool_call(1, query="q"),)))
    generate(Joint(force_first=True), run)
    assert [r.tool_choice for r in run.requests] == ["required", "auto", "auto", None]


def test_a_failed_call_ends_the_slot() -> None:
    run = ScriptedRun(lambda request, slot: Completion("", error="down"))
    (sample,) = generate(Joint(), run)
    assert sample.completion.error == "down"
    assert run.calls.total() == 1


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ({"id": "1", "function": {"name": "shell", "arguments": "{}"}}, "no tool"),
        ({"id": "1", "function": {"name": "tavily", "arguments": "{"}}, "not JSON"),
        ({"id": "1", "function": {"name": "tavily", "arguments": "[]"}}, "not an object"),
        ({"id": "1", "name": "tavily", "arguments": {"query": " "}}, "non-empty"),
        ({"id": "1", "name": "tavily", "arguments": {"query": "q", "max_results": 21}}, "0 to 20"),
        (
            {"id": "1", "name": "tavily", "arguments": {"query": "q", "max_results": True}},
            "0 to 20",
        ),
        ({"id": "1", "name": "tavily", "arguments": {"query": "q", "max_results": 0}}, ""),
    ],
)
def test_tool_calls_are_checked(call: Mapping[str, Any], error: str) -> None:
    read = read_call(call)
    assert error in read.error
    assert bool(read.error) == bool(error)


def test_bad_tool_calls_are_answered_with_an_error() -> None:
    def answer(request: Request, slot: int) -> Completion:
        if len(request.messages) > 2:
            return Completion("done")
        return Completion("", tool_calls=({"id": "x", "function": {"name": "shell"}},))

    run = ScriptedRun(answer)
    (sample,) = generate(Joint(), run)
    assert run.searches == []
    assert "error" in json.loads(str(run.requests[-1].messages[-1]["content"]))
    assert sample.flags == ("no_search",)


def test_the_tool_says_what_it_takes() -> None:
    parameters = TOOL["function"]["parameters"]
    assert parameters["required"] == ["query"]
    assert parameters["properties"]["max_results"]["maximum"] == 20


# --- sequential --------------------------------------------------------------------------------


def researcher(request: Request, slot: int) -> str:
    """Asks for as much as it may at every step."""
    text = str(request.messages[-1]["content"])
    if '"questions"' in text:
        rows = [{"question": f"why {n}", "query": f"plan {n}"} for n in range(9)]
        return json.dumps({"questions": rows})
    if '"ready"' in text:
        queries = [f"follow {n} {len(text)}" for n in range(9)]
        return json.dumps({"ready": False, "critique": "too vague", "queries": queries})
    if "at most 400 words" in text.lower():
        return f"summary of {text.count('[[Observed Document')} pages"
    return "rewritten" if "Rewrite it" in text else "first proposal"


def test_sequential_keeps_to_its_bounds() -> None:
    run = ScriptedRun(researcher, lambda query: [result(query.replace(" ", "-")), result("same")])
    retrieval = retrieve(Sequential(max_reflect=2), run)
    assert run.calls == {"research": 12}
    assert len(run.searches) == 6
    assert [len(r["queries"]) for r in retrieval.rounds] == [3, 2, 1]
    assert [r["scoring_status"] for r in retrieval.rounds] == [None] * 3
    assert retrieval.proposal == "rewritten"
    assert len(retrieval.documents) == 7
    assert retrieval.n_candidates == 8
    assert [q for _, q in retrieval.executed_queries][:3] == ["plan 0", "plan 1", "plan 2"]
    text = given_text(retrieval)
    assert text.startswith("# Research Proposal\n\nrewritten\n\n# Helpful Knowledge\n\n")
    assert text.count("## Web Document") == 7
    assert {str(r.messages[0]["content"]) for r in run.requests} == {"You improve programs."}
    proposals = [p for _, p in run.prompts if "Write a proposal" in p]
    assert "Question: why 2\nsummary of 2 pages" in proposals[0]


@settings(max_examples=40, deadline=None)
@given(st.data(), st.integers(0, 2))
def test_sequential_survives_any_answer(data: Any, max_reflect: int) -> None:
    plan = json.dumps({"questions": [{"query": "a"}, {"query": 3}, "x", {"query": " "}]})
    review = json.dumps({"ready": None, "critique": [], "queries": ["b", "a", 7]})
    texts = st.sampled_from([plan, review, "", "{", "[]", '{"questions": 1}', "text", None])

    def answer(request: Request, slot: int) -> Completion:
        text = data.draw(texts)
        return Completion("", error="down") if text is None else Completion(text)

    run = ScriptedRun(answer, lambda query: [result("a")], ScriptedSettings(ROBUST))
    retrieval = retrieve(Sequential(max_reflect), run)
    assert run.calls.total() <= 2 + len(run.searches) + 2 * max_reflect
    assert len(run.searches) <= 6
    json.dumps(run.notes, allow_nan=False)
    given_text(retrieval)


def test_sequential_stops_when_the_proposal_is_ready() -> None:
    def answer(request: Request, slot: int) -> str:
        text = researcher(request, slot)
        return '{"ready": true, "critique": "", "queries": []}' if '"ready"' in text else text

    run = ScriptedRun(answer, lambda query: [result("a")])
    retrieval = retrieve(Sequential(2), run)
    assert retrieval.proposal == "first proposal"
    assert len(retrieval.rounds) == 1


def test_max_reflect_is_checked() -> None:
    with pytest.raises(ValueError, match="0, 1 or 2"):
        Sequential(3)
