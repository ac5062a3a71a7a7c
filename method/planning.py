"""What a run may cost at worst, before the first paid call (methods.md 1.9)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from method.config import RunConfig
from method.manifest import resolved
from method.scaffolds.options import EvoXOptions, check_options

SEQUENTIAL_CALLS, SEQUENTIAL_SEARCHES = 12, 6
JOINT_CALLS, JOINT_SEARCHES = 4, 3
"""Of one sample; a model may ask for several searches in one round, these are not bounded."""

STRATEGY_CALLS = 5
"""Of one replacement of EvoX's strategy: the population and the earlier strategies are described,
and a strategy is asked for up to three times."""


@dataclass(frozen=True)
class Plan:
    """Upper bounds of a whole run, retries of failed calls excluded."""

    iterations: int
    model_calls: int
    searches: int
    evaluations: int

    def cost_usd(self, per_call: float | None, per_search: float | None) -> float | None:
        """The bound in US dollars at given prices; ``None`` where one is unknown."""
        if (per_call is None and self.model_calls) or (per_search is None and self.searches):
            return None
        return self.model_calls * (per_call or 0.0) + self.searches * (per_search or 0.0)

    def to_json(self) -> Mapping[str, int]:
        """The numbers by name."""
        return {
            "iterations": self.iterations,
            "model_calls": self.model_calls,
            "searches": self.searches,
            "evaluations": self.evaluations,
        }


def plan(config: RunConfig) -> Plan:
    """The bounds of a run with this configuration. Raises what looking up its task raises.

    A method that proposes programs by itself makes no call that we know of. Calls of a scaffold or
    retriever of another distribution are not known either and not counted.
    """
    chosen = resolved(config)
    assert chosen.iterations is not None
    if chosen.proposer:
        return Plan(chosen.iterations, 0, 0, 1 + chosen.iterations)
    assert chosen.max_attempts is not None
    samples = chosen.max_attempts * chosen.candidates
    calls, searches = _retrieval(chosen, samples)
    per_iteration = calls if chosen.retriever == "joint" else calls + samples
    return Plan(
        iterations=chosen.iterations,
        model_calls=chosen.iterations * per_iteration + _strategies(chosen),
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


def _strategies(config: RunConfig) -> int:
    """Model calls of EvoX for itself: guide texts, one description of the task, strategies.

    A strategy stays for at least a window of iterations, and the last is asked for before T.
    """
    if config.scaffold != "evox":
        return 0
    options = check_options(config.scaffold, config.scaffold_options)
    assert isinstance(options, EvoXOptions)
    assert config.iterations is not None
    window = options.window or max(1, math.floor(0.10 * config.iterations))
    replacements = max(0, config.iterations - 1) // window
    guides = int(options.guides == "generated")
    return guides + min(1, replacements) + STRATEGY_CALLS * replacements
