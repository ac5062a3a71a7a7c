"""The doors between the rooms of the method: values and protocols, no behaviour.

One outer loop (``engine.py``) drives any scaffold (which parent, what history, how the population
is kept) together with any retriever (what documents enter the prompt). Everything in a search uses
the *search score*: a finite float, higher is better.
"""

from __future__ import annotations

from method.protocols.clients import (
    LLM,
    Completion,
    Purpose,
    Request,
    Sampling,
    SearchBackend,
    SearchResponse,
    SearchResult,
    Usage,
)
from method.protocols.evaluation import (
    EvalResult,
    EvaluatorPort,
)
from method.protocols.programs import (
    FailedAttempt,
    InsertResult,
    ParsedCandidate,
    Program,
    Scaffold,
    Selection,
)
from method.protocols.retrieval import (
    Decision,
    Draws,
    Gate,
    GateResult,
    GivenDocument,
    Retrieval,
    Retriever,
    RunContext,
    ScoringStatus,
    Settings,
    Snapshot,
)

__all__ = [
    "LLM",
    "Completion",
    "Decision",
    "Draws",
    "EvalResult",
    "EvaluatorPort",
    "FailedAttempt",
    "Gate",
    "GateResult",
    "GivenDocument",
    "InsertResult",
    "ParsedCandidate",
    "Program",
    "Purpose",
    "Request",
    "Retrieval",
    "Retriever",
    "RunContext",
    "Sampling",
    "Scaffold",
    "ScoringStatus",
    "SearchBackend",
    "SearchResponse",
    "SearchResult",
    "Selection",
    "Settings",
    "Snapshot",
    "Usage",
]
