"""Stand-ins for tests of the engine: an evaluator in this process and a scripted model."""

from __future__ import annotations

import json
import random
import re

from method.config import RunConfig, make_config
from method.protocols import Completion, EvalResult, Request, SearchResponse, SearchResult
from method.runs import Clients

NUMBER = re.compile(r"VALUE = (-?[\d.]+)")


class LocalEvaluator:
    """Scores a program by the number in it; counts how often each source is evaluated."""

    version = "local-1"
    isolation = "none"

    def __init__(self, *, held_out: bool = False, x0_valid: bool = True) -> None:
        self.held_out = held_out
        self.x0_valid = x0_valid
        self.evaluated: list[str] = []

    async def evaluate(self, code: str) -> EvalResult:
        self.evaluated.append(code)
        found = NUMBER.search(code)
        if found is None:
            if not self.x0_valid:
                return EvalResult("invalid", None, reason="no number")
            return EvalResult("ok", 0.0, None if self.held_out else 0.0, feedback="the seed")
        value = float(found.group(1))
        if value < 0:
            return EvalResult("invalid", None, reason="negative")
        objective = None if self.held_out else value
        return EvalResult("ok", value, objective, {"value": value}, f"the number is {value}")

    async def report(self, code: str) -> EvalResult:
        result = await self.evaluate(code)
        secret = 1234.5678 + (result.search_score or 0.0)
        return EvalResult("ok", result.search_score, secret, {"held_out": secret})


def script(request: Request, slot: int) -> Completion:
    """A model that is lively and now and then malformed, as a function of its request."""
    prompt = "".join(str(message["content"]) for message in request.messages)
    draw = random.Random(f"{request.purpose}:{slot}:{prompt}")
    if request.purpose == "joint" and request.tools and draw.random() < 0.5:
        arguments = json.dumps({"query": f"numbers {draw.randint(0, 3)}"})
        call = {"id": "c1", "function": {"name": "tavily", "arguments": arguments}}
        return Completion(text="", tool_calls=(call,), cost_usd=0.01)
    return Completion(text=_answer(request.purpose, prompt, draw), cost_usd=0.01)


def _answer(purpose: str, prompt: str, draw: random.Random) -> str:
    if draw.random() < 0.1:
        return "this is not what was asked for"
    if purpose == "gate":
        ids = re.findall(r'search_document_id: "(doc_\d{6})"', prompt)
        decision = draw.choice(["no-op", "retrieve", "look-up"])
        return json.dumps(
            {
                "knowledge_state_analysis": "something",
                "decision": decision,
                "reasoning": "why not",
                "search_document_ids": ids[:2] if decision == "look-up" else [],
            }
        )
    if purpose == "query":
        return json.dumps({"query": f"numbers {draw.randint(0, 3)}", "keywords": ["number"]})
    if purpose == "scoring":
        refs = re.findall(r"^doc_id: (evidence_\d+)$", prompt, re.MULTILINE)
        rows = [{"evidence_ref": ref, "estimated_child_score": draw.random()} for ref in refs]
        return json.dumps({"document_predictions": rows, "knowledge_state_analysis": "more"})
    if purpose == "research" and '"questions"' in prompt:
        return json.dumps({"questions": [{"question": "which?", "query": "numbers 1"}]})
    if purpose == "research" and '"ready"' in prompt:
        queries = [f"numbers {draw.randint(0, 3)}"] if draw.random() < 0.5 else []
        return json.dumps({"ready": not queries, "critique": "vague", "queries": queries})
    if purpose in ("generation", "joint"):
        return f"A number.\n```python\nVALUE = {draw.uniform(-0.3, 1):.4f}\n```"
    return "An observation with the number 3."


class LocalSearch:
    """Three pages for every query."""

    name = "local"

    def __init__(self) -> None:
        self.queries: list[str] = []

    async def search(self, query: str, max_results: int, depth: str) -> SearchResponse:
        self.queries.append(query)
        results = tuple(
            SearchResult(
                f"https://example.org/{query[-1]}/{n}", "", f"Page {n}", "text " * 9, None, 1.0, n
            )
            for n in range(1, min(3, max_results) + 1)
        )
        return SearchResponse(results, credits=1.0, cost_usd=0.005)


class LocalModel:
    """The script as a model; counts its calls."""

    name = "local-script"

    def __init__(self) -> None:
        self.calls = 0

    async def sample(self, request: Request) -> list[Completion]:
        self.calls += len(request.slots)
        return [script(request, slot) for slot in request.slots]


def clients(evaluator: LocalEvaluator | None = None) -> Clients:
    return Clients(LocalModel(), LocalSearch(), evaluator or LocalEvaluator())


def config(**options: object) -> RunConfig:
    given = {"task": "cp26", "model": "offline/perturb", "edit": "full", "candidates": 3, **options}
    return make_config(None, **given)
