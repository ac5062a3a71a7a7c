"""What the trace of a run says: names of calls, flags, blocked results, reports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_task import LocalEvaluator, LocalModel, LocalSearch, clients, config

from method.journal import read_journal
from method.prompting import prompt_versions
from method.protocols import Completion, Request, SearchResponse
from method.runs import Clients, run
from method.search.blocklist import BlockedSearch, Blocklist
from method.trace import check_trace, read_trace


class ToolUser(LocalModel):
    """Searches twice by tool before it answers."""

    async def sample(self, request: Request) -> list[Completion]:
        spoken = sum(message["role"] == "assistant" for message in request.messages)
        if request.purpose != "joint" or spoken >= 2:
            return await super().sample(request)
        self.calls += len(request.slots)
        arguments = json.dumps({"query": f"numbers {spoken}"})
        call = {"id": "c1", "function": {"name": "tavily", "arguments": arguments}}
        return [Completion("", tool_calls=(call,)) for _ in request.slots]


def purposes_of_calls(folder: Path) -> dict[str, str]:
    """Purpose of each model call of a run by the call's name."""
    return {
        ":".join(map(str, event.data["key"])): event.data["purpose"]
        for event in read_journal(folder)
        if event.name == "model_call"
    }


def named_calls(record: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Every place of a record that names a call."""
    for place in ("gate", "population_analysis"):
        if record[place] is not None:
            yield place, record[place]["call_id"]
    for entry in record["rounds"]:
        yield "round", entry["call_id"]
        for query in entry["queries"]:
            yield "query", query["call_id"]
    for candidate in record["candidates"]:
        yield "candidate", candidate["call_id"]


PURPOSES = {
    "evoduet": {
        ("gate", "gate"),
        ("population_analysis", "analysis"),
        ("query", "query"),
        ("round", "scoring"),
        ("candidate", "generation"),
    },
    "joint": {("query", "joint"), ("round", "joint"), ("candidate", "joint")},
    "sequential": {("query", "research"), ("candidate", "generation")},
    "none": {("candidate", "generation")},
}


@pytest.mark.parametrize("retriever", PURPOSES)
@pytest.mark.parametrize("rules", ["official", "robust"])
def test_calls_are_named(tmp_path: Path, retriever: str, rules: str) -> None:
    folder = tmp_path / "run"
    given = config(method=f"topk+{retriever}", rules=rules, iterations=12, queries=2, rounds=2)
    run(given, folder, clients=Clients(ToolUser(), LocalSearch(), LocalEvaluator()))
    records = read_trace(folder)
    check_trace(records)
    purposes = purposes_of_calls(folder)
    named = [
        (place, call_id) for record in records for place, call_id in named_calls(record) if call_id
    ]
    assert {(place, purposes[call_id]) for place, call_id in named} == PURPOSES[retriever]
    if retriever != "sequential":  # notes and proposals have no place in the trace
        assert {call_id for _, call_id in named} == purposes.keys()
    for record in records:
        assert all(
            call_id is not None
            for place, call_id in named_calls(record)
            if place != "round" or retriever == "joint"
        )
        for entry in record["rounds"]:
            asked = entry["scoring_status"] not in (
                *("no_new_documents", "no_query", "no_usable_documents", None),
            )
            assert (entry["call_id"] is not None) == (asked or retriever == "joint")


def test_a_failed_gate_call_is_named_too(tmp_path: Path) -> None:
    class NoGate(LocalModel):
        async def sample(self, request: Request) -> list[Completion]:
            if request.purpose == "gate":
                return [Completion("", error="refused", error_kind="refused")]
            return await super().sample(request)

    folder = tmp_path / "run"
    run(config(iterations=2), folder, clients=Clients(NoGate(), LocalSearch(), LocalEvaluator()))
    for record in read_trace(folder):
        assert record["gate"]["decision"] == "missing"
        assert record["gate"]["executed"] is None
        assert record["gate"]["call_id"] == f"{record['t']}:gate:0:0"


def test_every_tool_round_of_every_candidate_is_traced(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    given = config(method="openevolve-native+joint", iterations=5, candidates=2)
    run(given, folder, clients=Clients(ToolUser(), LocalSearch(), LocalEvaluator()))
    for record in read_trace(folder):
        places = [(e["attempt"], e["candidate_slot"], e["r"]) for e in record["rounds"]]
        assert [place for place in places if place[2] <= 2] == [
            (attempt, slot, r)
            for attempt in range(1, record["attempts"] + 1)
            for slot in range(2)
            for r in (1, 2)
        ]
        assert places == sorted(places)
        assert max(r for _, _, r in places) <= 3
        assert all(len(e["searches"][0]["results"]) == 3 for e in record["rounds"])


class TwoPages(LocalSearch):
    """Two pages; one of them belongs to the benchmark itself."""

    async def search(self, query: str, max_results: int, depth: str) -> SearchResponse:
        found = await super().search(query, max_results, depth)
        own = replace(found.results[0], url="https://github.com/Open-Galapagos/EvoDuet/blob/x")
        return replace(found, results=(own, *found.results[1:2]))


def test_blocked_results_are_counted(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    web = BlockedSearch(TwoPages(), Blocklist.shipped())
    given = config(iterations=4, gate="always", rounds=1)
    run(given, folder, clients=Clients(LocalModel(), web, LocalEvaluator()))
    searches = [
        search
        for record in read_trace(folder)
        for entry in record["rounds"]
        for search in entry["searches"]
    ]
    assert searches
    for search in searches:
        assert search["blocked"] == 1
        assert [result["rank"] for result in search["results"]] == [2]
        assert "EvoDuet" not in json.dumps(search)


def test_what_the_snapshot_left_out_is_flagged(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    given = config(iterations=4, gate="always", switches={"context_budget_chars": 2500})
    run(given, folder, clients=clients())
    flags = [record["flags"] for record in read_trace(folder)]
    assert flags[0] == []
    assert "context_budget:old_bodies_dropped" in flags[-1]


def test_all_records_name_the_prompts_in_force(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run(config(iterations=3), folder, clients=clients())
    (started,) = (e.data for e in read_journal(folder) if e.name == "run_started")
    assert started["prompts"] == prompt_versions()
    (version,) = {record["prompt_version"] for record in read_trace(folder)}
    assert len(version) == 64


class Reporting(LocalEvaluator):
    """A held-out task; counts what is reported, and checks that no more is searched then."""

    def __init__(self) -> None:
        super().__init__(held_out=True)
        self.reported: Counter[str] = Counter()

    async def evaluate(self, code: str) -> Any:
        assert not self.reported
        return await super().evaluate(code)

    async def report(self, code: str) -> Any:
        self.reported[code] += 1
        return await LocalEvaluator(held_out=True).report(code)


def test_reports_come_last_and_once_for_each_program(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    evaluator = Reporting()
    given = config(iterations=9, report_iterations=(1, 2, 3, 5, 7, 50))
    run(given, folder, clients=Clients(LocalModel(), LocalSearch(), evaluator))
    records = read_trace(folder)
    check_trace(records)
    reported = {record["t"]: record["report"] for record in records if record["report"]}
    assert list(reported) == [1, 2, 3, 5, 7, 9]
    assert set(evaluator.reported.values()) == {1}
    assert len(evaluator.reported) == len({report["id"] for report in reported.values()})
    assert len(evaluator.reported) < 6
    best = None
    for record in records:
        child = record["child"]
        best = child["id"] if record["new_best"] else best
        if record["report"] and best is not None:
            assert record["report"]["id"] == best
        if child is not None:
            own = record["report"] is not None and record["report"]["id"] == child["id"]
            assert (child["reporting"] is not None) == own
            assert child["objective"] is None


def test_a_child_that_the_population_refuses_is_not_admitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from method.protocols import InsertResult
    from method.scaffolds.topk import TopK

    async def refuse(self: TopK, t: int, child: Any, selection: Any) -> InsertResult:
        return InsertResult(admitted=False)

    monkeypatch.setattr(TopK, "insert", refuse)
    run(config(method="topk+none", iterations=3), tmp_path / "run", clients=clients())
    admitted = [r["child"]["admitted"] for r in read_trace(tmp_path / "run") if r["child"]]
    assert admitted
    assert not any(admitted)
