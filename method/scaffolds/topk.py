"""Top-K: the best program is the parent, the next four are its context (methods.md 4.3)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from method.protocols import LLM, InsertResult, Program, Selection
from method.scaffolds.base import select_with_prompt
from method.scaffolds.solution_prompt import PromptTask

CONTEXT = 4


class TopK:
    """:class:`~method.protocols.Scaffold` that keeps every program; ties go to the older one."""

    name = "topk"
    counts_attempts = False

    def __init__(self, task: PromptTask) -> None:
        self._task = task
        self._programs: list[Program] = []

    async def start(self, seed: Program, rng_seed: int, llm: LLM) -> None:
        self._programs = [seed]

    async def select(self, t: int) -> Selection:
        ranked = self._ranked()
        context = ranked[1 : CONTEXT + 1] or ranked[:1]  # alone, a program is parent and context
        return select_with_prompt(self._task, t, ranked[0], context, self._programs)

    async def insert(self, t: int, child: Program, selection: Selection) -> InsertResult:
        self._programs.append(child)
        return InsertResult(admitted=True, new_best=self._ranked()[0] is child)

    async def retained(self) -> Sequence[Program]:
        return list(self._programs)

    async def after_iteration(
        self, t: int, child: Program | None, attempts: int, llm: LLM
    ) -> list[Mapping[str, Any]]:
        return []

    async def fingerprint(self) -> str:
        facts = [(program.id, program.search_score) for program in self._programs]
        return hashlib.sha256(repr(facts).encode()).hexdigest()

    async def close(self) -> None:
        """Nothing is open."""

    def _ranked(self) -> list[Program]:
        return sorted(self._programs, key=lambda program: -program.search_score)
