"""Gates: does this iteration need outside knowledge? (methods.md 1.3)

The knowledge gate asks the model. The others decide by a rule, never look up, and leave the
knowledge state to :func:`describe_knowledge`, which the retriever calls after the population
analysis.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from method.asking import FreeText, ask, free_text, question
from method.parsing.json_answers import GateAnswer, Read, read_gate
from method.prompting import analysis_field, fill, history_field, program_field
from method.protocols import (
    Decision,
    Gate,
    GateResult,
    GivenDocument,
    Program,
    RunContext,
    Selection,
    Snapshot,
)
from method.rules import KNOWLEDGE_LIMIT, Rules

GateKind = Literal["knowledge", "random", "stagnation", "always", "never"]

GAIN = 0.01
"""Gain of the best search score over the last observation that counts as progress."""


def candidates_of(decision: Decision, candidates: int) -> int:
    """N_t: one candidate where nothing is looked up or retrieved."""
    return candidates if decision in ("look-up", "retrieve") else 1


# --- the knowledge gate ------------------------------------------------------------------------


class KnowledgeGate:
    """One model call on program, history and search database; nothing else is shown."""

    kind = "knowledge"

    async def decide(self, selection: Selection, snapshot: Snapshot, run: RunContext) -> GateResult:
        """The decision; ``missing`` when the call failed (under ``robust`` also when malformed)."""
        rules: Rules = run.settings.rules
        prompt = fill(
            "gate.user",
            {
                "evolutionary_history": history_field(selection.history_text, rules),
                "parent_program": parent_field(selection, rules),
                "search_database": snapshot.text,
            },
        )
        request = question(run, "gate", prompt, schema=GateAnswer)
        (answered,) = await ask(run, request, lambda text: read_gate(text, rules))
        completion = answered.completion
        if answered.read is None:
            flags = ("call_failed", f"gate call failed: {completion.error}")
            return GateResult("missing", flags=flags, kind=self.kind, call_id=completion.call_id)
        result = gate_result(answered.read, completion.text, snapshot, rules)
        return replace(result, call_id=completion.call_id)


def gate_result(read: Read[GateAnswer], text: str, snapshot: Snapshot, rules: Rules) -> GateResult:
    """What a gate's answer means: fallbacks of malformed ones, and the documents of a look-up."""
    answer = read.answer or GateAnswer()
    flags = list(read.flags)
    decision: Decision
    if answer.decision is None:
        decision = rules.gate_malformed
        flags += ["malformed", read.error]
    else:
        decision = answer.decision
    resolved, unresolved = resolve(answer.search_document_ids, snapshot, rules)
    if decision == "look-up" and not resolved:
        flags.append("no_known_document")
        decision = "missing" if rules.lookup_unknown == "missing" else decision
    return GateResult(
        decision=decision,
        knowledge=answer.knowledge_state_analysis[:KNOWLEDGE_LIMIT],
        reasoning=answer.reasoning,
        raw_decision=answer.raw_decision,
        requested_ids=answer.search_document_ids,
        resolved_ids=tuple(document.db_id or "" for document in resolved),
        unresolved_ids=unresolved,
        malformed=answer.decision is None,
        would_have_parsed=_would_have_parsed(text, rules) if answer.decision is None else None,
        flags=tuple(flags),
        kind="knowledge",
    )


def resolve(
    ids: Sequence[str], snapshot: Snapshot, rules: Rules
) -> tuple[list[GivenDocument], tuple[str, ...]]:
    """The latest stored versions that the ids name, each once and in order, and the unknown ids."""
    found: dict[str, GivenDocument] = {}
    unknown: list[str] = []
    for name in ids:
        visible = rules.lookup_scope == "database" or name in snapshot.visible_ids
        document = snapshot.documents.get(name) if visible else None
        if document is None:
            unknown.append(name)
        else:
            found.setdefault(document.db_id or name, document)
    return list(found.values()), tuple(unknown)


def _would_have_parsed(text: str, rules: Rules) -> Mapping[str, Any] | None:
    """What the parser chain reads in an answer that the strict rules refuse."""
    if rules.gate_parser == "chain":
        return None
    answer = read_gate(text, rules.model_copy(update={"gate_parser": "chain"})).answer
    if answer is None or answer.decision is None:
        return None
    return {"decision": answer.decision, "requested_ids": list(answer.search_document_ids)}


def gate_trace(result: GateResult) -> dict[str, Any]:
    """The ``gate`` object of the trace (methods.md section 3)."""
    return {
        "kind": result.kind,
        "decision": result.decision,
        "raw_decision": result.raw_decision,
        "malformed": result.malformed,
        "would_have_parsed": result.would_have_parsed,
        "executed": None if result.decision == "missing" else result.decision,
        "knowledge": result.knowledge,
        "reasoning": result.reasoning,
        "requested_ids": list(result.requested_ids),
        "resolved_ids": list(result.resolved_ids),
        "unresolved_ids": list(result.unresolved_ids),
        "flags": list(result.flags),
        "call_id": result.call_id,
    }


# --- gates without a model ---------------------------------------------------------------------


class RandomGate:
    """Retrieves with probability ``p``; stateless, so a resumed run draws the same."""

    kind = "random"

    def __init__(self, p: float = 0.5) -> None:
        if not 0 <= p <= 1:
            raise ValueError(f"the random gate's probability must lie in [0, 1], not {p}")
        self.p = p

    async def decide(self, selection: Selection, snapshot: Snapshot, run: RunContext) -> GateResult:
        """Retrieve or no-op."""
        chosen = draws_retrieve(run.seed, run.t, self.p)
        return GateResult("retrieve" if chosen else "no-op", kind=self.kind)


def draws_retrieve(seed: int, t: int, p: float) -> bool:
    """The draw of one iteration, the release's stream for each (seed, t)."""
    return random.Random(f"{seed}:{t}").random() < p


class StagnationCounter:
    """Counts iterations without progress of the best search score; fires and starts anew.

    Args:
        window: iterations without progress after which it fires.
        relative: the gain is measured relative to the magnitude of the last observation.
    """

    def __init__(self, window: int, *, relative: bool = False) -> None:
        self.window, self.relative = window, relative
        self.count = 0
        self.last: float | None = None

    def observe(self, best: float | None) -> bool:
        """Whether this observation makes it fire; the first one is only the baseline."""
        if best is None or not math.isfinite(best):
            return False
        last, self.last = self.last, best
        if last is None:
            return False
        threshold = GAIN * abs(last) if self.relative else GAIN
        self.count = 0 if best - last > threshold else self.count + 1
        if self.count < self.window:
            return False
        self.count = 0
        return True


def stagnation_window(iterations: int) -> int:
    """A tenth of the run, at least one iteration."""
    return max(1, int(0.10 * iterations))


class StagnationGate:
    """Retrieves when the best search score of the population has not moved for a window.

    Needs one decision in every iteration, in order. ``window`` is by default a tenth of T.
    """

    kind = "stagnation"

    def __init__(self, window: int | None = None, *, relative: bool = False) -> None:
        if window is not None and window < 1:
            raise ValueError(f"the stagnation window must be at least 1, not {window}")
        self._window, self._relative = window, relative
        self._counter: StagnationCounter | None = None

    async def decide(self, selection: Selection, snapshot: Snapshot, run: RunContext) -> GateResult:
        """Observe the population once; retrieve or no-op."""
        if self._counter is None:
            window = self._window or stagnation_window(run.settings.iterations)
            self._counter = StagnationCounter(window, relative=self._relative)
        fires = self._counter.observe(best_score(await run.retained()))
        state = f"counter {self._counter.count} of window {self._counter.window}"
        return GateResult("retrieve" if fires else "no-op", reasoning=state, kind=self.kind)


def best_score(programs: Sequence[Program]) -> float | None:
    """The best finite search score."""
    scores = (program.search_score for program in programs)
    return max((score for score in scores if math.isfinite(score)), default=None)


class FixedGate:
    """Retrieves in every iteration (``always``) or in none (``never``)."""

    def __init__(self, kind: Literal["always", "never"]) -> None:
        self.kind: str = kind
        self._decision: Decision = "retrieve" if kind == "always" else "no-op"

    async def decide(self, selection: Selection, snapshot: Snapshot, run: RunContext) -> GateResult:
        """The same decision every time."""
        return GateResult(self._decision, kind=self.kind)


def make_gate(kind: GateKind, **options: Any) -> Gate:
    """A gate by name. Options: ``p`` of random, ``window`` and ``relative`` of stagnation.

    Raises ``ValueError`` for an unknown kind or value, ``TypeError`` for an option it lacks.
    """
    makers: dict[str, Callable[..., Gate]] = {
        "knowledge": KnowledgeGate,
        "random": RandomGate,
        "stagnation": StagnationGate,
        "always": lambda: FixedGate("always"),
        "never": lambda: FixedGate("never"),
    }
    if kind not in makers:
        raise ValueError(f"unknown gate {kind!r}; choose one of {', '.join(makers)}")
    return makers[kind](**options)


# --- knowledge state without a knowledge gate --------------------------------------------------


async def describe_knowledge(selection: Selection, analysis: str, run: RunContext) -> FreeText:
    """K^0 for the gates that ask no model: one call on program, history and analysis."""
    rules: Rules = run.settings.rules
    prompt = fill(
        "knowledge_state.user",
        {
            "parent_program": parent_field(selection, rules),
            "evolutionary_history": history_field(selection.history_text, rules),
            "population_state_analysis": analysis_field(analysis, rules),
        },
    )
    return await free_text(run, question(run, "analysis", prompt), KNOWLEDGE_LIMIT)


def parent_field(selection: Selection, rules: Rules) -> str:
    """The parent's source as analysis prompts show it."""
    return program_field(selection.parent.code, selection.parent.language, rules)
