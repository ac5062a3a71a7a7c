"""An offline corpus behind the search protocol: full-text search over files with SQLite.

The shipped oracle documents make a small natural corpus; any folder of ``.md`` and ``.txt`` files
does. Ranking is bm25, ties by the order of the files, so the same query finds the same documents.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from method.protocols import SearchResponse, SearchResult

SNIPPET_WORDS = 64
_WORD = re.compile(r"\w+", re.UNICODE)


@dataclass(frozen=True)
class CorpusDocument:
    """A document of the corpus; ``url`` may be empty, ``provider_id`` is its name."""

    provider_id: str
    title: str
    text: str
    url: str = ""


class Corpus:
    """Searches a set of documents that never changes during a run."""

    name = "offline/corpus"

    def __init__(self, documents: Iterable[CorpusDocument]) -> None:
        self._documents = list(documents)
        self._index = sqlite3.connect(":memory:", check_same_thread=False)
        self._index.execute("CREATE VIRTUAL TABLE corpus USING fts5(title, body)")
        self._index.executemany(
            "INSERT INTO corpus (rowid, title, body) VALUES (?, ?, ?)",
            ((row, d.title, d.text) for row, d in enumerate(self._documents)),
        )

    @classmethod
    def of_folder(cls, folder: Path) -> Corpus:
        """The ``.md`` and ``.txt`` files below a folder, titled by their first line.

        Raises ``FileNotFoundError`` when there is no such file.
        """
        files = sorted(path for path in folder.rglob("*") if path.suffix in (".md", ".txt"))
        if not files:
            raise FileNotFoundError(2, "no .md or .txt file below this corpus folder", str(folder))
        documents = []
        for path in files:
            text = path.read_text(encoding="utf-8", errors="replace")
            title = text.strip().partition("\n")[0].lstrip("# ")[:200] or path.stem
            documents.append(CorpusDocument(path.relative_to(folder).as_posix(), title, text))
        return cls(documents)

    async def search(self, query: str, max_results: int, depth: str) -> SearchResponse:
        """The best documents for any word of the query; ``depth`` changes nothing here."""
        words = [
            f'"{word}"' for word in _WORD.findall(query)
        ]  # quoted: no query syntax gets through
        if not words or max_results < 1:
            return SearchResponse(credits=0.0, cost_usd=0.0)
        rows = self._index.execute(
            "SELECT rowid, bm25(corpus), snippet(corpus, 1, '', '', ' ... ', ?) FROM corpus "
            "WHERE corpus MATCH ? ORDER BY bm25(corpus), rowid LIMIT ?",
            (SNIPPET_WORDS, " OR ".join(words), max_results),
        ).fetchall()
        results = []
        for rank, (row, score, snippet) in enumerate(rows, start=1):
            document = self._documents[row]
            results.append(
                SearchResult(
                    url=document.url,
                    provider_id=document.provider_id,
                    title=document.title,
                    snippet=snippet,
                    raw=document.text,
                    score=-score,
                    rank=rank,
                )
            )
        return SearchResponse(tuple(results), credits=0.0, cost_usd=0.0)
