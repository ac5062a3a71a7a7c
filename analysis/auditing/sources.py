"""Programs and pages of a run: what the rules compare, found through hashes.

A text that is not there is ``None``: what needs it is not decidable.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from analysis.auditing.copies import PageText
from analysis.auditing.terms import DocumentTerms

if TYPE_CHECKING:
    from analysis.traces import Trace

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Page:
    """A page of an iteration; ``text`` is ``None`` when its body is missing."""

    url: str
    title: str
    host: str
    text: PageText | None


class Sources:
    """Texts of one run. ``records`` are all of its trace."""

    def __init__(self, trace: Trace, records: Sequence[Record]) -> None:
        self._trace, self._records = trace, records
        self._pages: dict[tuple[str, str], PageText] = {}
        self._terms: dict[str, DocumentTerms] = {}
        self.code = lru_cache(maxsize=256)(trace.blob)

    # --- programs ------------------------------------------------------------------------------

    def child_sha256(self, record: Record) -> str | None:
        """Hash of the program that became the child."""
        if record.get("child") is None:
            return None
        for candidate in record.get("candidates") or ():
            place = candidate.get("slot"), candidate.get("attempt")
            if place == (record.get("selected_slot"), record.get("attempts")):
                found: str | None = candidate.get("code_sha256")
                return found
        return None

    def parent(self, record: Record) -> str | None:
        """Source of the parent.

        Scaffolds copy programs under new ids (islands, migrants): a parent of unknown id is the one
        program with its score, or among several the one that stands in the prompt.
        """
        parent = record.get("parent") or {}
        sha256 = self._programs.get(parent.get("id"))
        if sha256 is None:
            sha256 = self._copied(record, parent.get("score"))
        return self.code(sha256)

    @cached_property
    def _programs(self) -> dict[Any, str]:
        """Hashes by program id."""
        found: dict[Any, str] = {}
        for record in self._records:
            parent = record.get("parent") or {}
            if record["t"] == 1 and parent.get("iteration") == 0:
                found[parent.get("id")] = self._trace.manifest.get("x0") or ""
            sha256 = self.child_sha256(record)
            if sha256 is not None:
                found[record["child"]["id"]] = sha256
        return {name: sha256 for name, sha256 in found.items() if name and sha256}

    @cached_property
    def _by_score(self) -> list[tuple[int, float, str]]:
        """(iteration, search score, hash) of x0 and all children."""
        rows = []
        first = self._records[0] if self._records else {}
        x0, score = self._trace.manifest.get("x0"), first.get("run_best_before")
        if x0 and score is not None and first["t"] == 1:
            rows.append((0, score, x0))
        for record in self._records:
            sha256 = self.child_sha256(record)
            if sha256 is not None:
                rows.append((record["t"], record["child"]["search_score"], sha256))
        return rows

    def _copied(self, record: Record, score: float | None) -> str | None:
        same = list(
            dict.fromkeys(
                sha256 for t, found, sha256 in self._by_score if t < record["t"] and found == score
            )
        )
        if len(same) <= 1:
            return same[0] if same else None
        prompt = self._trace.blob(record.get("prompt_sha256"))
        shown = [name for name in same if prompt and (self.code(name) or "\0").strip() in prompt]
        return shown[0] if len(shown) == 1 else None

    # --- pages ---------------------------------------------------------------------------------

    def pages(self, record: Record) -> list[Page]:
        """All pages of an iteration: what its searches returned, and what was given."""
        found: dict[tuple[str, int], Page] = {}
        for page in (*self._returned(record), *map(self.document, record.get("documents") or ())):
            found.setdefault((page.url, id(page.text)), page)
        return list(found.values())

    def given(self, record: Record, documents: Iterable[Record]) -> list[Page]:
        """Pages that the generator of the child saw: documents of its prompt, or what its own
        searches returned where the generator searches by itself.
        """
        own = [
            round_
            for round_ in record.get("rounds") or ()
            if round_.get("candidate_slot") is not None
            and round_["candidate_slot"] == record.get("selected_slot")
            and round_.get("attempt") == record.get("attempts")
        ]
        pages = [self.document(document) for document in documents]
        return pages or list(self._returned({"t": record["t"], "rounds": own}))

    def document(self, document: Record) -> Page:
        """A document that was given to the generator."""
        url = document.get("url") or ""
        text = self._trace.blob(document.get("body_sha256"))
        if text is None:
            text = self._found_at(document.get("first_retrieved_t"), url)
        return self._page(url, document, text)

    def terms(self, page: Page) -> DocumentTerms | None:
        """Terms of a page's text."""
        if page.text is None:
            return None
        text = page.text.text
        if text not in self._terms:
            self._terms[text] = DocumentTerms(f"{page.title}\n{text}")
        return self._terms[text]

    @cached_property
    def all_documents(self) -> list[DocumentTerms]:
        """Terms of every distinct document that was given in the run and whose text is known."""
        pages = [
            self.document(document)
            for record in self._records
            for document in record.get("documents") or ()
        ]
        found = [self.terms(page) for page in pages]
        return list({id(terms): terms for terms in found if terms is not None}.values())

    def _returned(self, record: Record) -> Iterator[Page]:
        """Results of searches: bodies by their hashes, else as the journal keeps them."""
        seen = set()
        for row in _results(record):
            known = self._trace.documents.get(row.get("doc_id") or "")
            sha256 = row.get("body_sha256") or (known.body_sha256 if known else None)
            text = self._trace.blob(sha256)
            url = row.get("url") or ""
            title = known.title if known else ""
            if text is not None:
                yield self._page(url, {**row, "title": title}, text)
                continue
            if (record["t"], url) in seen:
                continue
            seen.add((record["t"], url))
            for text in self._searched.get((record["t"], url)) or (None,):
                yield self._page(url, {**row, "title": title}, text)

    def _found_at(self, t: int | None, url: str) -> str | None:
        """Text of a page by place, where its hash leads nowhere (it was cut for the prompt)."""
        texts = self._searched.get((t or 0, url)) or ()
        return texts[0] if len(texts) == 1 else None

    def _page(self, url: str, row: Record, text: str | None) -> Page:
        found = None
        if text is not None:
            found = self._pages.setdefault((url, text), PageText(url, text))
        return Page(url, str(row.get("title") or ""), str(row.get("host") or ""), found)

    @cached_property
    def _searched(self) -> dict[tuple[int, str], list[str | None]]:
        """Texts of search results by iteration and URL, from the journal's search events."""
        found: dict[tuple[int, str], list[str | None]] = {}
        for data in _search_events(self._trace):
            for result in (data.get("answer") or {}).get("results") or ():
                text = self._body(result)
                place = data.get("t") or 0, str(result.get("url") or "").strip()
                texts = found.setdefault(place, [])
                if text not in texts:
                    texts.append(text)
        return found

    def _body(self, result: Record) -> str | None:
        """Raw text where the search returned one, else the snippet."""
        if result.get("raw"):
            raw = self._trace.blob(result["raw"])
            if raw != "":
                return raw
        return self._trace.blob(result.get("snippet"))


def _results(record: Record) -> Iterator[Record]:
    for round_ in record.get("rounds") or ():
        for search in round_.get("searches") or ():
            yield from search.get("results") or ()


def _search_events(trace: Trace) -> Iterable[Record]:
    path = trace.folder / "journal.jsonl"
    if not path.is_file():
        return
    with path.open("rb") as file:
        for line in file:
            if b'"event":"search"' not in line:
                continue
            try:
                event = json.loads(line.decode("utf-8", errors="surrogatepass"))
            except ValueError:
                continue  # torn or damaged: the reader of the journal complains, not this one
            if event.get("event") == "search":
                yield event["data"]
