"""What never counts as a search result, under whatever address it hides."""

from __future__ import annotations

import asyncio

import pytest
from scripted_run import result

from method.protocols import SearchResponse, SearchResult
from method.search.blocklist import BlockedSearch, Blocklist

SHIPPED = Blocklist.shipped()

BLOCKED = [
    "https://github.com/Open-Galapagos/EvoDuet",
    "https://github.com/open-galapagos/evoduet/blob/main/benchmarks/cp26/oracle/evidence.json",
    "http://www.github.com/Open-Galapagos/EvoDuet.git",
    "https://raw.githubusercontent.com/Open-Galapagos/EvoDuet/main/README.md",
    "https://api.github.com/repos/Open-Galapagos/EvoDuet/contents",
    "https://cdn.jsdelivr.net/gh/Open-Galapagos/EvoDuet@75c9ba3/x.py",
    "https://r.jina.ai/https://github.com/Open-Galapagos/EvoDuet",
    "https://web.archive.org/web/2026/https://github.com/Open-Galapagos/EvoDuet/tree/main",
    "https://viewer.example.org/?repo=Open-Galapagos%2FEvoDuet",
    "https://github.com/Open-Galapagos/evoduet_project_page",
    "https://open-galapagos.github.io/evoduet_project_page/",
    "https://OPEN-GALAPAGOS.github.io",
    "https://github.com/someone/EvoDuet",
    "https://github.com/someone/evoduet-bench/tree/main/tasks",
    "https://pypi.org/project/evoduet/",
]
ALLOWED = [
    "https://arxiv.org/abs/2601.00001",
    "https://github.com/Open-Galapagos/another-project",
    "https://github.com/Open-Galapagos",
    "https://github.com/someone/evoduetto",
    "https://example.org/news/evoduet-explained",
    "https://notgithub.com/someone/evoduet",
    "https://pypi.org/project/evoduet-tools/",
    "https://github.com/algorithmicsuperintelligence/openevolve",
    "https://[broken",
    "oracle:cp26:1",
    "",
]


@pytest.mark.parametrize("url", BLOCKED)
def test_blocked(url: str) -> None:
    assert SHIPPED.blocks(url)
    assert not Blocklist().blocks(url)


@pytest.mark.parametrize("url", ALLOWED)
def test_allowed(url: str) -> None:
    assert not SHIPPED.blocks(url)


def test_the_manifest_holds_the_whole_list() -> None:
    assert Blocklist.from_manifest(SHIPPED.manifest()) == SHIPPED
    assert "Open-Galapagos/EvoDuet" in SHIPPED.manifest()["repositories"]


class Backend:
    name = "some"

    async def search(self, query: str, max_results: int, depth: str) -> SearchResponse:
        blocked = SearchResult(BLOCKED[0], BLOCKED[0], "T", "s", None, None, 2)
        return SearchResponse((result("a", rank=1), blocked, result("b", rank=3)), credits=2.0)


def test_results_are_filtered_and_keep_their_ranks() -> None:
    search = BlockedSearch(Backend(), SHIPPED)
    response = asyncio.run(search.search("q", 5, "advanced"))
    assert search.name == "some"
    assert [found.rank for found in response.results] == [1, 3]
    assert response.credits == 2.0
