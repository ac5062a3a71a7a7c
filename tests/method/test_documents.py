"""``documents.jsonl``: what the searches of a run returned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_task import LocalEvaluator, LocalModel, LocalSearch, clients, config

from method.documents import read_documents, registrable
from method.identity import body_sha256
from method.journal import read_journal
from method.protocols import SearchResponse, SearchResult
from method.runs import Clients, run
from method.trace import read_trace


class ChangingSearch(LocalSearch):
    """Pages of sub-domains whose text changes from search to search; one hit is unusable."""

    async def search(self, query: str, max_results: int, depth: str) -> SearchResponse:
        await super().search(query, max_results, depth)
        text = f"text number {len(self.queries) % 3}"
        hits = tuple(
            SearchResult(
                f"https://www{n}.lab.example.co.uk/page", "", f"Page {n}", text, None, 1.0, n
            )
            for n in (1, 2)
        )
        empty = SearchResult("https://nothing.org/", "", "Nothing", " ", None, 1.0, 3)
        return SearchResponse((*hits, empty), credits=1.0)


@pytest.mark.parametrize("method", ["evoduet", "joint", "sequential"])
def test_every_numbered_hit_is_listed_once(tmp_path: Path, method: str) -> None:
    folder = tmp_path / "run"
    search = ChangingSearch()
    given = config(method=method, iterations=8, gate="always", queries=2)
    run(given, folder, clients=Clients(LocalModel(), search, LocalEvaluator()))
    rows = [json.loads(line) for line in (folder / "documents.jsonl").read_text().splitlines()]
    assert rows == read_documents(folder)
    traced = [
        result
        for record in read_trace(folder)
        for entry in record["rounds"]
        for found in entry["searches"]
        for result in found["results"]
    ]
    assert traced
    assert [row["doc_id"] for row in rows] == [result["doc_id"] for result in traced]
    assert len({row["doc_id"] for row in rows}) == len(rows)
    assert {row["host"]["registrable"] for row in rows} == {"example.co.uk"}
    assert "nothing.org" not in {row["host"]["full"] for row in rows}
    first = min(event.data["t"] for event in read_journal(folder) if event.name == "search")
    for row in rows:
        assert row["first_t"] == first
        assert row["title"] == f"Page {row['host']['full'][3]}"
        assert row["body_sha256"] in row["versions"]
        assert set(row["versions"]) <= {body_sha256(f"text number {n}") for n in range(3)}
    assert any(len(row["versions"]) > 1 for row in rows)


def test_stored_documents_have_their_id(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run(config(iterations=8, gate="always"), folder, clients=clients())
    rows = {row["doc_id"]: row for row in read_documents(folder)}
    given = [d for record in read_trace(folder) for d in record["documents"] if d["doc_id"]]
    assert given
    assert all(rows[d["doc_id"]]["db_id"] == d["db_id"] for d in given)
    assert all(rows[d["doc_id"]]["url"] == d["url"] for d in given)


@pytest.mark.parametrize(
    ("host", "registered"),
    [
        ("arxiv.org", "arxiv.org"),
        ("export.arxiv.org", "arxiv.org"),
        ("a.b.ac.uk", "b.ac.uk"),
        ("someone.github.io", "github.io"),
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "localhost"),
        ("", ""),
    ],
)
def test_registrable_names(host: str, registered: str) -> None:
    assert registrable(host) == registered
