"""How answers are written into events of the journal, and read back.

Long texts (answers, page bodies) become blobs; everything else stands in the event.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from method.journal import Blobs
from method.protocols import (
    Completion,
    EvalResult,
    Request,
    SearchResponse,
    SearchResult,
    Usage,
)


def model_event(
    t: int,
    request: Request,
    slot: int,
    key: tuple[Any, ...],
    prompt: str,
    answer: Completion,
    blobs: Blobs,
) -> dict[str, Any]:
    """The event of one model call; ``prompt`` is the hash of its messages."""
    return {
        "key": list(key),
        "t": t,
        "purpose": request.purpose,
        "slot": slot,
        "prompt": prompt,
        "sampling": _values(request.sampling),
        "answer": {
            **_values(answer),
            "text": blobs.put(answer.text),
            "usage": _values(answer.usage),
        },
    }


def read_completion(data: Mapping[str, Any], blobs: Blobs) -> Completion:
    """The completion of such an event."""
    answer = dict(data["answer"])
    answer["text"] = blobs.get(answer["text"])
    answer["usage"] = Usage(**answer["usage"])
    answer["tool_calls"] = tuple(answer["tool_calls"])
    answer["dropped_params"] = tuple(answer["dropped_params"])
    return Completion(**answer)


def search_event(
    t: int,
    key: tuple[Any, ...],
    query: str,
    max_results: int,
    depth: str,
    response: SearchResponse,
    blobs: Blobs,
) -> dict[str, Any]:
    """The event of one search."""
    results = [
        {
            **_values(result),
            "snippet": blobs.put(result.snippet),
            "raw": None if result.raw is None else blobs.put(result.raw),
        }
        for result in response.results
    ]
    return {
        "key": list(key),
        "t": t,
        "query": query,
        "max_results": max_results,
        "depth": depth,
        "answer": {**_values(response), "results": results},
    }


def read_response(data: Mapping[str, Any], blobs: Blobs) -> SearchResponse:
    """The response of such an event."""
    answer = dict(data["answer"])
    results = []
    for stored in answer["results"]:
        raw = None if stored["raw"] is None else blobs.get(stored["raw"])
        results.append(
            SearchResult(**{**stored, "snippet": blobs.get(stored["snippet"]), "raw": raw})
        )
    return SearchResponse(**{**answer, "results": tuple(results)})


def verdict_event(t: int, key: tuple[Any, ...], result: EvalResult) -> dict[str, Any]:
    """The event of an evaluation or a report."""
    return {"key": list(key), "t": t, "result": _values(result)}


def finite_verdict(result: EvalResult) -> EvalResult:
    """The verdict with nothing in it but finite numbers, whatever an evaluator says.

    A score that is none makes a valid program invalid; other numbers that are none are absent.
    """
    metrics = {name: value for name, value in result.metrics.items() if _is_finite(value)}
    objective = result.objective if _is_finite(result.objective) else None
    if result.search_score is None or _is_finite(result.search_score):
        return replace(result, objective=objective, metrics=metrics)
    reason = result.reason or "the evaluator gave a score that is no finite number"
    status = "invalid" if result.status == "ok" else result.status
    return replace(
        result,
        status=status,
        search_score=None,
        objective=objective,
        metrics=metrics,
        reason=reason,
    )


def _is_finite(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def read_verdict(data: Mapping[str, Any]) -> EvalResult:
    """The verdict of such an event."""
    return EvalResult(**data["result"])


def _values(value: Any) -> dict[str, Any]:
    """The fields of a dataclass by name; unlike ``asdict`` it copies nothing below them."""
    return {field.name: getattr(value, field.name) for field in fields(value)}
