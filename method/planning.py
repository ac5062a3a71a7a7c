"""What a run may cost at worst, before the first paid call (methods.md 1.9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from method.config import RunConfig
from method.runs import resolved

SEQUENTIAL_CALLS, SEQUENTIAL_SEARCHES = 12, 6
JOINT_CALLS, JOINT_SEARCHES = 4, 3
"""Of one sample; a model may ask for several searches in one round, these are not bounded."""


@dataclass(frozen=True)
class Plan:
    """Upper bounds of a whole run, retries of failed calls excluded."""

    iterations: int
    model_calls: int
    searches: int
    evaluations: int

    def cost_usd(self, per_call: float | None, per_search: float | None) -> float | None:
        """The bound in US dollars at given prices; ``None`` where one is unknown."""
        if per_call is None or (per_search is None and self.searches):
            return None
        return self.model_calls * per_call + self.searches * (per_search or 0.0)

    def to_json(self) -> Mapping[str, int]:
        """The numbers by name."""
        return {
            "iterations": self.iterations,
            "model_calls": self.model_calls,
            "searches": self.searches,
            "evaluations": self.evaluations,
        }


def plan(config: RunConfig) -> Plan:
    """The bounds of a run with this configuration. Raises what looking up its task raises."""
    chosen = resolved(config)
    assert chosen.iterations is not None
    samples = chosen.max_attempts * chosen.candidates
    calls, searches = _retrieval(chosen, samples)
    per_iteration = calls if chosen.retriever == "joint" else calls + samples
    return Plan(
        iterations=chosen.iterations,
        model_calls=chosen.iterations * per_iteration,
        searches=chosen.iterations * searches,
        evaluations=1 + chosen.iterations * samples,
    )


def _retrieval(config: RunConfig, samples: int) -> tuple[int, int]:
    """Model calls and searches of one iteration beside its plain generations."""
    if config.retriever == "evoduet":
        return config.rounds * config.queries + config.rounds + 2, config.rounds * config.queries
    if config.retriever == "sequential":
        return SEQUENTIAL_CALLS, SEQUENTIAL_SEARCHES
    if config.retriever == "joint":
        return JOINT_CALLS * samples, JOINT_SEARCHES * samples
    return 0, 0
