"""EvoDuet: a gate, and on retrieve the query loop (methods.md 1.2 to 1.4)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from method.asking import free_text, question
from method.exposure import Ledger
from method.gates import candidates_of, describe_knowledge, gate_trace, resolve
from method.inner import Found, QueryLoop
from method.prompting import template
from method.protocols import (
    Gate,
    GateResult,
    Program,
    Retrieval,
    RunContext,
    Selection,
    Snapshot,
)
from method.rules import KNOWLEDGE_LIMIT, Rules
from method.stats import corrected, member, population_stats

_DATA_ERRORS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What hostile data can raise. Errors of the run itself (a pause, a full disk) pass through."""


@dataclass(frozen=True)
class Analysis:
    """Population observations A (empty when skipped or failed) and the hash of the statistics."""

    text: str = ""
    stats_sha256: str | None = None
    error: str | None = None
    call_id: str | None = None

    def trace(self) -> dict[str, Any] | None:
        """The ``population_analysis`` object of the trace; ``None`` when it was skipped."""
        if self.stats_sha256 is None:
            return None
        return {
            "text": self.text,
            "stats_sha256": self.stats_sha256,
            "call_id": self.call_id,
        }


class EvoDuet:
    """Gate and query loop of one run; decides in every iteration, in order."""

    name = "evoduet"

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._ledger = Ledger()

    async def retrieve(
        self, selection: Selection, snapshot: Snapshot, run: RunContext
    ) -> Retrieval:
        """The iteration's documents and N_t; failures after the decision leave it as it is."""
        gate = await self._gate.decide(selection, snapshot, run)
        trace = gate_trace(gate)
        run.note("gate", trace)
        n_candidates = candidates_of(gate.decision, run.settings.candidates)
        if gate.decision == "look-up":
            documents, _ = resolve(gate.requested_ids, snapshot, run.settings.rules)
            return Retrieval(
                gate.decision, tuple(documents), n_candidates, gate.knowledge, gate=trace
            )
        if gate.decision != "retrieve":
            return Retrieval(gate.decision, (), n_candidates, gate.knowledge, gate=trace)
        analysis, found, errors = await self._find(gate, selection, snapshot, run)
        return Retrieval(
            decision="retrieve",
            documents=found.documents,
            n_candidates=n_candidates,
            knowledge=found.knowledge,
            executed_queries=found.executed_queries,
            rounds=found.rounds,
            gate=trace,
            analysis=analysis.trace(),
            errors=tuple(errors),
        )

    async def _find(
        self, gate: GateResult, selection: Selection, snapshot: Snapshot, run: RunContext
    ) -> tuple[Analysis, Found, list[str]]:
        analysis, knowledge, errors = Analysis(), gate.knowledge, list[str]()
        loop: QueryLoop | None = None
        try:
            analysis = await analyse_population(selection, run)
            if analysis.error:
                errors.append(f"population analysis failed: {analysis.error}")
            if gate.kind != "knowledge":
                described = await describe_knowledge(selection, analysis.text, run)
                knowledge = described.text
                if described.error:
                    errors.append(f"knowledge call failed: {described.error}")
            loop = QueryLoop(selection, snapshot, analysis.text, knowledge, run, self._ledger)
            found = await loop.find()
        except _DATA_ERRORS as error:
            errors.append(f"retrieval_error: {type(error).__name__}: {error}")
            found = loop.given_up() if loop else Found((), knowledge, (), ())
        return analysis, found, errors


async def analyse_population(selection: Selection, run: RunContext) -> Analysis:
    """One call on the statistics of the retained population; skipped when it is empty."""
    payload = statistics_text(await run.retained(), selection.parent, run)
    if not payload:
        return Analysis()
    request = question(
        run,
        "analysis",
        f"Population Statistics:\n\n{payload}",
        system=template("population_analysis.system"),
    )
    answer = await free_text(run, request, KNOWLEDGE_LIMIT)
    sha256 = hashlib.sha256(payload.encode("utf-8", "surrogatepass")).hexdigest()
    return Analysis(answer.text, sha256, answer.error, answer.call_id)


def statistics_text(programs: Sequence[Program], parent: Program, run: RunContext) -> str:
    """The statistics of a population as the rules want them; empty for an empty population.

    Raises :class:`~method.scaffolds.packages.PackageProblem` when EvoX's form is wanted and the
    package that writes it is missing.
    """
    rules: Rules = run.settings.rules
    if rules.render == "evox":
        from method.scaffolds.evox_strategies import population_text

        released = rules.stats == "released"
        return population_text([p for p in programs if released or p.copy_of is None])
    if rules.stats == "released":
        return population_stats([member(p) for p in programs], member(parent)).to_json()
    members, original, corrections = corrected(programs, parent, run.settings.candidates, run.draws)
    return population_stats(members, original, corrections=corrections).to_json()
