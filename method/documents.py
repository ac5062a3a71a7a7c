"""``documents.jsonl``: every document that the searches of a run returned (methods.md section 3).

One object for each ``doc_id`` of the trace, in its order. Documents with the same key of the repeat
share (:func:`~method.identity.repeat_key`) are the same page: they share ``first_query``,
``first_t`` and the ``versions`` (hashes of the bodies that came back, in order of appearance).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from method.identity import body_sha256, host_of, repeat_key
from method.journal import Blobs, Event, read_journal
from method.protocols import GivenDocument
from method.rules import BODY_LIMIT

FILE = "documents.jsonl"
TITLE_LIMIT = 500
"""Characters of a title, as the ledger of a run cuts it."""


def read_documents(folder: Path) -> list[dict[str, Any]]:
    """The documents of a run, folded from its journal. Raises ``JournalError``."""
    events = read_journal(folder)
    stored = _stored(events)
    pages: dict[str, dict[str, Any]] = {}
    rows = []
    for t, query, document in _returned(events, Blobs(folder)):
        page = pages.setdefault(
            repeat_key(document), {"first_query": query, "first_t": t, "versions": []}
        )
        body = body_sha256(document.body)
        if body not in page["versions"]:
            page["versions"].append(body)
        host = host_of(document.url)
        rows.append(
            {
                "doc_id": document.doc_id,
                "db_id": document.db_id or stored.get(str(document.doc_id)),
                "url": document.url,
                "host": {"full": host, "registrable": registrable(host)},
                "title": document.title,
                "body_sha256": body,
                **page,
            }
        )
    return rows


def _stored(events: Sequence[Event]) -> dict[str, str]:
    """``db_id`` of the documents that were handed to a generator, by ``doc_id``."""
    return {
        document["doc_id"]: document["db_id"]
        for event in events
        if event.name == "iteration_done"
        for document in event.data["documents"]
        if document["doc_id"] and document["db_id"]
    }


def _returned(events: Sequence[Event], blobs: Blobs) -> Iterator[tuple[int, str, GivenDocument]]:
    """Iteration, query and document of every numbered hit, in the order of the numbers.

    The trace's entries say which hits were usable and how they were numbered, the search events
    what they were; both name the query and the places found.
    """
    answers: dict[tuple[int, str], list[list[Mapping[str, Any]]]] = {}
    for event in events:
        if event.name == "search" and event.data["answer"]["error"] is None:
            place = (event.data["t"], event.data["query"])
            answers.setdefault(place, []).append(event.data["answer"]["results"])
    for event in events:
        if event.name == "iteration_done":
            t = event.data["t"]
            for search in (s for entry in event.data["rounds"] for s in _searches(entry)):
                query, sent, results = search
                for hit, result in _matched(answers.get((t, sent), []), results):
                    yield t, query, _document(hit, result, blobs)


def _searches(
    entry: Mapping[str, Any],
) -> Iterator[tuple[str, str, Sequence[Mapping[str, Any]]]]:
    """Query as written, query as sent, and numbered hits of the searches of one round."""
    queries = {query["slot"]: query for query in entry["queries"]}
    for search in entry["searches"]:
        query = queries[search["query_slot"]]
        yield query["text"], query["wire_text"], search["results"]


def _matched(
    answers: list[list[Mapping[str, Any]]], results: Sequence[Mapping[str, Any]]
) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Hits of the answer in which all results stand, each with its result; it is used up."""
    for number, answer in enumerate(answers):
        hits = {(hit["url"].strip(), hit["rank"]): hit for hit in answer}
        if all((result["url"], result["rank"]) in hits for result in results):
            del answers[number]
            return [(hits[result["url"], result["rank"]], result) for result in results]
    return []


def _document(hit: Mapping[str, Any], result: Mapping[str, Any], blobs: Blobs) -> GivenDocument:
    raw = None if hit["raw"] is None else blobs.get(hit["raw"])[:BODY_LIMIT]
    return GivenDocument(
        title=hit["title"][:TITLE_LIMIT],
        url=result["url"],
        provider_id=hit["provider_id"],
        snippet=blobs.get(hit["snippet"])[:BODY_LIMIT],
        raw=raw,
        doc_id=result["doc_id"],
        db_id=result["db_id"],
    )


def write_documents(folder: Path) -> Path:
    """Write ``documents.jsonl`` beside the journal, whole or not at all."""
    path = folder / FILE
    partial = folder / f".{FILE}.partial"
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in read_documents(folder)]
    partial.write_text("".join(lines), encoding="utf-8", errors="surrogatepass")
    partial.replace(path)
    return path


@cache
def registrable(host: str) -> str:
    """The part of a host that somebody registered (``a.b.co.uk`` -> ``b.co.uk``).

    By the public suffix list that ``tldextract`` ships, never a newer one from the network; an IP
    address or a name without a known suffix is returned whole.
    """
    return _extractor()(host).top_domain_under_public_suffix or host


@cache
def _extractor() -> Any:
    import tldextract

    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
