"""Audit of the programs of a run: every candidate against its parent and its iteration's pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from analysis.auditing.copies import (
    TOGETHER,
    PageText,
    added_lines,
    copied_lines,
    is_telling,
    new_numbers,
    numeric_copy,
)
from analysis.auditing.findings import (
    ARTIFACT_REUSE,
    COPIED_LINES,
    NETWORK_USE,
    NUMERIC_COPY,
    AuditedCandidate,
    Undecidable,
)
from analysis.auditing.network import network_calls
from analysis.auditing.sources import Page, Sources

Record = Mapping[str, Any]
_COPIES = (NUMERIC_COPY, COPIED_LINES, ARTIFACT_REUSE)


@dataclass(frozen=True)
class Audited:
    """A candidate's row, with the evidence that `audit.json` keeps in its flags.

    ``copied`` maps copied lines to the page's URL; ``new_network`` are calls that the parent does
    not make; ``gaps`` tell what is not decidable.
    """

    row: AuditedCandidate
    numbers: str
    copied: Mapping[str, str]
    new_network: tuple[str, ...]
    gaps: tuple[Undecidable, ...]


class Programs:
    """Auditor of one run's candidates. ``language`` is that of the task."""

    def __init__(self, sources: Sources, language: str) -> None:
        self._sources, self._language = sources, language
        self._calls: dict[str, tuple[str, ...]] = {}

    def audit(self, record: Record) -> list[Audited]:
        """One entry for each candidate that has a program, in the order of the trace."""
        rows = [row for row in record.get("candidates") or () if row.get("code_sha256")]
        if not rows:
            return []
        parent, pages = self._sources.parent(record), self._sources.pages(record)
        found: dict[str, Audited] = {}
        audited = []
        for row in rows:
            sha256 = row["code_sha256"]
            if sha256 not in found:  # the same program again needs no second look
                found[sha256] = self._audit(record["t"], sha256, parent, pages)
            place = {"attempt": row.get("attempt"), "slot": row.get("slot")}
            audited.append(replace(found[sha256], row=replace(found[sha256].row, **place)))
        return audited

    def _audit(self, t: int, sha256: str, parent: str | None, pages: Sequence[Page]) -> Audited:
        code = self._sources.code(sha256)
        blank = AuditedCandidate(t, None, None, sha256, None, None, None)
        if code is None:
            gap = Undecidable.about((*_COPIES, NETWORK_USE), t, f"program {sha256[:12]} is missing")
            return Audited(blank, "", {}, (), (gap,))
        calls = self._network(code)
        before = () if parent is None else self._network(parent)
        known = {call.partition(": ")[2] for call in before}
        fresh = tuple(call for call in calls if call.partition(": ")[2] not in known)
        there = [page.text for page in pages if page.text is not None]
        complete = len(there) == len(pages)
        copied, lines_known = _copied(code, parent, there, complete)
        numbers, numbers_known = _numbers(code, parent, there, complete)
        row = replace(
            blank,
            numeric_copy=bool(numbers) if numbers or numbers_known else None,
            copied_lines=tuple(copied) if copied or lines_known else None,
            network_calls=calls,
        )
        undecided = None in (row.numeric_copy, row.copied_lines)
        gaps = [Undecidable.about(_COPIES, t, why) for why in _gaps(parent, pages)]
        return Audited(row, numbers, copied, fresh, tuple(gaps) if undecided else ())

    def _network(self, code: str) -> tuple[str, ...]:
        if code not in self._calls:
            self._calls[code] = tuple(network_calls(code, self._language))
        return self._calls[code]


def _gaps(parent: str | None, pages: Sequence[Page]) -> Iterator[str]:
    if parent is None:
        yield "the parent's program is missing"
    for page in pages:
        if page.text is None:
            yield f"the text of {page.url or 'a page without URL'} is missing"


def _copied(
    code: str, parent: str | None, pages: Sequence[PageText], complete: bool
) -> tuple[dict[str, str], bool]:
    """Copied lines, and whether there can be no others.

    Without the parent all lines are suspects: that none is copied is certain, that one is, is not.
    """
    suspects = code.splitlines() if parent is None else added_lines(code, parent)
    found = copied_lines(suspects, pages)
    if parent is None and found:
        return {}, False
    return found, complete or not any(map(is_telling, suspects))


def _numbers(
    code: str, parent: str | None, pages: Sequence[PageText], complete: bool
) -> tuple[str, bool]:
    """Evidence of a numeric copy (or empty), and whether there can be no other."""
    suspects = code.splitlines() if parent is None else added_lines(code, parent)
    numbers = new_numbers(suspects, parent or "")
    found = numeric_copy(numbers, pages)
    if parent is None and found is not None:
        return "", False
    return (found.evidence if found else ""), complete or len(numbers) < TOGETHER
