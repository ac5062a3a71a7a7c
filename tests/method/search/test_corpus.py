"""The offline corpus takes any text for a query."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from method.protocols import SearchResponse
from method.search.corpus import Corpus, CorpusDocument

DOCUMENTS = [
    CorpusDocument("a", "Circle packing", "Packing n=26 circles in the unit square."),
    CorpusDocument("b", "Sum sets", "Sets with more sums than differences.", "https://b.org/x"),
    CorpusDocument("c", "Circle packing", "Packing n=26 circles in the unit square."),
]


def search(query: str, limit: int = 5, corpus: Corpus | None = None) -> SearchResponse:
    return asyncio.run((corpus or Corpus(DOCUMENTS)).search(query, limit, "advanced"))


@pytest.mark.parametrize(
    "query",
    [
        'n=26 "circle" (packing)?',
        'circle" OR "packing',
        "circle AND (NOT",
        "NEAR(circle packing, 2)",
        "body: circle*",
        "circle^2 - {packing}",
        "'; DROP TABLE corpus; -- circle",
        "CIRCLE\x00packing",
    ],
)
def test_query_syntax_is_just_text(query: str) -> None:
    response = search(query)
    assert response.error is None
    assert [found.provider_id for found in response.results] == ["a", "c"]
    assert [found.rank for found in response.results] == [1, 2]


def test_ties_go_by_the_order_of_documents_and_limits_hold() -> None:
    assert [found.provider_id for found in search("circle", 1).results] == ["a"]
    assert search("circle", 0).results == ()
    (found,) = search("differences").results
    assert (found.url, found.provider_id) == ("https://b.org/x", "b")
    assert found.body == "Sets with more sums than differences."


@pytest.mark.parametrize("query", ["", "   ", "?!()\"'", "zyzzyva"])
def test_nothing_found_is_no_error(query: str) -> None:
    assert search(query) == SearchResponse(credits=0.0, cost_usd=0.0)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80))
def test_no_query_breaks_the_search(query: str) -> None:
    assert search(query, corpus=Corpus(DOCUMENTS)).error is None


def test_a_folder_of_texts(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "one.md").write_text("# A title\nAbout lattices.\n")
    (tmp_path / "two.txt").write_bytes(b"\xffbroken bytes about lattices")
    (tmp_path / "three.pdf").write_text("lattices")
    found = search("lattices", corpus=Corpus.of_folder(tmp_path)).results
    assert {row.provider_id: row.title for row in found} == {
        "sub/one.md": "A title",
        "two.txt": "\ufffdbroken bytes about lattices",
    }
    with pytest.raises(FileNotFoundError, match=r"no \.md or \.txt"):
        Corpus.of_folder(tmp_path / "nowhere")
