"""Improvement rates among parents of like rank: poor parents are easier to beat.

The rank of a parent is the share of the programs known to its run (the initial program and the
children before the iteration) that score strictly higher.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence

from analysis.behaviour.decisions import GROUPS, RATE_COLUMNS, Tally, group_of
from analysis.behaviour.iterations import Iteration, RunFacts
from analysis.output import CsvFile, Value

STRATA = ("best", "upper quarter", "second quarter", "lower half")
_EDGES = (0.0, 0.25, 0.5)


def ranked(run: RunFacts) -> Iterator[tuple[Iteration, str]]:
    """Iterations of a run with the stratum of their parents."""
    first = run.iterations[0].best_before
    scores = [] if first is None else [first]
    for iteration in run.iterations:
        if iteration.parent is None:
            continue
        better = len(scores) - bisect_right(scores, iteration.parent)
        rank = better / max(1, len(scores) - 1)
        yield iteration, STRATA[sum(rank > edge for edge in _EDGES)]
        if iteration.child is not None:
            insort(scores, iteration.child)


def file(chosen: Sequence[RunFacts]) -> CsvFile:
    """Rates by stratum and group, and standardised to one mix of strata.

    The mix is that of all iterations with a scored child, over the strata in which every group
    that occurs has one; ``n`` of a standardised row counts those of the group in these strata.
    """
    cells = {(stratum, group): Tally() for stratum in STRATA for group in GROUPS}
    for run in chosen:
        for iteration, stratum in ranked(run):
            group = group_of(iteration)
            if group is not None:
                cells[stratum, group].add(iteration)
    rows: list[tuple[Value, ...]] = [
        (stratum, group, *tally.row(tally.scored)) for (stratum, group), tally in cells.items()
    ]
    occurring = [g for g in GROUPS if any(cells[stratum, g].scored for stratum in STRATA)]
    common = [s for s in STRATA if occurring and all(cells[s, g].scored for g in occurring)]
    weights = {s: sum(cells[s, g].scored for g in occurring) for s in common}
    for group in occurring if common else ():
        mine = {stratum: cells[stratum, group] for stratum in common}
        total = sum(weights.values())
        rates = (
            sum(weights[s] * getattr(tally, name) / tally.scored for s, tally in mine.items())
            / total
            for name in ("parent_improved", "new_best")
        )
        counts = (
            sum(getattr(tally, name) for tally in mine.values())
            for name in ("scored", "parent_improved", "new_best")
        )
        rows.append(("standardised", group, *counts, *rates))
    return CsvFile("fig8_parent_rank", ("parent_rank", "group", *RATE_COLUMNS), rows)
