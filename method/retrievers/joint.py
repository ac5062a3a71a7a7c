"""Joint: the generating call searches by itself, through one function tool (methods.md 1.10).

The retriever only says so; the engine then draws its candidates with :meth:`Joint.generate` in
place of a plain generation call.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from method.exposure import Ledger, search_trace, wire_query
from method.prompting import harmless, harmless_line
from method.protocols import (
    Completion,
    Request,
    Retrieval,
    RunContext,
    SearchResponse,
    Selection,
    Snapshot,
)
from method.rules import Rules

TOOL: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": "tavily",
        "description": "Search the web. Returns title, URL and a snippet for each result.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "The web-search query."},
                "max_results": {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 20,
                    "description": "Number of results, 5 if not given.",
                },
            },
            "required": ["query"],
            "additionalProperties": False,
        },
    },
}
TOOL_ROUNDS = 3
RESULTS = 5
DEPTH = "basic"


@dataclass(frozen=True)
class ToolSample:
    """One candidate's answer and how it came about.

    ``rounds`` are the trace's entries; flag ``no_search``: the model never searched.
    """

    slot: int
    completion: Completion
    rounds: tuple[Mapping[str, Any], ...] = ()
    flags: tuple[str, ...] = ()


@dataclass
class _Conversation:
    """One slot's messages and what has become of them."""

    slot: int
    messages: list[Mapping[str, Any]]
    completion: Completion | None = None
    rounds: list[Mapping[str, Any]] = field(default_factory=list)
    done: bool = False


@dataclass(frozen=True)
class _Call:
    """One tool call: a search, or the error that is returned instead."""

    call_id: str
    query: str = ""
    max_results: int = RESULTS
    error: str = ""


class Joint:
    """Search as a tool of the generating model; no memory across iterations.

    ``force_first``: the first call must use the tool (the release leaves it to the model).
    """

    name = "joint"

    def __init__(self, *, force_first: bool = False) -> None:
        self._force_first = force_first
        self._ledger = Ledger()

    async def retrieve(
        self, selection: Selection, snapshot: Snapshot, run: RunContext
    ) -> Retrieval:
        """No documents; the engine is told to use the tool loop."""
        return Retrieval(None, n_candidates=run.settings.candidates, generator="tool_loop")

    async def generate(
        self,
        run: RunContext,
        system_prompt: str,
        user_prompt: str,
        slots: Sequence[int],
        attempt: int = 1,
    ) -> list[ToolSample]:
        """One answer for each slot, each with at most three tool rounds and four calls.

        The slots step together, so that ids and order of what is found do not depend on timing.
        """
        start = [
            {"role": "system", "content": system_prompt},
            {"role": "user", "content": user_prompt},
        ]
        talks = [_Conversation(slot, list(start)) for slot in slots]
        for tool_round in range(1, TOOL_ROUNDS + 2):
            active = [talk for talk in talks if not talk.done]
            await asyncio.gather(*(self._speak(run, talk, tool_round) for talk in active))
            await self._serve(run, [t for t in active if not t.done], attempt, tool_round)
        return [_sample(talk) for talk in talks]

    async def _speak(self, run: RunContext, talk: _Conversation, tool_round: int) -> None:
        """The model's next message; the last one has to do without the tool."""
        with_tool = tool_round <= TOOL_ROUNDS
        choice = None
        if with_tool:
            choice = "required" if self._force_first and tool_round == 1 else "auto"
        request = Request(
            purpose="joint",
            messages=tuple(talk.messages),
            sampling=run.settings.sampling,
            tools=(TOOL,) if with_tool else (),
            tool_choice=choice,
            slots=(talk.slot,),
        )
        (talk.completion,) = await run.sample(request)
        finished = talk.completion.error is not None or not talk.completion.tool_calls
        talk.done = finished or not with_tool

    async def _serve(
        self, run: RunContext, talks: Sequence[_Conversation], attempt: int, tool_round: int
    ) -> None:
        """Run the tool calls of all slots at once and answer them in order."""
        rules: Rules = run.settings.rules
        calls = [[read_call(call) for call in _calls(talk)] for talk in talks]
        pending = {}
        for talk, wanted in zip(talks, calls, strict=True):
            for place, call in enumerate(wanted):
                if not call.error:
                    scope = f"a{attempt}:s{talk.slot}:r{tool_round}:q{place}"
                    wire, _ = wire_query(call.query, rules)
                    pending[talk.slot, place] = run.search(scope, wire, call.max_results, DEPTH)
        responses = dict(zip(pending, await asyncio.gather(*pending.values()), strict=True))
        for talk, wanted in zip(talks, calls, strict=True):
            found = [responses.get((talk.slot, place)) for place in range(len(wanted))]
            self._answer(run, talk, wanted, found, attempt, tool_round)

    def _answer(
        self,
        run: RunContext,
        talk: _Conversation,
        calls: Sequence[_Call],
        responses: Sequence[SearchResponse | None],
        attempt: int,
        tool_round: int,
    ) -> None:
        assert talk.completion is not None
        talk.messages.append(
            {
                "role": "assistant",
                "content": talk.completion.text,
                "tool_calls": [dict(call) for call in talk.completion.tool_calls],
            }
        )
        queries, searches = [], []
        for place, (call, response) in enumerate(zip(calls, responses, strict=True)):
            text, results = json.dumps({"error": call.error}), list[dict[str, Any]]()
            if response is not None:
                hits = self._ledger.enter(run.t, call.query, response)
                results = [hit.trace(None, None) for hit in hits]
                searches.append(search_trace(place, response, results))
                text = tool_result(response)
            talk.messages.append(
                {"role": "tool", "tool_call_id": call.call_id, "name": "tavily", "content": text}
            )
            queries.append(
                {
                    **_query_trace(place, call, run.settings.rules),
                    "call_id": talk.completion.call_id,
                }
            )
        entry = {
            **_round_trace(tool_round, attempt, talk.slot, queries, searches),
            "call_id": talk.completion.call_id,
        }
        talk.rounds.append(entry)
        run.note("round", entry)


def _calls(talk: _Conversation) -> Sequence[Mapping[str, Any]]:
    return () if talk.completion is None else talk.completion.tool_calls


def read_call(call: Mapping[str, Any]) -> _Call:
    """A tool call as the provider returned it (arguments as JSON text or as an object)."""
    call_id = str(call.get("id") or "")
    function = call.get("function") or call
    if function.get("name") != "tavily":
        return _Call(call_id, error=f"there is no tool {function.get('name')!r}")
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return _Call(call_id, error="the arguments are not JSON")
    if not isinstance(arguments, dict):
        return _Call(call_id, error="the arguments are not an object")
    query, limit = arguments.get("query"), arguments.get("max_results", RESULTS)
    if not isinstance(query, str) or not query.strip():
        return _Call(call_id, error="query must be a non-empty string")
    if limit is None:
        limit = RESULTS
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 <= limit <= 20:
        return _Call(call_id, query, error="max_results must be an integer from 0 to 20")
    return _Call(call_id, query.strip(), limit)


def tool_result(response: SearchResponse) -> str:
    """What the model is shown of a search: title, URL and snippet for each hit, or the error."""
    if response.error is not None:
        return json.dumps({"error": response.error}, ensure_ascii=False)
    results = [
        {
            "title": harmless_line(result.title),
            "url": harmless_line(result.url),
            "snippet": harmless(result.snippet),
        }
        for result in response.results
    ]
    return json.dumps({"results": results}, ensure_ascii=False)


def _query_trace(place: int, call: _Call, rules: Rules) -> dict[str, Any]:
    wire, cut = wire_query(call.query, rules)
    return {
        "slot": place,
        "text": call.query or None,
        "keywords": None,
        "resources": None,
        "intent": None,
        "rationale": None,
        "valid": not call.error,
        "wire_text": None if call.error else wire,
        "wire_truncated": cut,
        "executed": not call.error,
        "duplicate_of": None,
        "error": call.error or None,
    }


def _round_trace(
    tool_round: int,
    attempt: int,
    slot: int,
    queries: list[dict[str, Any]],
    searches: list[dict[str, Any]],
) -> dict[str, Any]:
    return {
        "r": tool_round,
        "attempt": attempt,
        "candidate_slot": slot,
        "queries": queries,
        "searches": searches,
        "pool": [],
        "unscored": [],
        "predictions": {},
        "rejected_predictions": [],
        "retained": [],
        "knowledge_proposed": None,
        "scoring_status": None,
        "knowledge_after": None,
        "flags": [],
    }


def _sample(talk: _Conversation) -> ToolSample:
    assert talk.completion is not None
    searched = any(query["executed"] for entry in talk.rounds for query in entry["queries"])
    return ToolSample(
        talk.slot, talk.completion, tuple(talk.rounds), () if searched else ("no_search",)
    )
