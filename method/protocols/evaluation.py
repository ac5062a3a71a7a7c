"""The harness behind the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol


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
    artifact_sha256: str | None = None
    """Digest of what the program made; of the best so far it is kept beside the journal."""


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
