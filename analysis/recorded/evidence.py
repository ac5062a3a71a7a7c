"""The evidence of a selected step: rounds and documents in the form of our traces."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from analysis.recorded.source import Node

Row = dict[str, Any]
STATUSES = (
    "scored", "partial", "no_valid_predictions", "no_new_documents", "failed", "no_query",
    "no_usable_documents",
)  # fmt: skip
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass
class Names:
    """Internal ids over the run, the pages that recorded steps returned, texts worth keeping."""

    count: int = 0
    seen: set[str] = field(default_factory=set)
    blobs: dict[str, str] = field(default_factory=dict)

    def new(self) -> str:
        """The next document id."""
        self.count += 1
        return f"r{self.count:07d}"


@dataclass(frozen=True)
class Evidence:
    """What a step asked, found and gave."""

    rounds: Sequence[Row]
    documents: Sequence[Row]


def evidence_of(step: Node, parent_score: float | None, names: Names) -> Evidence:
    """Rounds and documents of a step; older copies have queries and sources alone."""
    recorded = step.object("evidence")
    if recorded is None or not recorded.objects("documents"):
        given = [_source(row, parent_score, names) for row in step.objects("sources")]
    else:
        given = []
    if recorded is None:
        return Evidence(_asked(step), given)
    pages = {
        str(page.require("ref", page.text("ref"))): page for page in recorded.objects("documents")
    }
    ids = {ref: names.new() for ref in pages}
    scores: dict[str, float] = {}
    rounds = []
    here: set[str] = set()
    for round_ in recorded.objects("rounds"):
        rounds.append(_round(round_, pages, ids, scores, names, here))
    for ref, page in pages.items():
        for row in page.objects("predictions"):
            score = row.number("score")
            if score is not None:
                scores.setdefault(ref, score)
    knowledge = recorded.text("final_knowledge")
    if rounds and knowledge is not None:
        rounds[-1]["knowledge_after"] = knowledge
    kept = [row["doc_id"] for row in rounds[-1]["retained"]] if rounds else []
    chosen = _chosen(step, pages)
    chosen.sort(key=lambda ref: kept.index(ids[ref]) if ids[ref] in kept else len(kept))
    documents = [
        _given(pages[ref], ids[ref], ref, scores.get(ref), parent_score, names) for ref in chosen
    ]
    return Evidence(rounds or _asked(step), documents or given)


def _chosen(step: Node, pages: Mapping[str, Node]) -> list[str]:
    """Documents that were given to the generator; by the URLs of the sources where none is marked.

    Two documents of one URL are one source, but two documents.
    """
    marks = {ref: page.flag("for_solver") for ref, page in pages.items()}
    if any(mark is not None for mark in marks.values()):
        return [ref for ref, mark in marks.items() if mark]
    urls = {row.text("url") for row in step.objects("sources")} - {None}
    return [ref for ref, page in pages.items() if page.text("url") in urls]


def _asked(step: Node) -> list[Row]:
    """Rounds of which only the queries are known."""
    found: dict[int, list[Node]] = {}
    for query in step.objects("queries"):
        found.setdefault(query.integer("round", least=1) or len(found) + 1, []).append(query)
    return [
        _round_row(r, [_query(slot, query) for slot, query in enumerate(queries)], [])
        for r, queries in sorted(found.items())
    ]


def _round(
    round_: Node,
    pages: Mapping[str, Node],
    ids: Mapping[str, str],
    scores: dict[str, float],
    names: Names,
    here: set[str],
) -> Row:
    """One round. ``scores`` takes up its predictions: earlier documents keep theirs."""
    queries = [_query(slot, query) for slot, query in enumerate(round_.objects("queries"))]
    status = round_.text("status")
    if status is not None and status not in STATUSES:
        round_.wrong("status", status, f"one of {', '.join(STATUSES)}")
    predictions: dict[str, float] = {}
    for row in round_.objects("predictions"):
        ref, score = row.text("ref"), row.number("score")
        if ref is not None and score is not None:
            _known(round_, "predictions", ref, ids)
            predictions[ids[ref]] = scores[ref] = score
    lists = {key: round_.texts(key) for key in ("retrieved_refs", "candidate_refs", "kept_refs")}
    for key, refs in lists.items():
        for ref in refs:
            _known(round_, key, ref, ids)
    results = [
        _result(pages[ref], ids[ref], ref, place, names, here)
        for place, ref in enumerate(lists["retrieved_refs"], 1)
    ]
    made = _round_row(round_.integer("round", least=1) or 1, queries, results)
    return made | {
        "pool": [ids[ref] for ref in lists["candidate_refs"]],
        "predictions": predictions,
        "retained": [{"doc_id": ids[r], "predicted": scores.get(r)} for r in lists["kept_refs"]],
        "scoring_status": status,
        "knowledge_after": round_.text("assessment"),
    }


def _known(round_: Node, key: str, ref: str, ids: Mapping[str, str]) -> None:
    if ref not in ids:
        round_.wrong(key, ref, "a ref of the step's documents")


def _round_row(r: int, queries: list[Row], results: list[Row]) -> Row:
    """A round of our traces; all results are those of its first query."""
    search = {"query_slot": 0, "status": "ok", "error": None, "results": results,
              "credits": None, "cost_usd": None, "latency_s": None, "blocked": None}  # fmt: skip
    return {
        "r": r, "attempt": None, "candidate_slot": None, "queries": queries,
        "searches": [search] if results else [], "pool": [], "unscored": [], "predictions": {},
        "rejected_predictions": [], "scoring_status": None, "retained": [],
        "knowledge_after": None, "call_id": None,
    }  # fmt: skip


def _query(slot: int, query: Node) -> Row:
    text = query.text("query")
    return {
        "slot": slot, "text": text, "keywords": query.texts("keywords"),
        "resources": query.texts("resources"), "intent": query.text("intent"),
        "rationale": query.text("rationale"), "valid": text is not None, "wire_text": text,
        "wire_truncated": False, "executed": text is not None, "duplicate_of": None,
        "call_id": None,
    }  # fmt: skip


def _result(page: Node, doc_id: str, ref: str, place: int, names: Names, here: set[str]) -> Row:
    """One search result. That a page is new in the run cannot be known, that it is not, can."""
    url = page.text("url") or ""
    key = repeat_key(url)
    row = {
        "doc_id": doc_id, "ref": ref, "db_id": None, "url": url, "host": _host(page, url),
        "title": page.text("title") or "", "rank": page.integer("rank", least=1) or place,
        "is_new_in_run": False if key in names.seen else None,
        "is_new_in_iteration": key not in here, "has_raw": None,
        "body_sha256": _body(page, names),
    }  # fmt: skip
    names.seen.add(key)
    here.add(key)
    return row


def _given(
    page: Node,
    doc_id: str,
    ref: str | None,
    predicted: float | None,
    parent_score: float | None,
    names: Names,
) -> Row:
    """A document that was given to the generator."""
    url = page.text("url") or ""
    compared = predicted is not None and parent_score is not None
    return {
        "doc_id": doc_id, "ref": ref, "db_id": None, "predicted": predicted, "predicted_at": None,
        "promising": predicted > parent_score if compared else None,  # type: ignore[operator]
        "body_sha256": _body(page, names), "chars_in_prompt": None, "first_retrieved_t": None,
        "title": page.text("title") or "", "url": url, "host": _host(page, url),
    }  # fmt: skip


def _source(row: Node, parent_score: float | None, names: Names) -> Row:
    return _given(row, names.new(), None, row.number("predicted_score"), parent_score, names)


def _body(page: Node, names: Names) -> str | None:
    """Hash of the page's text; the excerpt is kept where it is the whole text."""
    sha256 = page.text("content_sha256")
    if sha256 is None:
        return None
    if not _SHA256.fullmatch(sha256):
        page.wrong("content_sha256", sha256, "64 hexadecimal digits")
    excerpt = page.text("excerpt")
    if excerpt is not None and _sha256(excerpt) == sha256:
        names.blobs[sha256] = excerpt
    return sha256


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def _host(page: Node, url: str) -> str:
    """Host in lower case without ``www.``."""
    return (page.text("domain") or _split(url)[0]).lower().removeprefix("www.")


def repeat_key(url: str) -> str:
    """Host, path and query of a URL, as :mod:`analysis` counts repeats; else the text itself."""
    host, rest = _split(url)
    return f"{host.lower()}{rest}" if host else url


def _split(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return "", ""
    return parts.netloc, f"{parts.path}{'?' + parts.query if parts.query else ''}"
