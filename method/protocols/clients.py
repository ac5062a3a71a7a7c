"""Models and searches: what is asked of them, what they answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Purpose = Literal[
    "gate", "analysis", "query", "scoring", "generation", "strategy", "guide", "joint", "research"
]


@dataclass(frozen=True)
class Sampling:
    """Requested sampling parameters of a model call."""

    temperature: float | None = 0.7
    top_p: float | None = 0.95
    max_output_tokens: int = 32768
    reasoning_effort: str | None = "medium"
    seed: int | None = None


@dataclass(frozen=True)
class Request:
    """One model call; ``slots`` names the samples drawn from it (N samples, N separate calls)."""

    purpose: Purpose
    messages: tuple[Mapping[str, Any], ...]
    sampling: Sampling = Sampling()
    tools: tuple[Mapping[str, Any], ...] = ()
    tool_choice: str | None = None
    response_schema: Mapping[str, Any] | None = None
    slots: tuple[int, ...] = (0,)


@dataclass(frozen=True)
class Usage:
    """Tokens of one call; ``None`` where the provider does not say."""

    prompt: int | None = None
    completion: int | None = None
    reasoning: int | None = None
    cached: int | None = None
    cache_write: int | None = None


@dataclass(frozen=True)
class Completion:
    """One sample, or the error that stands for it; ``cost_usd`` is ``None`` when unknown."""

    text: str
    finish_reason: str | None = None
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    usage: Usage = Usage()
    cost_usd: float | None = None
    cost_source: Literal["provider", "table", "none"] = "none"
    latency_s: float = 0.0
    attempts: int = 1
    effective_params: Mapping[str, Any] = field(default_factory=dict)
    dropped_params: tuple[str, ...] = ()
    provider_model: str | None = None
    request_id: str | None = None
    error: str | None = None
    error_kind: Literal["transport", "refused", "quota", "key"] | None = None
    call_id: str | None = None
    """Names the call in journal and trace; set where it is journalled."""


class LLM(Protocol):
    """A model: real, scripted, recorded or replayed."""

    name: str

    async def sample(self, request: Request) -> list[Completion]:
        """One completion for each slot, in slot order. Failures are completions with ``error``."""


@dataclass(frozen=True)
class SearchResult:
    """One hit as the backend returned it, cut to the limits of methods.md 1.4 b."""

    url: str
    provider_id: str
    title: str
    snippet: str
    raw: str | None
    score: float | None
    rank: int

    @property
    def body(self) -> str:
        """Raw text where there is any, else the snippet."""
        return self.raw if self.raw else self.snippet


@dataclass(frozen=True)
class SearchResponse:
    """The hits of one query, or the error that stands for them."""

    results: tuple[SearchResult, ...] = ()
    credits: float | None = None
    cost_usd: float | None = None
    latency_s: float = 0.0
    error: str | None = None
    error_kind: Literal["transport", "refused", "quota", "key"] | None = None
    cached: bool = False
    blocked: int = 0
    """Results that the blocklist kept out."""


class SearchBackend(Protocol):
    """A web search or an offline corpus."""

    name: str

    async def search(self, query: str, max_results: int, depth: str) -> SearchResponse:
        """Search once. Failures are responses with ``error``."""
