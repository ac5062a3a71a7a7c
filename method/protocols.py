"""The doors between the rooms of the method: values and protocols, no behaviour.

One outer loop (``engine.py``) drives any scaffold (which parent, what history, how the population
is kept) together with any retriever (what documents enter the prompt). Everything in a search uses
the *search score*: a finite float, higher is better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Decision = Literal["no-op", "look-up", "retrieve", "missing"]
Purpose = Literal[
    "gate", "analysis", "query", "scoring", "generation", "strategy", "guide", "joint", "research"
]
ScoringStatus = Literal[
    "scored",
    "partial",
    "no_valid_predictions",
    "no_new_documents",
    "failed",
    "no_query",
    "no_usable_documents",
]


# --- programs and scaffolds --------------------------------------------------------------------


@dataclass(frozen=True)
class Program:
    """A member of a population, or a candidate for it.

    ``metrics`` and ``artifacts`` are what prompts may show: never held-out values, times or paths.
    """

    id: str
    code: str
    language: str
    search_score: float
    objective: float | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    parent_id: str | None = None
    iteration: int = 0
    label: str = ""
    artifacts: Mapping[str, str] = field(default_factory=dict)
    changes: str = ""
    context_ids: tuple[str, ...] = ()
    copy_of: str | None = None
    """Set for copies that a scaffold makes itself (migrants, seeds of empty islands)."""


@dataclass(frozen=True)
class FailedAttempt:
    """An attempt of this iteration without a valid child, shown in the next attempt's prompt."""

    error: str
    text: str
    """The failed source, or the model's answer where no source could be read from it."""


@dataclass(frozen=True)
class Selection:
    """What a scaffold chose for one iteration. The scaffold is asked once per iteration.

    ``history_text`` is word for word what stands in the prompt (prompts.md section 10);
    ``build_prompt(documents, failed)`` gives the user prompt with the helpful-knowledge text put in
    its place (empty text: no section) and the failed attempts of this iteration shown.
    """

    parent: Program
    context_ids: tuple[str, ...]
    label: str
    history_text: str
    system_prompt: str
    build_prompt: Callable[[str, Sequence[FailedAttempt]], str]
    state: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parent_score(self) -> float:
        """The parent's search score."""
        return self.parent.search_score


@dataclass(frozen=True)
class InsertResult:
    """What became of a child: in the population or not, who left for it, a new best of the run."""

    admitted: bool
    evicted: tuple[str, ...] = ()
    new_best: bool = False


@dataclass(frozen=True)
class ParsedCandidate:
    """A candidate read from a model's answer, or why there is none.

    ``status``: ``ok``, ``parse_error``, ``no_change`` or ``too_long``. ``blocks`` tells for each
    diff block whether it was applied.
    """

    status: Literal["ok", "parse_error", "no_change", "too_long"]
    code: str | None = None
    changes: str = ""
    error: str = ""
    blocks: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


class Scaffold(Protocol):
    """Keeps the population and writes the solution prompt; called by one task at a time."""

    name: str

    async def start(self, seed: Program, rng_seed: int, llm: LLM) -> None:
        """Take the evaluated initial program as iteration 0."""

    async def select(self, t: int) -> Selection:
        """Parent, context and prompt of iteration ``t``."""

    async def insert(self, t: int, child: Program, selection: Selection) -> InsertResult:
        """Offer the selected child of iteration ``t`` to the population."""

    async def retained(self) -> Sequence[Program]:
        """The programs that the population holds now, copies included."""

    async def after_iteration(
        self, t: int, child: Program | None, attempts: int, llm: LLM
    ) -> list[Mapping[str, Any]]:
        """Called in every iteration, with or without a child; returns scaffold events."""

    async def fingerprint(self) -> str:
        """Hash of the whole state, to compare a replay with its journal."""

    async def close(self) -> None:
        """Release processes and files."""


# --- model -------------------------------------------------------------------------------------


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


# --- search ------------------------------------------------------------------------------------


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


class SearchBackend(Protocol):
    """A web search or an offline corpus."""

    name: str

    async def search(self, query: str, max_results: int, depth: str) -> SearchResponse:
        """Search once. Failures are responses with ``error``."""


# --- retrieval ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class GivenDocument:
    """A document that is handed to the generator, in rank order."""

    title: str
    url: str
    provider_id: str
    snippet: str
    raw: str | None
    query: str | None = None
    doc_id: str | None = None
    ref: str | None = None
    db_id: str | None = None
    predicted: float | None = None
    predicted_at: int | None = None
    first_retrieved_t: int | None = None

    @property
    def body(self) -> str:
        """Raw text where there is any, else the snippet."""
        return self.raw if self.raw else self.snippet


@dataclass(frozen=True)
class GateResult:
    """A gate's decision; ``knowledge`` becomes K^0 of the inner loop on retrieve."""

    decision: Decision
    knowledge: str = ""
    reasoning: str = ""
    raw_decision: str | None = None
    requested_ids: tuple[str, ...] = ()
    resolved_ids: tuple[str, ...] = ()
    unresolved_ids: tuple[str, ...] = ()
    malformed: bool = False
    would_have_parsed: Mapping[str, Any] | None = None
    flags: tuple[str, ...] = ()
    kind: str = "knowledge"


@dataclass(frozen=True)
class Retrieval:
    """What a retriever found for one iteration; ``rounds`` and ``gate`` are for the trace."""

    decision: Decision | None
    documents: tuple[GivenDocument, ...] = ()
    n_candidates: int = 1
    knowledge: str | None = None
    executed_queries: tuple[tuple[int, str], ...] = ()
    rounds: tuple[Mapping[str, Any], ...] = ()
    gate: Mapping[str, Any] | None = None
    analysis: Mapping[str, Any] | None = None
    proposal: str | None = None
    generator: Literal["default", "tool_loop"] = "default"
    errors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Snapshot:
    """The search database as one iteration sees it: rendered once, fixed for the iteration.

    ``documents`` maps every ``db_id`` of the database (visible or not) and every locator (URL, else
    provider id) to its latest stored version; ``visible_ids`` are the ids printed in ``text``.
    """

    text: str
    visible_ids: tuple[str, ...] = ()
    documents: Mapping[str, GivenDocument] = field(default_factory=dict)


class RunContext(Protocol):
    """What a retriever may do during iteration ``t``; every call is journalled before it returns.

    A call that the journal already holds is answered from it, so a resumed or replayed run makes
    the same calls and pays for none twice.
    """

    t: int
    seed: int
    settings: Settings

    async def sample(self, request: Request) -> list[Completion]:
        """Model calls, one for each slot; failures are completions with ``error``."""

    async def search(
        self, scope: str, query: str, max_results: int, depth: str = "advanced"
    ) -> SearchResponse:
        """One search; ``scope`` names the call within the iteration (``r1:q0``)."""

    async def retained(self) -> Sequence[Program]:
        """The population, for statistics."""

    def note(self, name: Literal["gate", "round"], data: Mapping[str, Any]) -> None:
        """Journal what a gate decided or a round found."""


class Settings(Protocol):
    """The numbers and switches of a run that retrievers and gates read."""

    rounds: int
    """R, search rounds of one retrieve."""
    queries: int
    """J, queries of one round."""
    per_query: int
    """M, documents of one query."""
    retain: int
    """D, documents handed to the generator."""
    candidates: int
    """N, candidates of an iteration with documents."""
    iterations: int
    """T, outer iterations of the run."""
    sampling: Sampling
    rules: Any
    """The switches of ``method.rules.Rules``."""


class Gate(Protocol):
    """Decides whether an iteration needs outside knowledge."""

    kind: str

    async def decide(self, selection: Selection, snapshot: Snapshot, run: RunContext) -> GateResult:
        """The decision of one iteration; never raises for what a model answered."""


class Retriever(Protocol):
    """Finds the documents that enter the solution prompt."""

    name: str

    async def retrieve(
        self, selection: Selection, snapshot: Snapshot, run: RunContext
    ) -> Retrieval:
        """The documents of one iteration and how many candidates to draw."""


# --- evaluation --------------------------------------------------------------------------------


@dataclass(frozen=True)
class EvalResult:
    """A candidate's evaluation as the engine sees it (methods.md 2.7).

    ``status``: ``ok``, ``invalid``, ``error``, ``timeout`` or ``unavailable``. The fields from
    ``wall_s`` on differ between runs and never enter a prompt.
    """

    status: Literal["ok", "invalid", "error", "timeout", "unavailable"]
    search_score: float | None
    objective: float | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    feedback: str = ""
    attachments: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""
    wall_s: float = 0.0
    cpu_s: float = 0.0
    max_rss: float = 0.0
    stdout_tail: str = ""
    stderr_tail: str = ""


class EvaluatorPort(Protocol):
    """The harness behind the engine: programs in, verdicts out."""

    version: str
    """Changes whenever a score could change; part of the exactly-once key."""
    held_out: bool
    """Whether the reporting metric is known at stage ``report`` alone."""
    isolation: str
    """How candidates are run; recorded in the manifest."""

    async def evaluate(self, code: str) -> EvalResult:
        """Evaluate at stage ``search``."""

    async def report(self, code: str) -> EvalResult:
        """Evaluate at stage ``report``; what comes back never reaches the method."""
