"""Runs written by hand: folders as the engine leaves them, from what a test wants to count."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


class WrittenRuns:
    """Writes run folders as the engine leaves them, from what a test wants to count."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(
        self,
        name: str,
        steps: Sequence[Mapping[str, Any]] = (),
        *,
        task: str = "mathematics/cp26",
        method: str = "openevolve-native+none",
        n: int = 2,
        seed: int = 1,
        status: str = "finished",
        variant: str | None = None,
        x0: float | None = 1.0,
        best: Mapping[str, Any] | None = None,
        cost: float | None = 0.5,
        **config: Any,
    ) -> Path:
        """A run whose iterations are ``steps``: overrides of :func:`record`, numbered from 1."""
        folder = self.folder / name
        folder.mkdir(parents=True)
        settings = {"gate": "knowledge", "rounds": 3, "queries": 1, "per_query": 5, "retain": 3,
                    "rules": "official", "edit": "diff", "search": "offline"}  # fmt: skip
        manifest = {
            "run_id": name,
            "model": "some-model",
            "config": {"task": task, "method": method, "candidates": n, "seed": seed,
                       "variant": variant, **settings, **config},
        }  # fmt: skip
        event = {"seq": 0, "prev": "0" * 64, "time": "", "event": "run_started", "data": manifest}
        (folder / "journal.jsonl").write_text(json.dumps(event) + "\n")
        records = [record(name, t, **step) for t, step in enumerate(steps, 1)]
        (folder / "trace.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
        found = {"t": 0, "id": None, "search_score": x0, "objective": x0, "reporting": x0,
                 "ndg": 0.0, "ndg_raw": -1.0, **(best or {})}  # fmt: skip
        summary = {
            "run_id": name, "task": task, "method": method, "model": "some-model",
            "status": status, "T": len(steps), "done": len(steps), "ndg": found["ndg"],
            "best": found, "x0": {"search_score": 0.25 if x0 is None else x0, "objective": x0},
            "usage": {}, "search_usage": {}, "cost_usd": cost,
            "unpriced_calls": 0 if cost is not None else 1,
        }  # fmt: skip
        (folder / "summary.json").write_text(json.dumps(summary))
        return folder


def record(run_id: str, t: int, **given: Any) -> dict[str, Any]:
    """A trace record in which nothing happened, with overrides.

    Short forms: ``score`` sets child and run best, ``evaluations`` the number of evaluated
    candidates, ``usd``, ``calls``, ``tokens`` the usage.
    """
    score = given.pop("score", None)
    evaluated = {"status": "ok", "search_score": 0.0}
    usage = {"calls": given.pop("calls", 1), "prompt": given.pop("tokens", 100), "completion": 0,
             "reasoning": 0, "cached": 0, "cost_usd": given.pop("usd", 0.1),
             "unpriced_calls": given.pop("unpriced", 0)}  # fmt: skip
    return {
        "schema": "evoduet.trace/1", "run_id": run_id, "t": t,
        "started": (BEGIN + timedelta(minutes=t - 1)).isoformat(),
        "ended": (BEGIN + timedelta(minutes=t)).isoformat(),
        "parent": {"id": "p0", "score": 0.0, "iteration": 0},
        "gate": None, "rounds": [], "documents": [], "prompt_docs": [], "attempts": 1,
        "external_errors": [], "excluded": False,
        "run_best_before": 0.0,
        "run_best_after": given.pop("best", 0.0 if score is None else score),
        "new_best": score is not None,
        "candidates": [{"attempt": 1, "eval": evaluated}] * given.pop("evaluations", 1),
        "child": score and {"id": f"p{t}", "search_score": score, "objective": score},
        "report": None,
        "usage": {"generation": usage},
        "search_usage": {"requests": 0, "credits": None, "cost_usd": None},
        **given,
    }  # fmt: skip
