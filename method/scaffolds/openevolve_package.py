"""The PyPI package ``openevolve`` as a scaffold: what its users have (methods.md 4.2, 4.7).

One iteration does what the package's own does around generation and evaluation: the island whose
turn it is gives parent and inspirations, the package writes the prompt, the child goes to that
island, programs migrate when it is due. Defaults are the package's (1000 programs, migration every
50 generations), the prompt is the package's word for word; documents and failed attempts of the
iteration stand in places of their own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from method.protocols import LLM, FailedAttempt, InsertResult, Program, Selection
from method.scaffolds.openevolve_parts import Database, PromptParts, Sampler
from method.scaffolds.options import OpenEvolveOptions
from method.scaffolds.solution_prompt import FAILED_CHARS, PromptTask, fenced


class OpenEvolvePackage:
    """:class:`~method.protocols.Scaffold` over the package's database and prompt builder."""

    name = "openevolve-package"
    counts_attempts = False

    def __init__(self, task: PromptTask, options: OpenEvolveOptions) -> None:
        self._task = task
        self._options = options
        self._programs: dict[str, Program] = {}
        self._migrated: list[int] = []
        self._database: Database
        self._sampler: Sampler

    async def start(self, seed: Program, rng_seed: int, llm: LLM) -> None:
        self._database = Database(rng_seed, self._options)
        self._sampler = Sampler(rng_seed, self._task, self._database.shown)
        self._programs = {seed.id: seed}
        self._migrated = []
        self._database.add(seed, island=0)

    async def select(self, t: int) -> Selection:
        database = self._database
        sampled = database.sample(t)
        self._follow()
        parent = self._programs[sampled.parent.id]
        system, parts = self._sampler.build(
            t, sampled, database.artifacts(parent.id), database.feature_dimensions
        )

        def build(documents: str, failed: Sequence[FailedAttempt]) -> str:
            return _assemble(parts, documents, failed)

        return Selection(
            parent=parent,
            context_ids=tuple(entry.id for entry in sampled.inspirations),
            label="",
            history_text=parts.history,
            # The package prints four decimals; a model must see progress beyond them.
            system_prompt=f"{system.rstrip()}\n\nThe current program's combined_score, in full "
            f"precision, is {parent.search_score!r}; higher is better.",
            build_prompt=build,
            state={"island": database.island_of(t)},
        )

    async def insert(self, t: int, child: Program, selection: Selection) -> InsertResult:
        self._programs[child.id] = child
        before = set(self._database.inner.programs)
        if self._database.add(child, selection.state["island"]):
            self._migrated.append(t)
        self._follow()
        return InsertResult(
            admitted=child.id in self._programs,
            evicted=tuple(sorted(before - self._programs.keys())),
            new_best=self._database.inner.best_program_id == child.id,
        )

    def _follow(self) -> None:
        """Take note of the copies that the package made and of the programs that it dropped."""
        entries = self._database.inner.programs
        for name, entry in entries.items():
            if name not in self._programs:
                original = self._programs[entry.parent_id]
                self._programs[name] = replace(
                    original,
                    id=name,
                    parent_id=original.id,
                    iteration=entry.iteration_found,
                    context_ids=(),
                    artifacts=self._database.artifacts(name),
                    copy_of=original.id,
                )
        self._programs = {name: self._programs[name] for name in entries}

    async def retained(self) -> Sequence[Program]:
        return list(self._programs.values())

    async def after_iteration(
        self, t: int, child: Program | None, attempts: int, llm: LLM
    ) -> list[Mapping[str, Any]]:
        if t in self._migrated:
            generations = list(self._database.inner.island_generations)
            return [{"kind": "migration", "generations": generations}]
        return []

    async def fingerprint(self) -> str:
        facts = self._database.fingerprint() + self._sampler.digest()
        return hashlib.sha256(facts.encode()).hexdigest()

    async def close(self) -> None:
        """Nothing is open."""


def _assemble(parts: PromptParts, documents: str, failed: Sequence[FailedAttempt]) -> str:
    """The user prompt; without documents and failures it is the package's, byte for byte."""
    failures = "".join(
        f"\n\n## Failed Attempt {number} of This Iteration\nError: {attempt.error}\n"
        f"{fenced(attempt.text[:FAILED_CHARS], '')}"
        for number, attempt in enumerate(failed, start=1)
    )
    section = f"{documents}\n\n" if documents else ""
    return f"{parts.before}{parts.history}{failures}{parts.program}{section}{parts.task}"
