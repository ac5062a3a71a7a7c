"""Gates and retrievers: what they see, what they may do, what they find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from method.protocols.clients import Completion, Request, Sampling, SearchResponse
from method.protocols.programs import Program, Selection

Decision = Literal["no-op", "look-up", "retrieve", "missing"]
ScoringStatus = Literal[
    "scored",
    "partial",
    "no_valid_predictions",
    "no_new_documents",
    "failed",
    "no_query",
    "no_usable_documents",
]


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
    call_id: str | None = None


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
    provider id) to its latest stored version; ``visible_ids`` are the ids printed in ``text``;
    ``flags`` tell what was left out of it.
    """

    text: str
    visible_ids: tuple[str, ...] = ()
    documents: Mapping[str, GivenDocument] = field(default_factory=dict)
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Draws:
    """What the iterations before this one drew from the model.

    ``children``: samples that the model answered; ``invalid``: those without a search score;
    ``planned``: N_t of each iteration.
    """

    children: int = 0
    invalid: int = 0
    planned: Mapping[int, int] = field(default_factory=dict)


class RunContext(Protocol):
    """What a retriever may do during iteration ``t``; every call is journalled before it returns.

    A call that the journal already holds is answered from it, so a resumed or replayed run makes
    the same calls and pays for none twice.
    """

    t: int
    seed: int
    settings: Settings
    draws: Draws

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
