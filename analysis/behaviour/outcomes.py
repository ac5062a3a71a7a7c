"""What becomes of iterations with and without documents (Figure 16).

The first 100 iterations count, but for those that an external error spoilt. Documents are those
read back from the prompt. An evaluation failed when the iteration has no child and a candidate of
its last attempt reached the evaluator; without a child and without such a candidate there was no
program. Retries hide failures, so the share of first attempts without a valid candidate stands
beside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from analysis.behaviour.dynamics import HORIZON
from analysis.behaviour.iterations import EVALUATION_FAILED, IMPROVED, OUTCOMES, RunFacts
from analysis.ordering import model_key
from analysis.output import CsvFile, Value
from analysis.statistics.proportions import bounds, share

Setting = tuple[str, int | None]
"""Model and N."""


@dataclass
class Outcomes:
    """Iterations by outcome, and how their first attempts ended."""

    by_outcome: Counter[str] = field(default_factory=Counter)
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
            if iteration.t > HORIZON or iteration.excluded:
                continue
            mine = found[(run.model, run.n), iteration.exposed]
            mine.by_outcome[iteration.outcome] += 1
            mine.failed_first += iteration.failed_first
            mine.failed_first_evaluation += iteration.failed_first_evaluation
    return found


def files(chosen: Sequence[RunFacts]) -> list[CsvFile]:
    """Counts of outcomes, and rates with intervals."""
    found = outcomes(chosen)
    counts: list[tuple[Value, ...]] = []
    rates: list[tuple[Value, ...]] = []
    for ((model, n), docs), mine in found.items():
        where = (model, n, "yes" if docs else "no")
        counts += [(*where, outcome, mine.by_outcome[outcome]) for outcome in OUTCOMES]
        for name, k in (
            (EVALUATION_FAILED, mine.by_outcome[EVALUATION_FAILED]),
            ("first_attempt_failed", mine.failed_first),
            ("first_attempt_evaluation_failed", mine.failed_first_evaluation),
            (IMPROVED, mine.by_outcome[IMPROVED]),
        ):
            rates.append((*where, name, k, mine.n, share(k, mine.n), *bounds(k, mine.n)))
    return [
        CsvFile("fig16", ("model", "N", "docs", "outcome", "count"), counts),
        CsvFile("fig16_rates", ("model", "N", "docs", "rate", "k", "n", "share", "lo", "hi"),
                rates),
    ]  # fmt: skip
