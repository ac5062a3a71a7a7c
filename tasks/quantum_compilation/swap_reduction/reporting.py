"""What a score says about a router besides its number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tasks.quantum_compilation.swap_reduction.embedded import (
    EMBEDDED_FILE,
    UNSEEN_FILE,
    initial_swaps,
)
from tasks.quantum_compilation.swap_reduction.scoring import REPORTED_DEVICE, Tally

OFFICIAL_INITIAL_SWAPS = 104_573
"""SWAPs of the initial program on the whole official suite, measured."""

SUSPICIOUS_GAP = 10.0
"""Percentage points by which a router may gain more on the suite than on unseen circuits."""


def summary(tally: Tally) -> str:
    """SWAPs by device, where most of them are, and what failed."""
    devices = dict.fromkeys(result.case.topology for result in tally.results)
    counts = {device: tally.on(device).swaps for device in devices}
    text = "SWAPs: " + ", ".join(
        f"{device} {'undefined' if count is None else count}" for device, count in counts.items()
    )
    worst = sorted(tally.results, key=lambda result: result.cnot_delta)[:3]
    if worst[0].cnot_delta < 0:
        losses = (f"{r.case.id} {r.cnot_delta}" for r in worst if r.cnot_delta < 0)
        text += f". Largest losses against the reference (CNOTs): {', '.join(losses)}"
    if tally.failed:
        names = ", ".join(f"{r.case.id} ({r.problem[:60]})" for r in tally.failed[:3])
        text += f". {len(tally.failed)} cases failed: {names}"
    return text


def failures(tally: Tally) -> dict[str, str]:
    """All failed cases with their reasons, as an attachment."""
    lines = [f"{result.case.id}: {result.problem}" for result in tally.failed]
    return {"failed cases": "\n".join(lines)} if lines else {}


def determinism(
    first: Tally, second: Tally, parts: Mapping[str, Any]
) -> tuple[dict[str, float], str]:
    """Whether two runs gave the same traces; if not, the counts of the second."""
    if _traces(parts["cases"]) == _traces(parts["repeat"]):
        return {"deterministic": 1.0}, ""
    metrics = {"deterministic": 0.0, "second_run_combined_score": second.combined_score}
    counts = [tally.on(REPORTED_DEVICE).swaps for tally in (first, second)]
    if counts[1] is not None:
        metrics[f"second_run_{REPORTED_DEVICE}_swaps"] = counts[1]
    return metrics, f"nondeterministic: {counts[0]} and {counts[1]} SWAPs on {REPORTED_DEVICE}"


def _traces(records: Any) -> dict[str, Any]:
    return {record["id"]: {**record, "id": None} for record in records}


def generality(seen: Tally, unseen: Tally, variant: str) -> tuple[dict[str, float], str]:
    """SWAPs saved against the initial program on the suite and on circuits outside of it."""
    metrics: dict[str, float] = {"unseen_cases_failed": len(unseen.failed)}
    if unseen.swaps is not None:
        metrics["unseen_swaps"] = unseen.swaps
    official = variant == "official"
    before = OFFICIAL_INITIAL_SWAPS if official else initial_swaps(EMBEDDED_FILE)
    gains = {
        "suite_gain_percent": _gain(seen.swaps, before),
        "unseen_gain_percent": _gain(unseen.swaps, initial_swaps(UNSEEN_FILE)),
    }
    metrics |= {name: gain for name, gain in gains.items() if gain is not None}
    here, there = gains.values()
    if here is None or there is None or here - there <= SUSPICIOUS_GAP:
        return metrics, ""
    return metrics, (
        f"gains {here:.1f} % on the suite, {there:.1f} % on unseen circuits and devices: "
        "made for the suite?"
    )


def _gain(swaps: int | None, before: int) -> float | None:
    return None if swaps is None else 100.0 * (before - swaps) / before
