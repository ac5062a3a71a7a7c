"""Where looked-up documents come from (Figure 14), and how old they are (Figure 15).

The unit is a pair of a document (`db_id`) and the iteration that looked it up. It is resolved when
the document's first retrieval is known and earlier; the others are counted and left out.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from analysis.behaviour.dynamics import bin_label, bin_of
from analysis.behaviour.iterations import RunFacts
from analysis.ordering import domain_key, model_key
from analysis.output import CsvFile, Value


@dataclass
class Provenance:
    """Pairs of a domain: by (bin of the retrieval, bin of the look-up), and those left out."""

    bins: Counter[tuple[int, int]] = field(default_factory=Counter)
    resolved: int = 0
    unresolved: int = 0

    @property
    def beyond(self) -> int:
        """Resolved pairs after the last bin."""
        return self.resolved - sum(self.bins.values())


def provenance(chosen: Sequence[RunFacts]) -> dict[str, Provenance]:
    """By domain; a domain without look-ups is absent."""
    found: dict[str, Provenance] = {}
    for run in chosen:
        for iteration in run.iterations:
            if iteration.decision != "look-up":
                continue
            mine = found.setdefault(run.domain, Provenance())
            mine.unresolved += iteration.unresolved
            for looked in iteration.looked_up:
                if looked.first_t is None:
                    mine.unresolved += 1
                    continue
                mine.resolved += 1
                first, then = bin_of(looked.first_t), bin_of(iteration.t)
                if first is not None and then is not None:
                    mine.bins[first, then] += 1
    return dict(sorted(found.items(), key=lambda item: domain_key(item[0])))


def ages(chosen: Sequence[RunFacts]) -> dict[tuple[str, str], list[int]]:
    """Sorted ages in iterations, by (domain, model)."""
    found: dict[tuple[str, str], list[int]] = {}
    for run in chosen:
        mine = list(_ages(run))
        if mine:
            found.setdefault((run.domain, run.model), []).extend(mine)
    order = sorted(found, key=lambda key: (domain_key(key[0]), model_key(key[1])))
    return {key: sorted(found[key]) for key in order}


def _ages(run: RunFacts) -> Iterator[int]:
    for iteration in run.iterations:
        for looked in iteration.looked_up:
            if looked.first_t is not None:
                yield iteration.t - looked.first_t


def provenance_files(chosen: Sequence[RunFacts]) -> list[CsvFile]:
    """Pairs by bins, and counts of those and of what was left out."""
    found = provenance(chosen)
    pairs: list[tuple[Value, ...]] = [
        (domain, bin_label(first), bin_label(then), count)
        for domain, mine in found.items()
        for (first, then), count in sorted(mine.bins.items())
    ]
    return [
        CsvFile("fig14", ("domain", "from_bin", "to_bin", "pairs"), pairs),
        CsvFile("fig14_counts", ("domain", "resolved", "unresolved", "beyond_iteration_100"),
                [(domain, mine.resolved, mine.unresolved, mine.beyond)
                 for domain, mine in found.items()]),
    ]  # fmt: skip


def age_files(chosen: Sequence[RunFacts]) -> list[CsvFile]:
    """Counts of ages, and their medians."""
    found = ages(chosen)
    return [
        CsvFile("fig15", ("domain", "model", "age", "count"),
                [(*key, age, count) for key, mine in found.items()
                 for age, count in sorted(Counter(mine).items())]),
        CsvFile("fig15_medians", ("domain", "model", "pairs", "median_age"),
                [(*key, len(mine), float(statistics.median(mine)))
                 for key, mine in found.items()]),
    ]  # fmt: skip
