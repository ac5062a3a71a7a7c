"""Documents of a run, as `documents.jsonl` lists them or as its records tell them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Document:
    """A document that a search of the run returned, or that was given to the generator.

    Empty text or ``None`` where neither `documents.jsonl` nor the records tell. ``first_t`` is the
    iteration of the first retrieval, ``query`` the query that found it, ``body_sha256`` the blob.
    """

    doc_id: str
    db_id: str | None
    url: str
    host: str
    title: str
    first_t: int | None
    query: str | None
    body_sha256: str | None


def documents_of(records: Iterator[dict[str, Any]]) -> dict[str, Document]:
    """Documents by ``doc_id`` as the records tell them: what was returned, and what was given."""
    found: dict[str, Document] = {}
    for record in records:
        for round_ in record["rounds"]:
            texts = {query.get("slot"): query.get("text") for query in round_["queries"]}
            for search in round_["searches"]:
                for row in search["results"]:
                    more = {"first_t": record["t"], "query": texts.get(search["query_slot"])}
                    found.setdefault(row["doc_id"], document({**row, **more}))
        for row in record["documents"]:
            name = row["doc_id"] or row["db_id"]
            if name is not None:
                known = found.get(name)
                found[name] = document(
                    {**row, "doc_id": name, "query": known.query if known else None}
                )
    return found


def document(row: Mapping[str, Any]) -> Document:
    """A document from a row of `documents.jsonl`, a search result or a given document."""
    host = row.get("host") or ""
    return Document(
        doc_id=str(row["doc_id"]),
        db_id=row.get("db_id"),
        url=row.get("url") or "",
        host=str(host.get("full", "") if isinstance(host, Mapping) else host),
        title=row.get("title") or "",
        first_t=row.get("first_retrieved_t", row.get("first_t")),
        query=row.get("query", row.get("first_query")),
        body_sha256=row.get("body_sha256"),
    )
