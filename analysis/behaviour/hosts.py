"""Which hosts the searches meet (Figures 11 and 12).

A host counts once in an iteration, in lower case and without `www.`. The denominator is all
retrieval iterations of the domain, also those that returned nothing. Returned is what the searches
brought, retained what the generator was given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from analysis.behaviour.iterations import RunFacts
from analysis.ordering import domain_key
from analysis.output import CsvFile, Value


@dataclass
class Exposure:
    """Retrieval iterations of a domain, and in how many of them each host was met."""

    retrievals: int = 0
    returned: Counter[str] = field(default_factory=Counter)
    retained: Counter[str] = field(default_factory=Counter)


def exposure(chosen: Sequence[RunFacts]) -> dict[str, Exposure]:
    """By domain, those without a retrieval left out."""
    found: dict[str, Exposure] = {}
    for run in chosen:
        for iteration in run.iterations:
            if iteration.executed != "retrieve":
                continue
            mine = found.setdefault(run.domain, Exposure())
            mine.retrievals += 1
            mine.returned.update(iteration.hosts)
            mine.retained.update(iteration.retained_hosts)
    return dict(sorted(found.items(), key=lambda item: domain_key(item[0])))


def leading(counts: Counter[str], top: int | None = None) -> list[tuple[str, int]]:
    """Hosts by falling count, then by name."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:top]


def files(chosen: Sequence[RunFacts]) -> list[CsvFile]:
    """All hosts of returned and of retained documents; `hosts_n` has denominators."""
    found = exposure(chosen)
    columns = ("domain", "host", "iterations", "share")
    returned: list[tuple[Value, ...]] = []
    retained: list[tuple[Value, ...]] = []
    for domain, mine in found.items():
        n = mine.retrievals
        returned += [(domain, host, k, k / n) for host, k in leading(mine.returned)]
        retained += [(domain, host, k, k / n) for host, k in leading(mine.retained)]
    return [
        CsvFile("hosts", columns, returned),
        CsvFile("hosts_retained", columns, retained),
        CsvFile("hosts_n", ("domain", "retrieval_iterations", "hosts", "hosts_retained"),
                [(domain, mine.retrievals, len(mine.returned), len(mine.retained))
                 for domain, mine in found.items()]),
    ]  # fmt: skip
