"""A search that remembers: records what a backend finds, or answers from a recording alone.

This is no cache: the second search for the same words is another call and has its own entry,
because finding the same page twice is part of what is measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from method.cassette import Cassette, Occurrences, asked_of_search, canonical_sha256
from method.protocols import SearchBackend, SearchResponse, SearchResult

_UNRECORDED = ("quota", "key")


class RecordedSearch:
    """Answers from ``cassette`` and, where that has none, from ``backend`` (``None``: a replay).

    ``name`` is the backend's name as the user typed it: part of every key. Raises
    :class:`~method.cassette.CassetteMiss` from :meth:`search` in a replay.
    """

    def __init__(
        self,
        name: str,
        cassette: Cassette,
        backend: SearchBackend | None,
        occurrences: Occurrences,
    ) -> None:
        self.name = name if backend is None else backend.name
        self._typed_name = name
        self._cassette = cassette
        self._backend = backend
        self._occurrences = occurrences

    async def search(self, query: str, max_results: int, depth: str) -> SearchResponse:
        described = {
            "backend": self._typed_name,
            "query": query,
            "depth": depth,
            "max_results": max_results,
            "occurrence": self._occurrences.take(asked_of_search(query, max_results, depth)),
        }
        key = canonical_sha256(described)
        entry = self._cassette.find(key, or_fail=f"the search for {query!r}")
        if entry is not None:
            return replace(response_of(entry["response"]), cached=True)
        assert self._backend is not None
        response = await self._backend.search(query, max_results, depth)
        if response.error_kind not in _UNRECORDED:
            self._cassette.append({"key": key, "request": described, "response": asdict(response)})
        return response


def response_of(fields: Mapping[str, Any]) -> SearchResponse:
    """A response from its JSON."""
    results = tuple(SearchResult(**result) for result in fields["results"])
    return SearchResponse(**{**fields, "results": results})
