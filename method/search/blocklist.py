"""Repositories and pages that never count as search results (methods.md 2.5).

Applied to what a backend returned, outside of any recording: a cassette holds the provider's own
answer. The ranks of the results that stay are the provider's.
"""

from __future__ import annotations

import fnmatch
import itertools
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from urllib.parse import unquote, urlsplit

from method.protocols import SearchBackend, SearchResponse

_SEPARATORS = re.compile(r"[/?#&=:]+")


@dataclass(frozen=True)
class Blocklist:
    """``repositories``: OWNER/NAME on any host; ``pages``: HOST or HOST/PATH and what is below."""

    repositories: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()

    @classmethod
    def shipped(cls) -> Blocklist:
        """The list that comes with the package."""
        file = resources.files("method.search").joinpath("blocklist.toml")
        return cls.from_manifest(tomllib.loads(file.read_text(encoding="utf-8")))

    @classmethod
    def from_manifest(cls, content: Mapping[str, Iterable[str]]) -> Blocklist:
        """The list that a run's manifest holds."""
        return cls(tuple(content["repositories"]), tuple(content["pages"]))

    def manifest(self) -> dict[str, list[str]]:
        """The whole list, for the manifest."""
        return {"repositories": list(self.repositories), "pages": list(self.pages)}

    def blocks(self, url: str) -> bool:
        """Whether a URL leads into something listed; case and percent signs do not matter."""
        address = unquote(url.strip()).casefold()
        parts = [_name(part) for part in _SEPARATORS.split(address) if part]
        if any(_follows(parts, repository) for repository in self.repositories):
            return True
        try:
            split = urlsplit(address)
            host = split.hostname or ""
        except ValueError:
            return False
        path = [_name(part) for part in split.path.split("/") if part]
        return any(_below(host, path, page.casefold()) for page in self.pages)


def _name(part: str) -> str:
    """A part of a path without the version that mirrors append and the suffix of a clone URL."""
    return part.partition("@")[0].removesuffix(".git")


def _follows(parts: list[str], repository: str) -> bool:
    owner, _, name = repository.casefold().partition("/")
    return (owner, name) in itertools.pairwise(parts)


def _below(host: str, path: list[str], page: str) -> bool:
    wanted_host, *wanted = page.split("/")
    if host != wanted_host and not host.endswith(f".{wanted_host}"):
        return False
    return len(path) >= len(wanted) and all(
        fnmatch.fnmatchcase(part, pattern) for part, pattern in zip(path, wanted, strict=False)
    )


class BlockedSearch:
    """A backend whose results pass a :class:`Blocklist`."""

    def __init__(self, backend: SearchBackend, blocklist: Blocklist) -> None:
        self.name = backend.name
        self._backend = backend
        self._blocklist = blocklist

    async def search(self, query: str, max_results: int, depth: str) -> SearchResponse:
        response = await self._backend.search(query, max_results, depth)
        kept = tuple(r for r in response.results if not self._blocklist.blocks(r.url))
        blocked = len(response.results) - len(kept)
        return replace(response, results=kept, blocked=blocked) if blocked else response
