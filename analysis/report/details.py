"""What an opened iteration shows: the whole record, the change to the program, the page texts."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analysis.report.packing import plain_json
from analysis.trace_documents import Document
from analysis.traces import Trace

BODY_CHARS = 12_000
"""Of a page's text; a prompt shows a few thousand."""
DIFF_LINES = 3_000
"""Programs with more lines are not compared, the new one is shown."""
PROGRAM_CHARS = 60_000
"""The usual longest candidate."""
CHUNK_CHARS = 400_000
"""JSON of a block of iterations: unpacked in a few hundredths of a second."""


class Programs:
    """Where the programs of a run lie: the initial one, and each iteration's child."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._by_id: dict[str, str] = {}
        self._by_t: dict[int, str] = {}
        initial = trace.manifest.get("x0")
        if isinstance(initial, str):
            self._by_t[0] = initial

    def add(self, record: Mapping[str, Any]) -> None:
        """Remember the child of an iteration."""
        sha256 = child_code(record)
        if sha256 is not None:
            self._by_id[record["child"]["id"]] = sha256
            self._by_t[record["t"]] = sha256

    def parent_of(self, record: Mapping[str, Any]) -> str | None:
        """The parent's text; copies that a scaffold makes have ids of their own."""
        parent = record["parent"]
        return self._trace.blob(
            self._by_id.get(parent["id"]) or self._by_t.get(parent["iteration"])
        )

    def of_iteration(self, t: int) -> str | None:
        """The text of an iteration's child, 0 for the initial program."""
        return self._trace.blob(self._by_t.get(t))


def child_code(record: Mapping[str, Any]) -> str | None:
    """Hash of the program that became the child: the chosen slot of the last attempt."""
    if record["child"] is None:
        return None
    for candidate in record["candidates"]:
        if (candidate["attempt"], candidate["slot"]) == (
            record["attempts"],
            record["selected_slot"],
        ):
            found: str | None = candidate["code_sha256"]
            return found
    return None


def change(before: str | None, after: str | None) -> dict[str, Any]:
    """The unified difference, or why there is none (``why``) with the new text when it is known."""
    if before is None or after is None:
        missing = "parent's" if before is None else "child's"
        return {"why": f"the {missing} program is not in the run folder", "text": cut(after)}
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > DIFF_LINES:
        return {"why": f"more than {DIFF_LINES:,} lines are not compared", "text": cut(after)}
    lines = list(difflib.unified_diff(old, new, "parent", "child", lineterm="", n=3))[2:]
    return {"diff": lines} if lines else {"why": "the programs are equal line by line"}


def cut(text: str | None, chars: int = PROGRAM_CHARS) -> dict[str, Any] | None:
    """A text that is not too long, and how long it was."""
    return None if text is None else {"text": text[:chars], "chars": len(text)}


def detail(
    record: Mapping[str, Any],
    trace: Trace,
    programs: Programs,
    documents: Mapping[str, Document],
) -> dict[str, Any]:
    """One iteration; the texts of its documents are beside it in the block (:class:`Chunks`)."""
    found: dict[str, Any] = {"record": record, "titles": dict(_titles(record, documents))}
    child = child_code(record)
    if child is not None:
        found["change"] = change(programs.parent_of(record), trace.blob(child))
    return found


def _titles(
    record: Mapping[str, Any], documents: Mapping[str, Document]
) -> Iterator[tuple[str, str]]:
    for round_ in record["rounds"]:
        for search in round_["searches"]:
            for result in search["results"]:
                known = documents.get(result["doc_id"])
                if known is not None and known.title:
                    yield result["doc_id"], known.title


class Chunks:
    """Groups iterations until a block is full; a page's text stands once in each block."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._details: dict[int, dict[str, Any]] = {}
        self._bodies: dict[str, Any] = {}
        self._size = 0
        self.place: dict[int, int] = {}
        """Number of the block of each iteration."""
        self._number = 0

    def add(self, t: int, found: dict[str, Any]) -> dict[str, Any] | None:
        """Take an iteration; gives a block when one is full."""
        self._details[t] = found
        self.place[t] = self._number
        self._size += len(plain_json(found))
        for document in found["record"]["documents"]:
            name = document["body_sha256"]
            if name not in self._bodies:
                body = cut(self._trace.blob(name), BODY_CHARS)
                self._bodies[name] = body
                self._size += len(body["text"]) if body else 0
        return self.rest() if self._size >= CHUNK_CHARS else None

    def rest(self) -> dict[str, Any] | None:
        """What has been gathered since the last block, if anything."""
        if not self._details:
            return None
        full = {"iterations": self._details, "bodies": self._bodies}
        self._details, self._bodies, self._size = {}, {}, 0
        self._number += 1
        return full


def lineage(rows: Sequence[Mapping[str, Any]], t: int) -> list[int]:
    """Iterations from the initial program (0) to ``t``, each the parent of the next.

    It begins later where a parent is not known.
    """
    parents = {row["t"]: row["from"] for row in rows}
    path = [t]
    while (parent := parents.get(path[-1])) is not None and parent < path[-1]:
        path.append(parent)
    return path[::-1]
