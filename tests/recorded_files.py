"""Recorded runs written by hand, after the description of the project page's files."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Made = dict[str, Any]
PARENT = 11325.600000000006
ROUNDED = 11325.6
"""The parent's score to one decimal: below it, so not promising."""


def point(t: int, score: float | None, best: float | None, gate: str) -> Made:
    """A point of the history."""
    return {"iteration": t, "candidate_score": score, "best_score": best, "gate": gate}


def document(ref: str, url: str, excerpt: str = "An excerpt", **more: Any) -> Made:
    """A document of a step's evidence."""
    return {
        "ref": ref, "url": url, "title": f"Title of {ref}", "domain": url.split("/")[2],
        "excerpt": excerpt, "excerpt_truncated": False, "captured_word_count": 2, "rank": 1,
        "relevance": 0.5, "provider": "tavily", "published_date": None,
        "content_sha256": hashlib.sha256(excerpt.encode()).hexdigest(), "rounds": [1],
        "predictions": [], "kept_rounds": [], "for_solver": False, **more,
    }  # fmt: skip


def round_of(
    number: int,
    query: str,
    retrieved: Sequence[str],
    pool: Sequence[str],
    predictions: Mapping[str, float],
    kept: Sequence[str],
    status: str = "scored",
) -> Made:
    """A round of a step's evidence."""
    return {
        "round": number,
        "queries": [{"query": query, "intent": "find", "rationale": "", "keywords": ["a"],
                     "resources": []}],
        "retrieved_refs": list(retrieved), "candidate_refs": list(pool),
        "kept_refs": list(kept),
        "predictions": [{"ref": ref, "score": score} for ref, score in predictions.items()],
        "kept_mean": None, "assessment": f"after round {number}", "status": status,
        "new_documents": len(retrieved),
    }  # fmt: skip


def step(t: int, gate: str, **more: Any) -> Made:
    """A selected iteration."""
    return {
        "iteration": t, "gate": gate, "knowledge_state": "", "reasoning": "because",
        "queries": [], "sources": [], "parent_score": None, "child_score": None,
        "best_before": None, "best_after": None, "additions": 1, "deletions": 0, "diff": [],
        "changes": "", "runtime_web_access": False, **more,
    }  # fmt: skip


def swap_run() -> Made:
    """A run of ten slots with the traps that real records hold.

    Slots 4 and 9 have no point, the decision of 6 is unrecorded. Step 3 retrieves three times: its
    second round repeats the query and has no valid prediction, its third is partial. One URL comes
    with two excerpts (two documents, one source); one prediction equals the parent's score rounded,
    one exactly.
    """
    same_url = "https://github.com/a/sabre"
    documents = [
        document("evidence_1", same_url, "first", for_solver=True, rounds=[1, 2]),
        document("evidence_2", same_url, "second", for_solver=True, rank=2),
        document("evidence_3", "https://arxiv.org/abs/1", "third", rank=3),
        document("evidence_4", "https://www.arxiv.org/abs/2", "fourth", for_solver=True,
                 rounds=[3]),
        document("evidence_5", "http://arxiv.org/abs/1#x", "cut off", rounds=[3],
                 content_sha256="0" * 64, excerpt_truncated=True),
    ]  # fmt: skip
    one, two, three, four, five = (d["ref"] for d in documents)
    evidence = {
        "gate": {"knowledge": "known things", "reason": "to learn", "population": ""},
        "rounds": [
            round_of(1, "qiskit PR #14021", [one, two, three], [one, two, three],
                     {one: ROUNDED, two: 11400.0, three: PARENT}, [two, three, one]),
            round_of(2, "qiskit PR #14021", [one], [two, three, one], {}, [two, three, one],
                     "no_valid_predictions"),
            round_of(3, "sabre heuristic", [four, five], [two, three, one, four, five],
                     {four: 11400.0, five: 100.0}, [two, four, one], "partial"),
        ],
        "documents": documents, "final_knowledge": "all of it", "stop_reason": "search_budget",
        "search_attempts": 3, "status": "ok",
        "generation_condition": {"num_generations": 8, "score_target": 11400.0},
        "predicted_score": 11400.0, "checkpoint_available": True,
    }  # fmt: skip
    return {
        "key": "swap-reduction", "slug": "swap-reduction", "task": "Swap Reduction",
        "domain": "Quantum compilation", "behavior": "method transfer", "title": "A title",
        "summary": "", "takeaway": "", "program": None, "model": "GPT-5.6-Luna", "budget": 8,
        "seed": 42, "edit_mode": "diff edits",
        "steps": [
            step(3, "retrieve", parent_score=PARENT, child_score=11000.0, evidence=evidence,
                 sources=[{"title": "T", "url": same_url, "predicted_score": 11400.0}]),
            step(5, "lookup", parent_score=11000.0, child_score=12500.0, evidence="",
                 sources=[{"title": "Old", "url": same_url, "predicted_score": None}]),
            step(8, "retrieve", queries=[{"round": 1, "query": "docs", "intent": None},
                                         {"round": 2, "query": "API", "intent": ""}],
                 sources=[{"title": "", "url": "https://x.org/p", "predicted_score": 13000.5}],
                 runtime_web_access=True),
        ],
        "history": {
            "points": [
                point(0, 6387.000000000058, 6387.000000000058, "unrecorded"),
                point(1, PARENT, PARENT, "noop"),
                point(2, 11000.0, PARENT, "retrieve"),
                point(3, 11000.0, PARENT, "retrieve"),
                point(5, 12500.0, 12500.0, "lookup"),
                point(6, 12500.0, 12500.0, "unrecorded"),
                point(7, 12400.0, 12500.0, "noop"),
                point(8, 13000.0, 13000.0, "retrieve"),
                point(10, 12000.0, 13000.0, "retrieve"),
            ],
            "trace_sha256": "ab" * 32, "score_label": "combined score", "note": "",
        },
        "run_fingerprint": "f00", "last_iteration": 10,
    }  # fmt: skip


def erdos_run() -> Made:
    """A run whose objective can be derived, with next to nothing else in the file."""
    return {
        "slug": "erdos-cross-domain", "steps": [], "seed": None, "model": "", "evidence": None,
        "history": {"points": [point(0, 2.0, 2.0, "unrecorded"), point(1, 2.5, 2.5, "retrieve")]},
    }  # fmt: skip


def write(path: Path, made: Mapping[str, Any], **changes: Any) -> Path:
    """Write a record; ``changes`` override its keys."""
    path.write_text(json.dumps({**copy.deepcopy(dict(made)), **changes}))
    return path
