"""Programs, and the scaffold that keeps them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from method.protocols.clients import LLM


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
    counts_attempts: bool
    """Whether every attempt counts as an iteration of the run's T (A8), or a selection does."""

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
