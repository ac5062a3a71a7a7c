"""What becomes of iterations with and without documents (Figure 16).

The first 100 iterations count, but for those that an external error spoilt. Documents are those
read back from the prompt. An evaluation failed when the iteration has no child and a candidate of
its last attempt reached the evaluator; without a child and without such a candidate there was no
program. Retries hide failures, so the share of first attempts without a valid candidate stands
beside. An iteration whose record tells neither what stood in the prompt nor how it ended is left
out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from analysis.behaviour.dynamics import HORIZON
from analysis.behaviour.iterations import EVALUATION_FAILED, IMPROVED, OUTCOMES, Iteration, RunFacts
from analysis.ordering import model_key
from analysis.output import CsvFile, Value
from analysis.statistics.proportions import bounds, share

Setting = tuple[str, int | None]
"""Model and N."""


@dataclass
class Outcomes:
    """Iterations by outcome, and how their first attempts ended."""

    by_outcome: Counter[str] = field(default_factory=Counter)
    first_attempts: int = 0
    failed_first: int = 0
    failed_first_evaluation: int = 0

    @property
    def n(self) -> int:
        """Iterations."""
        return sum(self.by_outcome.values())


def outcomes(chosen: Sequence[RunFacts]) -> dict[tuple[Setting, bool], Outcomes]:
    """By model, N and whether documents stood in the prompt; both rows for every setting."""
    settings = sorted(
        {(run.model, run.n) for run in chosen}, key=lambda key: (model_key(key[0]), key[1] or 0)
    )
    found = {(setting, docs): Outcomes() for setting in settings for docs in (True, False)}
    for run in chosen:
        for iteration in run.iterations:
            if not in_figure(iteration) or iteration.exposed is None:
                continue
            if iteration.outcome not in OUTCOMES:
                continue
            mine = found[(run.model, run.n), iteration.exposed]
            mine.by_outcome[iteration.outcome] += 1
            if iteration.failed_first is not None:
                mine.first_attempts += 1
                mine.failed_first += iteration.failed_first
                mine.failed_first_evaluation += iteration.failed_first_evaluation
    return found


def in_figure(iteration: Iteration) -> bool:
    """Whether an iteration is one of the first 100 that no external error spoilt."""
    return iteration.t <= HORIZON and not iteration.excluded


def files(chosen: Sequence[RunFacts]) -> list[CsvFile]:
    """Counts of outcomes, and rates with intervals."""
    found = outcomes(chosen)
    counts: list[tuple[Value, ...]] = []
    rates: list[tuple[Value, ...]] = []
    for ((model, n), docs), mine in found.items():
        where = (model, n, "yes" if docs else "no")
        counts += [(*where, outcome, mine.by_outcome[outcome]) for outcome in OUTCOMES]
        for name, k, n_known in (
            (EVALUATION_FAILED, mine.by_outcome[EVALUATION_FAILED], mine.n),
            ("first_attempt_failed", mine.failed_first, mine.first_attempts),
            ("first_attempt_evaluation_failed", mine.failed_first_evaluation, mine.first_attempts),
            (IMPROVED, mine.by_outcome[IMPROVED], mine.n),
        ):
            rates.append((*where, name, k, n_known, share(k, n_known), *bounds(k, n_known)))
    return [
        CsvFile("fig16", ("model", "N", "docs", "outcome", "count"), counts),
        CsvFile("fig16_rates", ("model", "N", "docs", "rate", "k", "n", "share", "lo", "hi"),
                rates),
    ]  # fmt: skip
