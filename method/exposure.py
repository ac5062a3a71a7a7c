"""What searches returned: which hits can be used, their ids, and what is new in the run.

The ``searches`` objects of the trace (methods.md section 3) are made here, the same way for every
retriever. Ids count over the run, so a :class:`Ledger` belongs to one run; running again from the
journal gives the same ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from method.identity import host_of, is_web_url, repeat_key
from method.protocols import GivenDocument, SearchResponse, SearchResult
from method.rules import BODY_LIMIT, WIRE_LIMIT, Rules

_TITLE_LIMIT = 500


@dataclass(frozen=True)
class Hit:
    """A usable search result as a document, and what the trace tells of it."""

    document: GivenDocument
    rank: int
    is_new_in_run: bool
    is_new_in_iteration: bool

    def trace(self, ref: str | None, db_id: str | None) -> dict[str, Any]:
        """One entry of ``searches.results``."""
        return {
            "doc_id": self.document.doc_id,
            "ref": ref,
            "db_id": db_id,
            "url": self.document.url,
            "host": host_of(self.document.url),
            "rank": self.rank,
            "is_new_in_run": self.is_new_in_run,
            "is_new_in_iteration": self.is_new_in_iteration,
            "has_raw": bool(self.document.raw),
        }


class Ledger:
    """Counts the documents that the searches of a run return, and remembers their pages."""

    def __init__(self) -> None:
        self._count = 0
        self._seen: set[str] = set()
        self._seen_in: dict[int, set[str]] = {}

    def enter(self, t: int, query: str, response: SearchResponse) -> list[Hit]:
        """The usable hits of one search in provider rank, cut and numbered.

        Call it in the order of the queries, whatever order their answers arrived in.
        """
        iteration = self._seen_in.setdefault(t, set())
        hits = []
        for result in response.results:
            if not is_usable(result):
                continue
            self._count += 1
            document = _document(result, query, f"r{self._count:07d}", t)
            key = repeat_key(document)
            hits.append(Hit(document, result.rank, key not in self._seen, key not in iteration))
            self._seen.add(key)
            iteration.add(key)
        self._seen_in = {t: iteration}
        return hits


def is_usable(result: SearchResult) -> bool:
    """Whether a hit can be a document.

    A page of the web needs an http(s) URL and a snippet; what an offline corpus returns goes by its
    own id and needs a text.
    """
    url = result.url.strip()
    if is_web_url(url):
        return bool(result.snippet.strip())
    offline = bool(result.provider_id.strip()) and result.provider_id.strip() != url
    return offline and bool(result.body.strip())


def _document(result: SearchResult, query: str, doc_id: str, t: int) -> GivenDocument:
    return GivenDocument(
        title=result.title[:_TITLE_LIMIT],
        url=result.url.strip(),
        provider_id=result.provider_id,
        snippet=result.snippet[:BODY_LIMIT],
        raw=None if result.raw is None else result.raw[:BODY_LIMIT],
        query=query,
        doc_id=doc_id,
        first_retrieved_t=t,
    )


def search_trace(
    query_slot: int, response: SearchResponse, results: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """One entry of ``searches``: an attempt counts whatever came back."""
    return {
        "query_slot": query_slot,
        "status": "ok" if response.error is None else "error",
        "error": response.error,
        "results": list(results),
        "blocked": response.blocked,
        "credits": response.credits,
        "cost_usd": response.cost_usd,
        "latency_s": response.latency_s,
    }


def wire_query(text: str, rules: Rules) -> tuple[str, bool]:
    """The query as it is sent, and whether it was cut for the wire (at a word boundary)."""
    if rules.query_wire == "as-is" or len(text) <= WIRE_LIMIT:
        return text, False
    head = text[: WIRE_LIMIT + 1]
    words = head.rsplit(None, 1)
    cut = words[0] if len(words) == 2 and not head[-1].isspace() else head[:WIRE_LIMIT]
    return cut[:WIRE_LIMIT].rstrip(), True


def query_key(text: str) -> str:
    """Queries with the same key are searched once: white space does not count, case does."""
    return " ".join(text.split())
