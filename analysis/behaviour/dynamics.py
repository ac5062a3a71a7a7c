"""What is decided when (Figure 13): shares of all slots in bins of ten iterations.

The denominator is every scheduled slot: one without a record counts as missing, like one whose
gate did not answer; no-op and malformed answers stay in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from analysis.behaviour.iterations import RunFacts
from analysis.ordering import domain_key, model_key
from analysis.output import CsvFile, Value
from analysis.statistics.proportions import bounds

WIDTH, BINS = 10, 10
HORIZON = WIDTH * BINS
"""Iterations that the paper's figures show."""
SHOWN = ("retrieve", "look-up", "missing")


@dataclass
class Slots:
    """Counts of a bin."""

    scheduled: int = 0
    retrieve: int = 0
    lookup: int = 0
    missing: int = 0

    @property
    def counts(self) -> tuple[int, int, int]:
        """In the order of :data:`SHOWN`."""
        return (self.retrieve, self.lookup, self.missing)

    @property
    def shares(self) -> tuple[float, ...]:
        """Of the scheduled slots."""
        return tuple(count / self.scheduled for count in self.counts)


def bin_of(t: int) -> int | None:
    """Place of an iteration's bin; ``None`` beyond the last."""
    return (t - 1) // WIDTH if 1 <= t <= HORIZON else None


def bin_label(place: int) -> str:
    """`1-10`, `11-20`, ..."""
    return f"{place * WIDTH + 1}-{(place + 1) * WIDTH}"


def dynamics(chosen: Sequence[RunFacts]) -> dict[tuple[str, str], dict[int, Slots]]:
    """Counts by (domain, model) and bin; bins without a scheduled slot are absent."""
    found: dict[tuple[str, str], dict[int, Slots]] = {}
    order = sorted(chosen, key=lambda run: (domain_key(run.domain), model_key(run.model)))
    for run in order:
        bins = found.setdefault((run.domain, run.model), {})
        decisions = {i.t: i.decision for i in run.iterations}
        for t in range(1, min(run.slots, HORIZON) + 1):
            place = bin_of(t)
            assert place is not None
            slots = bins.setdefault(place, Slots())
            decision = decisions.get(t) or "missing"
            slots.scheduled += 1
            slots.retrieve += decision == "retrieve"
            slots.lookup += decision == "look-up"
            slots.missing += decision == "missing"
    return {key: dict(sorted(bins.items())) for key, bins in found.items()}


def files(chosen: Sequence[RunFacts]) -> list[CsvFile]:
    """Shares by domain, model and bin, and their counts with intervals."""
    found = dynamics(chosen)
    shares: list[tuple[Value, ...]] = []
    counts: list[tuple[Value, ...]] = []
    for (domain, model), bins in found.items():
        for place, slots in bins.items():
            where = (domain, model, bin_label(place))
            shares.append((*where, *slots.shares))
            for name, k in zip(SHOWN, slots.counts, strict=True):
                counts.append((*where, name, k, slots.scheduled, *bounds(k, slots.scheduled)))
    return [
        CsvFile("fig13", ("domain", "model", "bin", "retrieve", "lookup", "missing"), shares),
        CsvFile("fig13_counts", ("domain", "model", "bin", "decision", "k", "slots", "lo", "hi"),
                counts),
    ]  # fmt: skip
