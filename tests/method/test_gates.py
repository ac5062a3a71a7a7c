"""Gates: what they see, what they decide, what becomes of bad answers."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from scripted_run import ScriptedRun, ScriptedSettings, program, selection

from method.asking import FreeText
from method.gates import (
    FixedGate,
    KnowledgeGate,
    RandomGate,
    StagnationGate,
    describe_knowledge,
    gate_trace,
    make_gate,
)
from method.protocols import Completion, GateResult, GivenDocument, Retrieval, Snapshot
from method.rules import KNOWLEDGE_LIMIT, Rules
from method.searchdb import SearchDatabase

OFFICIAL, ROBUST = Rules.preset("official"), Rules.preset("robust")


def stored(rules: Rules) -> Snapshot:
    """Two documents in the database, of which only the newer ten records show one."""
    database = SearchDatabase(rules)
    for t in range(1, 13):
        name = "old" if t == 1 else "new"
        page = GivenDocument(f"The {name} page", f"https://ex.org/{name}", f"id-{name}", name, None)
        database.add(t, Retrieval("retrieve", (page,)), program())
    return database.snapshot()


def answer(decision: str, *ids: str, knowledge: str = "k") -> str:
    return json.dumps(
        {
            "knowledge_state_analysis": knowledge,
            "decision": decision,
            "reasoning": "r",
            "search_document_ids": list(ids),
        }
    )


def decide(
    text: Any, rules: Rules, snapshot: Snapshot | None = None
) -> tuple[GateResult, ScriptedRun]:
    run = ScriptedRun(lambda request, slot: text, settings=ScriptedSettings(rules))
    gate = KnowledgeGate()
    result = asyncio.run(gate.decide(selection(), snapshot or Snapshot("(db)"), run))
    return result, run


def test_the_gate_sees_program_history_and_database_only() -> None:
    _, run = decide(answer("no-op"), OFFICIAL)
    ((purpose, prompt),) = run.prompts
    assert purpose == "gate"
    assert "[Evolutionary History]\n(history)\n" in prompt
    assert "[Current Program]\nx = 1\n\n" in prompt
    assert "Observed Outcomes]\n(db)\n" in prompt
    request = run.requests[0]
    assert [message["role"] for message in request.messages] == ["user"]
    assert request.tools == ()
    assert request.response_schema is None


def test_json_mode_asks_for_a_schema() -> None:
    rules = Rules.preset("official", {"json.mode": "schema"})
    _, run = decide(answer("no-op"), rules)
    schema = run.requests[0].response_schema
    assert schema is not None
    assert "search_document_ids" in schema["properties"]


def test_look_up_resolves_any_name_in_the_database() -> None:
    names = ("id-old", "doc_000002", "https://ex.org/new", "doc_000009", "doc_000002")
    result, _ = decide(answer("look-up", *names), OFFICIAL, stored(OFFICIAL))
    assert result.decision == "look-up"
    assert result.requested_ids == names[:4]
    assert result.resolved_ids == ("doc_000001", "doc_000002")
    assert result.unresolved_ids == ("doc_000009",)
    assert gate_trace(result)["executed"] == "look-up"


def test_robust_look_up_takes_what_is_shown() -> None:
    names = ("doc_000001", " doc_000002 ", "https://ex.org/new")
    result, _ = decide(answer("look-up", *names), ROBUST, stored(ROBUST))
    assert result.resolved_ids == ("doc_000002",)
    assert result.unresolved_ids == ("doc_000001", "https://ex.org/new")
    lost, _ = decide(answer("look-up", "doc_000001"), ROBUST, stored(ROBUST))
    assert lost.decision == "missing"
    assert gate_trace(lost)["executed"] is None
    assert gate_trace(lost)["raw_decision"] == "look-up"


def test_official_look_up_of_nothing_known_stays_one() -> None:
    result, _ = decide(answer("look-up", "doc_000777"), OFFICIAL, stored(OFFICIAL))
    assert (result.decision, result.resolved_ids) == ("look-up", ())
    assert "no_known_document" in result.flags


def test_a_failed_call_is_missing() -> None:
    for rules in (OFFICIAL, ROBUST):
        result, _ = decide(Completion("", error="timeout"), rules)
        assert (result.decision, result.malformed) == ("missing", False)


def test_decisions_lost_to_format_are_counted() -> None:
    text = f"I decide:\n{answer('retrieve')}"
    official, _ = decide(text, OFFICIAL)
    assert (official.decision, official.malformed) == ("no-op", True)
    assert official.would_have_parsed == {"decision": "retrieve", "requested_ids": []}
    robust, _ = decide(text, ROBUST)
    assert (robust.decision, robust.malformed) == ("retrieve", False)
    hopeless, _ = decide("retrieve, please", OFFICIAL)
    assert hopeless.would_have_parsed is None


def test_knowledge_is_cut() -> None:
    result, _ = decide(answer("retrieve", knowledge="k" * 40_000), OFFICIAL)
    assert len(result.knowledge) == KNOWLEDGE_LIMIT


def test_one_more_try_if_the_rules_allow_it() -> None:
    texts = iter(["nonsense", answer("retrieve")])
    rules = Rules.preset("official", {"reask": 1})
    run = ScriptedRun(lambda request, slot: next(texts), settings=ScriptedSettings(rules))
    result = asyncio.run(KnowledgeGate().decide(selection(), Snapshot(""), run))
    assert result.decision == "retrieve"
    first, second = (prompt for _, prompt in run.prompts)
    assert second.startswith(first)
    assert "not one JSON object" in second


def run_gate(gate: Any, scores: list[float], iterations: int = 10) -> list[str]:
    run = ScriptedRun(lambda request, slot: "", settings=ScriptedSettings(iterations=iterations))
    decisions = []
    for t, score in enumerate(scores, start=1):
        run.t, run.programs = t, [program(score=score), program("nan", float("nan"))]
        decisions.append(asyncio.run(gate.decide(selection(), Snapshot(""), run)).decision)
    assert run.calls.total() == 0
    return decisions


def test_gates_without_a_model() -> None:
    flat = [0.5] * 4
    assert run_gate(FixedGate("always"), flat) == ["retrieve"] * 4
    assert run_gate(FixedGate("never"), flat) == ["no-op"] * 4
    assert run_gate(RandomGate(1.0), flat) == ["retrieve"] * 4
    assert run_gate(RandomGate(0.0), flat) == ["no-op"] * 4
    assert run_gate(StagnationGate(2), flat) == ["no-op", "no-op", "retrieve", "no-op"]
    assert run_gate(StagnationGate(), flat, 30) == ["no-op", "no-op", "no-op", "retrieve"]
    rising = [100.0, 100.5, 101.0]
    assert run_gate(StagnationGate(1), rising) == ["no-op"] * 3
    assert run_gate(StagnationGate(1, relative=True), rising) == ["no-op", "retrieve", "retrieve"]


def test_gates_by_name() -> None:
    for kind in ("knowledge", "random", "stagnation", "always", "never"):
        assert make_gate(kind).kind == kind
    chosen = make_gate("random", p=0.25)
    assert isinstance(chosen, RandomGate)
    assert chosen.p == 0.25
    with pytest.raises(ValueError, match="knowledge, random"):
        make_gate("sometimes")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        make_gate("random", p=2)
    with pytest.raises(ValueError, match="at least 1"):
        make_gate("stagnation", window=0)


def test_knowledge_call_sees_no_database() -> None:
    run = ScriptedRun(lambda request, slot: "  what is known  ")
    described = asyncio.run(describe_knowledge(selection(), "observations", run))
    assert described == FreeText("what is known", None, None)
    ((_, prompt),) = run.prompts
    assert "Analysis]\nobservations\n" in prompt
    assert "Search Database" not in prompt
    run = ScriptedRun(lambda request, slot: Completion("", error="down"))
    described = asyncio.run(describe_knowledge(selection(), "", run))
    assert described == FreeText("", "down", None)
