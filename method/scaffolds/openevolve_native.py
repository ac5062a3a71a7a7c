"""The scaffold that the paper calls OpenEvolve: islands, cells, an archive (methods.md 4.7)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from method.protocols import LLM, InsertResult, Program, Selection
from method.scaffolds.base import select_with_prompt
from method.scaffolds.native_population import Population
from method.scaffolds.solution_prompt import PromptTask


class OpenEvolveNative:
    """:class:`~method.protocols.Scaffold` over a :class:`Population`."""

    name = "openevolve-native"
    counts_attempts = False

    def __init__(self, task: PromptTask) -> None:
        self._task = task
        self._population: Population

    async def start(self, seed: Program, rng_seed: int, llm: LLM) -> None:
        self._population = Population(rng_seed)
        self._population.start(seed)

    async def select(self, t: int) -> Selection:
        parent, context = self._population.select(t)
        return select_with_prompt(self._task, t, parent, context, await self.retained())

    async def insert(self, t: int, child: Program, selection: Selection) -> InsertResult:
        evicted = self._population.insert(t, child)
        admitted = child.id in self._population.programs
        return InsertResult(admitted, tuple(evicted), self._population.best == child.id)

    async def retained(self) -> Sequence[Program]:
        return [member.program for member in self._population.programs.values()]

    async def after_iteration(
        self, t: int, child: Program | None, attempts: int, llm: LLM
    ) -> list[Mapping[str, Any]]:
        if t in self._population.migrations:
            return [{"kind": "migration", "generations": list(self._population.generations)}]
        return []

    async def fingerprint(self) -> str:
        state = self._population
        facts = (
            [(name, member.island) for name, member in state.programs.items()],
            [list(island) for island in state.islands],
            [sorted(cells.items()) for cells in state.cells],
            list(state.archive),
            state.island_best,
            state.best,
            state.generations,
        )
        return hashlib.sha256(repr(facts).encode()).hexdigest()

    async def close(self) -> None:
        """Nothing is open."""
