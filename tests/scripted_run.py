"""A run without a journal: scripted model and search answers, and an account of every call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from method.protocols import (
    Completion,
    Draws,
    Program,
    Request,
    Sampling,
    SearchResponse,
    SearchResult,
    Selection,
    Settings,
)
from method.rules import Rules

Answer = Callable[[Request, int], "str | Completion"]
"""From a request and a slot to the answer's text (or a whole completion)."""

Search = Callable[[str], "Sequence[SearchResult] | SearchResponse"]


@dataclass
class ScriptedSettings:
    """Numbers of a run."""

    rules: Rules = field(default_factory=Rules)
    rounds: int = 3
    queries: int = 1
    per_query: int = 5
    retain: int = 3
    candidates: int = 8
    iterations: int = 100
    sampling: Sampling = field(default_factory=Sampling)


@dataclass
class ScriptedRun:
    """Answers from two functions; counts calls by purpose and keeps prompts and notes."""

    answer: Answer
    find: Search = lambda query: ()
    settings: Settings = field(default_factory=ScriptedSettings)
    programs: Sequence[Program] = ()
    t: int = 1
    seed: int = 42
    draws: Draws = field(default_factory=Draws)
    calls: Counter[str] = field(default_factory=Counter)
    prompts: list[tuple[str, str]] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    searches: list[tuple[str, str, int, str]] = field(default_factory=list)
    notes: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    async def sample(self, request: Request) -> list[Completion]:
        completions = []
        for slot in request.slots:
            self.calls[request.purpose] += 1
            self.requests.append(request)
            self.prompts.append((request.purpose, str(request.messages[-1]["content"])))
            answer = self.answer(request, slot)
            completions.append(answer if isinstance(answer, Completion) else Completion(answer))
        return completions

    async def search(
        self, scope: str, query: str, max_results: int, depth: str = "advanced"
    ) -> SearchResponse:
        self.searches.append((scope, query, max_results, depth))
        found = self.find(query)
        return found if isinstance(found, SearchResponse) else SearchResponse(tuple(found))

    async def retained(self) -> Sequence[Program]:
        return self.programs

    def note(self, name: str, data: Mapping[str, Any]) -> None:
        self.notes.append((name, data))


def program(name: str = "x0", score: float = 0.5, code: str = "x = 1\n", **more: Any) -> Program:
    """A program of a population."""
    return Program(id=name, code=code, language="python", search_score=score, **more)


def selection(parent: Program | None = None, history: str = "(history)") -> Selection:
    """What a scaffold chose; its prompt is history, program, documents, task."""
    chosen = parent or program()

    def build(documents: str, failed: Sequence[Any]) -> str:
        section = f"\n\n{documents}" if documents else ""
        return f"{history}\n\n# Current Program\n{chosen.code}{section}\n\n# Task\nImprove it.\n"

    return Selection(chosen, (), "", history, "You improve programs.", build)


def result(
    name: str, *, title: str = "", body: str = "", raw: str | None = None, rank: int = 1
) -> SearchResult:
    """A hit on ``https://ex.org/<name>``."""
    return SearchResult(
        url=f"https://ex.org/{name}",
        provider_id=f"https://ex.org/{name}",
        title=title or f"Title {name}",
        snippet=body or f"Body of {name}.",
        raw=raw,
        score=None,
        rank=rank,
    )
