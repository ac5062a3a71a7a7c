"""Figure 6: EvoDuet against the plain scaffold, by the best run of each cell."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from analysis.binning import LOW
from analysis.gains import anchors_of, comparisons
from analysis.ordering import domain_key, in_order
from analysis.published import Published

NEARLY_SOLVED = 95.0
"""Baseline NDG from which on a task counts as nearly solved."""

DROP = 5.0
"""A loss of more NDG points than this counts as a decline."""

_EQUAL = 1e-9


@dataclass(frozen=True)
class Pair:
    """NDG of both methods on one task, with one model and one number of candidates."""

    model: str
    n: int
    task_id: str
    domain: str
    baseline: float
    evoduet: float

    @property
    def gain(self) -> float:
        """NDG points that EvoDuet adds."""
        return self.evoduet - self.baseline


def pairs(data: Published) -> list[Pair]:
    """One pair for each task and setting that has both methods."""
    return [
        Pair(
            c.baseline.model, c.baseline.n, c.baseline.task_id, c.baseline.domain,
            anchors_of(data, c.baseline).gain(c.baseline.score.best).value,
            anchors_of(data, c.evoduet).gain(c.evoduet.score.best).value,
        )
        for c in comparisons(data.scores)
    ]  # fmt: skip


@dataclass(frozen=True)
class SettingMeans:
    """Means over tasks of one setting: a model and N."""

    model: str
    n: int
    baseline: float
    evoduet: float
    n_tasks: int

    @property
    def delta(self) -> float:
        """Difference of the means."""
        return self.evoduet - self.baseline


def by_setting(found: Sequence[Pair]) -> list[SettingMeans]:
    """Panel (a)."""
    rows = []
    for model, n in settings(found):
        mine = [pair for pair in found if (pair.model, pair.n) == (model, n)]
        baseline, evoduet = (fmean(p.baseline for p in mine), fmean(p.evoduet for p in mine))
        rows.append(SettingMeans(model, n, baseline, evoduet, len(mine)))
    return rows


def settings(found: Sequence[Pair]) -> list[tuple[str, int]]:
    """Models and N that occur, in order."""
    models = in_order(pair.model for pair in found)
    return sorted({(p.model, p.n) for p in found}, key=lambda s: (models.index(s[0]), s[1]))


@dataclass(frozen=True)
class DomainDelta:
    """Mean gain over the tasks of a domain, in one setting."""

    domain: str
    model: str
    n: int
    delta: float


def by_domain(found: Sequence[Pair]) -> list[DomainDelta]:
    """Panel (b)."""
    rows = []
    for domain in sorted({pair.domain for pair in found}, key=domain_key):
        for model, n in settings(found):
            gains = [p.gain for p in found if (p.domain, p.model, p.n) == (domain, model, n)]
            if gains:
                rows.append(DomainDelta(domain, model, n, fmean(gains)))
    return rows


@dataclass(frozen=True)
class DomainSummary:
    """Mean over settings of a domain's deltas; how many settings gain and how many lose."""

    domain: str
    mean_delta: float
    n_up: int
    n_down: int


def domain_summaries(rows: Sequence[DomainDelta]) -> list[DomainSummary]:
    """Panel (b), over settings."""
    found = []
    for domain in dict.fromkeys(row.domain for row in rows):
        deltas = [row.delta for row in rows if row.domain == domain]
        up, down = (sum(s * delta > _EQUAL for delta in deltas) for s in (1, -1))
        found.append(DomainSummary(domain, fmean(deltas), up, down))
    return found


def summary(found: Sequence[Pair]) -> dict[str, float | int | None]:
    """Panel (c) in numbers: correlation, what happens to nearly solved and to unsolved cases."""
    solved = [pair for pair in found if pair.baseline >= NEARLY_SOLVED]
    low = [pair for pair in found if pair.baseline < LOW]
    raised = [pair.gain for pair in low if pair.evoduet > LOW]
    return {
        "n": len(found),
        "pearson_r": _correlation([p.baseline for p in found], [p.gain for p in found]),
        "n_ge95": len(solved),
        "n_ge95_drop_gt5": sum(pair.gain < -DROP for pair in solved),
        "n_lt5": len(low),
        "n_lt5_raised": len(raised),
        "median_raised": statistics.median(raised) if raised else None,
    }


def _correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    if len(x) < 2 or len(set(x)) == 1 or len(set(y)) == 1:
        return None
    return statistics.correlation(x, y)
