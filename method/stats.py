"""Statistics of the retained population for the population analysis (methods.md 1.7)."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from method.protocols import Draws, Program

SCHEMA = "population_statistics_v1"

_SCOPE = {
    "population": "programs that the population holds now; discarded attempts are not in it",
    "trace_order": "by iteration, programs without one first, then by id",
    "global_outcome": "compared with the best score of the rows before it, in trace order",
    "parent_score": "looked up among all retained programs; null when the parent is gone",
    "score_statistics": "over the programs that have a finite score",
    "unique_scores": "number of different scores",
    "missing_values": "null where a value is not known; nothing is estimated",
}
_SELECTION_SCOPE = "over the rows of recent_trace; a context id counts once for each program"


class Member(NamedTuple):
    """A program as the statistics see it; ``None`` for what is not known."""

    id: str
    score: float | None
    iteration: int | None = None
    parent_id: str | None = None
    context_ids: tuple[str, ...] = ()
    label: str = ""


@dataclass(frozen=True)
class Corrections:
    """What ``stats: corrected`` adds to the payload (1.7 b).

    ``n_candidates``: N_t of this iteration; ``draws``: what the iterations before it drew.
    """

    copies_left_out: int
    n_candidates: int
    labels: Mapping[str, int]
    draws: Draws

    def payload(self) -> dict[str, Any]:
        """The added keys; labels only if the scaffold uses any."""
        children, invalid = self.draws.children, self.draws.invalid
        added: dict[str, Any] = {
            "copies_left_out": self.copies_left_out,
            "candidates_per_iteration": self.n_candidates,
            "children_drawn": children,
            "invalid_children": invalid,
            "invalid_children_rate": invalid / children if children else None,
        }
        return {**added, "labels": dict(self.labels)} if self.labels else added

    def row(self, iteration: int | None) -> dict[str, Any]:
        """The added key of a trace row: of how many candidates the program was the best."""
        known = self.draws.planned.get(-1 if iteration is None else iteration)
        return {"candidates": known}


@dataclass(frozen=True)
class PopulationStats:
    """The payload; ``None`` for an empty population."""

    payload: Mapping[str, Any] | None

    def to_json(self) -> str:
        """Compact JSON, non-ASCII kept; empty text for an empty population."""
        if self.payload is None:
            return ""
        return json.dumps(self.payload, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def member(program: Program) -> Member:
    """The statistics' view of a program; a score that is not finite counts as missing."""
    score = float(program.search_score)
    return Member(
        program.id,
        score if math.isfinite(score) else None,
        program.iteration,
        program.parent_id,
        tuple(program.context_ids),
        program.label,
    )


def corrected(
    programs: Sequence[Program], parent: Program, n_candidates: int, draws: Draws
) -> tuple[list[Member], Member, Corrections]:
    """The programs without the copies that a scaffold made of them, and the parent.

    Who descends from a copy, was shown one, or is one, counts with the original.
    """
    original = {p.id: p.copy_of for p in (*programs, parent) if p.copy_of is not None}

    def resolved(name: str) -> str:
        seen: set[str] = set()
        while name in original and name not in seen:
            seen.add(name)
            name = original[name]
        return name

    members = [
        member(p)._replace(
            parent_id=None if p.parent_id is None else resolved(p.parent_id),
            context_ids=tuple(resolved(name) for name in p.context_ids),
        )
        for p in programs
        if p.copy_of is None
    ]
    labels = Counter(m.label for m in members if m.label)
    corrections = Corrections(len(programs) - len(members), n_candidates, labels, draws)
    return members, member(parent)._replace(id=resolved(parent.id)), corrections


def population_stats(
    retained: Sequence[Member],
    parent: Member | None,
    recent_k: int = 20,
    top: int = 20,
    corrections: Corrections | None = None,
) -> PopulationStats:
    """The statistics payload of the retained programs.

    Args:
        retained: the population; ids are distinct.
        parent: the selected parent, which may have left the population.
        recent_k: rows of ``recent_trace``, the newest.
        top: rows of ``top_programs``.
        corrections: of :func:`corrected`, or ``None`` for the released payload.
    """
    if not retained:
        return PopulationStats(None)
    scores = sorted(m.score for m in retained if m.score is not None)
    best = scores[-1] if scores else None
    ordered = sorted(retained, key=lambda m: (m.iteration is not None, m.iteration or 0, m.id))
    recent = _trace(ordered, recent_k)
    if corrections is not None:
        recent = [row | corrections.row(row["iteration"]) for row in recent]
    window = ordered[-recent_k:]
    leaders = sorted((-m.score, m.id) for m in retained if m.score is not None)
    dated = [m.iteration for m in window if m.iteration is not None]
    payload: dict[str, Any] = {
        "schema": SCHEMA,
        "scope": _SCOPE,
        "score_key": "combined_score",
        "direction": "higher_is_better",
        "population_size": len(retained),
        "scored_population_size": len(scores),
        "missing_score_count": len(retained) - len(scores),
        "score_distribution": _distribution(scores),
        "unique_score_count": len(set(scores)),
        "current_parent": _current_parent(retained, parent, best),
        "top_programs": [{"id": name, "score": -negative} for negative, name in leaders[:top]],
        "trace_window": {
            "requested_recent_k": recent_k,
            "selected_count": len(recent),
            "first_iteration": dated[0] if dated else None,
            "last_iteration": dated[-1] if dated else None,
        },
        "recent_trace": recent,
        "selection_concentration": {
            "scope": _SELECTION_SCOPE,
            "parent": _concentration([[m.parent_id] if m.parent_id else [] for m in window]),
            "context": _concentration([list(dict.fromkeys(m.context_ids)) for m in window]),
        },
        "omitted": {
            "trace_by_recent_k": len(ordered) - len(recent),
            "trace_by_budget": 0,
            f"top_beyond_{top}": max(0, len(leaders) - top),
            "top_by_budget": 0,
        },
    }
    return PopulationStats(payload | corrections.payload() if corrections else payload)


def _distribution(scores: Sequence[float]) -> dict[str, float | None]:
    """Order statistics of ascending scores; quartiles by linear interpolation at (n - 1) f."""
    names = ("best", "mean", "population_std", "median", "q25", "q75", "worst")
    if not scores:
        return dict.fromkeys(names)
    mean = _mean(scores)
    scale = max(abs(score - mean) for score in scores)
    deviation = 0.0
    if scale > 0:  # scaled, so that squares of very large scores do not overflow
        deviation = scale * math.sqrt(_mean([((score - mean) / scale) ** 2 for score in scores]))
    quartiles = [_quantile(scores, fraction) for fraction in (0.5, 0.25, 0.75)]
    values = (scores[-1], mean, deviation, *quartiles, scores[0])
    return {
        name: value if math.isfinite(value) else None
        for name, value in zip(names, values, strict=True)
    }


def _mean(values: Sequence[float]) -> float:
    try:
        return math.fsum(values) / len(values)
    except OverflowError:
        return float(sum(map(Fraction, values)) / len(values))


def _quantile(ascending: Sequence[float], fraction: float) -> float:
    position = (len(ascending) - 1) * fraction
    low = math.floor(position)
    high = min(low + 1, len(ascending) - 1)
    weight = position - low
    return ascending[low] * (1 - weight) + ascending[high] * weight


def _current_parent(
    retained: Sequence[Member], parent: Member | None, best: float | None
) -> dict[str, Any]:
    if parent is None:
        return {"id": None, "score": None, **_gap(None, best), "score_source": "unavailable"}
    score = next((m.score for m in retained if m.id == parent.id), None)
    source = "retained_population"
    if score is None:
        score, source = parent.score, "provided_parent"
    if score is None:
        source = "unavailable"
    return {"id": parent.id, "score": score, **_gap(score, best), "score_source": source}


def _gap(score: float | None, best: float | None) -> dict[str, float | None]:
    return {"gap_to_retained_best": _difference(best, score)}


def _difference(value: float | None, base: float | None) -> float | None:
    if value is None or base is None or not math.isfinite(value - base):
        return None
    return value - base


def _trace(ordered: Sequence[Member], recent: int) -> list[dict[str, Any]]:
    """The rows of the last ``recent`` programs, each compared with all before it."""
    scores = {m.id: m.score for m in ordered}
    rows: list[dict[str, Any]] = []
    early = [m.score for m in ordered[:-recent] if m.score is not None]
    best = max(early, default=None)
    for m in ordered[-recent:]:
        parent_score = None if m.parent_id is None else scores.get(m.parent_id)
        rows.append(
            {
                "id": m.id,
                "iteration": m.iteration,
                "parent_id": m.parent_id,
                "score": m.score,
                "parent_score": parent_score,
                "delta": _difference(m.score, parent_score),
                "outcome": _outcome(m, parent_score),
                "retained_best_before": best,
                "global_outcome": _global_outcome(m.score, best),
            }
        )
        if m.score is not None and (best is None or m.score > best):
            best = m.score
    return rows


def _outcome(m: Member, parent_score: float | None) -> str:
    if m.parent_id is None:
        return "no_parent"
    if parent_score is None:
        return "missing_parent_score"
    if m.score is None:
        return "missing_score"
    if m.score == parent_score:
        return "unchanged"
    return "improved" if m.score > parent_score else "regressed"


def _global_outcome(score: float | None, best: float | None) -> str:
    if score is None:
        return "missing_score"
    if best is None:
        return "baseline"
    return "improved" if score > best else "not_improved"


def _concentration(selections: Sequence[Sequence[str]]) -> dict[str, Any]:
    """How often the same ids were selected; one list of ids for each program of the window."""
    counts = Counter(name for names in selections for name in names)
    programs, total = sum(1 for names in selections if names), counts.total()
    most = min(counts, key=lambda name: (-counts[name], name), default=None)
    return {
        "programs_with_selection": programs,
        "selection_count": total,
        "unique_ids": len(counts),
        "most_selected_id": most,
        "most_selected_count": counts[most] if most is not None else 0,
        "most_selected_program_fraction": counts[most] / programs if most is not None else None,
        "selection_hhi": math.fsum((n / total) ** 2 for n in counts.values()) if total else None,
    }
