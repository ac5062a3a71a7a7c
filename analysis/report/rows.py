"""What a run's page shows of each iteration before one is opened: one small row, never a text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from analysis.rows import DataProblem
from analysis.trace_fields import ABSENT
from analysis.traces import Trace
from benchmark.ndg import ndg

QUERY_CHARS = 300
"""Of a query in a row; the opened iteration has all of it."""
TOKENS = ("prompt", "completion", "reasoning", "cached")


class Gains:
    """NDG of the run's best, iteration by iteration.

    Known for official data alone. For a held-out task it is known only where the reporting metric
    was evaluated, and it may fall there, because the best is chosen by another score.
    """

    def __init__(self, trace: Trace) -> None:
        anchors = trace.task.declared.anchors
        self._x0, self._sota = anchors.initial.value, anchors.sota.value
        self._comparable = trace.config.get("variant") in (None, "official")
        self.held_out = held_out(trace)
        start = (trace.summary.get("x0") or {}).get("objective")
        self.start = self.of(start) if start is not None else None if self.held_out else 0.0
        self._now = self.start

    def of(self, objective: float | None) -> float | None:
        """NDG of a value of the reporting metric; ``None`` where there is none."""
        if objective is None or not self._comparable:
            return None
        return ndg(objective, self._x0, self._sota).value

    def after(self, record: Mapping[str, Any]) -> float | None:
        """NDG of the run's best after this iteration, ``None`` where it is not known."""
        if self.held_out:
            return self.of((record["report"] or {}).get("reporting"))
        if record["new_best"]:
            self._now = self.of(record["child"]["objective"])
        return self._now


def held_out(trace: Trace) -> bool:
    """Whether the reporting metric is known only where it was asked for."""
    told = trace.manifest.get("held_out")
    if told is not None:
        return bool(told)
    x0 = trace.summary.get("x0") or {"objective": 0.0}
    return x0.get("objective") is None


def read_rows(trace: Trace) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each record with its row. Raises :class:`DataProblem` naming the iteration."""
    gains, started = Gains(trace), None
    recorded = bool(trace.manifest.get("recorded"))
    for record in trace.iter_records():
        try:
            started = started or record["started"]
            row = _row(record, gains, started)
            absent = ("usage", "candidates") if recorded else record.get(ABSENT, ())
            if "usage" in absent:  # not known, not 0
                row |= dict.fromkeys(("usd", "calls", "tokens"))
            if "candidates" in absent:
                row["evaluations"] = None
            yield record, row
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise DataProblem(
                f"{trace.folder}: iteration {record['t']} of the trace cannot be read "
                f"({error!r}); write the trace again with `evoduet trace {trace.folder}`"
            ) from None


def _row(record: Mapping[str, Any], gains: Gains, started: str | None) -> dict[str, Any]:
    gate, child, report = record["gate"], record["child"], record["report"]
    documents = record["documents"]
    usage = record["usage"]["by_purpose"].values()
    evaluated = [c["eval"]["status"] for c in record["candidates"] if c["eval"] is not None]
    return {
        "t": record["t"],
        "from": record["parent"]["iteration"],
        "parent": record["parent"]["score"],
        "score": None if child is None else child["search_score"],
        "objective": None if child is None else child["objective"],
        "report": None if report is None else report["reporting"],
        "best": record["run_best_after"],
        "ndg": gains.after(record),
        "new_best": bool(record["new_best"]),
        "outcome": outcome(record),
        "decision": None if gate is None else gate["decision"],
        "label": record["label"],
        "evaluations": len(evaluated),
        "failed": sum(status != "ok" for status in evaluated),
        "candidates": len(record["candidates"]),
        "attempts": record["attempts"],
        "usd": usd(record),
        "calls": sum(row["calls"] for row in usage),
        "tokens": sum(row["prompt"] + row["completion"] for row in usage),
        "seconds": _seconds(started, record["ended"]),
        "queries": list(_queries(record)),
        "documents": [_document(record, document) for document in documents],
        "excluded": record["excluded"],
        "errors": len(record["external_errors"]),
    }


def outcome(record: Mapping[str, Any]) -> str:
    """improved, equal, lower; evaluation_failed or no_program without a child (as in Figure 16).

    ``unknown`` where a child is not compared with its parent, as in imported records.
    """
    child = record["child"]
    if child is None and "candidates" in record.get(ABSENT, ()):
        return "unknown"
    if child is None:
        last = [c for c in record["candidates"] if c["attempt"] == record["attempts"]]
        return "evaluation_failed" if any(c["eval"] for c in last) else "no_program"
    if child["beats_parent"] is None:
        return "unknown"
    if child["beats_parent"]:
        return "improved"
    return "equal" if child["search_score"] == record["parent"]["score"] else "lower"


def usd(record: Mapping[str, Any]) -> float | None:
    """Cost of an iteration's model calls and searches; ``None`` when one of them is unpriced."""
    usage, search = record["usage"]["by_purpose"].values(), record["search_usage"]
    if search["requests"] and search["cost_usd"] is None:
        return None
    if any(row["unpriced_calls"] for row in usage):
        return None
    return float(sum(row["cost_usd"] or 0.0 for row in usage) + (search["cost_usd"] or 0.0))


def _seconds(started: str | None, ended: str | None) -> float | None:
    """Since the run's first iteration began, pauses included."""
    if started is None or ended is None:
        return None
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(started)).total_seconds()


def _queries(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for round_ in record["rounds"]:
        found: dict[Any, list[Mapping[str, Any]]] = {}
        for search in round_["searches"]:
            found.setdefault(search["query_slot"], []).extend(search["results"])
        for query in round_["queries"]:
            results = found.get(query.get("slot"), [])
            yield {
                "r": round_["r"],
                "text": str(query.get("text") or "")[:QUERY_CHARS],
                "executed": bool(query.get("executed")),
                "valid": query.get("valid") is not False,
                "repeat": query.get("duplicate_of") is not None,
                "results": len(results),
                "new": sum(bool(result["is_new_in_run"]) for result in results),
            }


def _document(record: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    name = document["doc_id"] or document["db_id"]
    return {
        "db_id": document["db_id"],
        "title": document["title"],
        "url": document["url"],
        "predicted": document["predicted"],
        "promising": document["promising"],
        "first_t": document["first_retrieved_t"],
        "in_prompt": name in record["prompt_docs"],
    }


class Totals:
    """Sums over a run: usage by purpose, searches, decisions, outcomes."""

    def __init__(self) -> None:
        self.usage: dict[str, dict[str, Any]] = {}
        self.search: dict[str, Any] = {"requests": 0, "credits": None, "cost_usd": None,
                                       "unpriced": 0}  # fmt: skip
        self.decisions: dict[str, int] = {}
        self.evaluations = 0

    def add(self, record: Mapping[str, Any], row: Mapping[str, Any]) -> None:
        """Account for an iteration."""
        self.evaluations += row["evaluations"] or 0
        if row["decision"] is not None:
            self.decisions[row["decision"]] = self.decisions.get(row["decision"], 0) + 1
        for purpose, spent in record["usage"]["by_purpose"].items():
            mine = self.usage.setdefault(
                purpose,
                {"calls": 0, **dict.fromkeys(TOKENS, 0), "cost_usd": None, "unpriced_calls": 0},
            )
            for name in ("calls", *TOKENS, "unpriced_calls"):
                mine[name] += spent[name]
            mine["cost_usd"] = _plus(mine["cost_usd"], spent["cost_usd"])
        search = record["search_usage"]
        self.search["requests"] += search["requests"]
        self.search["unpriced"] += bool(search["requests"] and search["cost_usd"] is None)
        for name in ("credits", "cost_usd"):
            self.search[name] = _plus(self.search[name], search[name])


def _plus(one: float | None, other: float | None) -> float | None:
    return one if other is None else (one or 0.0) + other
