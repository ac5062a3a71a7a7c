"""Identifier fixation: one pull request, issue or paper in query after query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from analysis.auditing.facts import Facts
from analysis.auditing.findings import IDENTIFIER_FIXATION, Flag
from analysis.auditing.queries import identifiers

SHARE = 0.3
RETRIEVALS = 10


def fixation(run: Iterable[Facts]) -> list[Flag]:
    """One flag for each identifier in at least 30 % of the executed queries of a run's retrievals.

    Runs with fewer than ten retrievals have none. ``t`` is where the identifier came up first.
    """
    retrievals = [facts for facts in run if facts.searches]
    if len(retrievals) < RETRIEVALS:
        return []
    queries = [(facts.t, query) for facts in retrievals for query in facts.queries]
    counts: Counter[str] = Counter()
    first: dict[str, int] = {}
    for t, query in queries:
        for name in identifiers(query):
            counts[name] += 1
            first.setdefault(name, t)
    return [
        Flag(
            IDENTIFIER_FIXATION,
            first[name],
            f"{name} in {count} of {len(queries)} queries of {len(retrievals)} retrievals "
            f"({count / len(queries):.0%})",
        )
        for name, count in sorted(counts.items())
        if count >= SHARE * len(queries)
    ]
