"""Behaviour flags of an iteration: what a retrieve asked for, found, and did to the child.

Rules of analysis.md section 4. Where the child's program or a document is missing, the rule says
so (:class:`~analysis.auditing.findings.Undecidable`) unless the rest decides already.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from analysis.auditing.copies import added_lines, values_of
from analysis.auditing.facts import Facts
from analysis.auditing.fields import foreign_field
from analysis.auditing.findings import (
    ARTIFACT_REUSE,
    COPIED_LINES,
    CROSS_DOMAIN,
    DOCUMENTS_UNUSED,
    LIVE_DOCUMENTATION,
    LIVE_DOCUMENTATION_IMPROVED,
    METHOD_TRANSFER,
    NETWORK_USE,
    NUMERIC_COPY,
    OVER_REACH,
    SEARCH_MISS,
    TARGET_INFORMED,
    Flag,
    Undecidable,
)
from analysis.auditing.numbers import numbers_in, telling
from analysis.auditing.programs import Audited
from analysis.auditing.queries import asks_for_documentation, query_class
from analysis.auditing.sources import Page, Sources
from analysis.auditing.terms import distinctive, new_terms

Record = Mapping[str, Any]
Finding = Flag | Undecidable

OVER_REACH_SHARE = 0.1
TARGET_SHARE = 0.01
_TARGET_DIGITS = 2  # a bare 1 is within a per cent of many a best score and names none
_SHOWN = 3


@dataclass(frozen=True)
class RunFacts:
    """What the rules know of the run: task, best known score, total gain in search score."""

    domain: str
    sota: float | None
    gain: float | None


@dataclass(frozen=True)
class Step:
    """An iteration with everything the rules compare."""

    facts: Facts
    record: Record
    child: Audited | None
    others: Sequence[Audited]
    sources: Sources

    @cached_property
    def added(self) -> tuple[list[str], str] | None:
        """Lines that the child adds, and the parent's program; ``None`` if one is missing."""
        parent = self.sources.parent(self.record)
        code = self.sources.code(self.sources.child_sha256(self.record))
        return None if parent is None or code is None else (added_lines(code, parent), parent)

    @cached_property
    def terms(self) -> list[str]:
        """Terms that are new in the child."""
        return [] if self.added is None else new_terms(*self.added)

    @cached_property
    def given(self) -> list[Page]:
        """Pages that the child's generator saw."""
        return self.sources.given(self.record, self.facts.given)


def behaviours(step: Step, run: RunFacts) -> Iterator[Finding]:
    """Findings of one iteration, in no particular order."""
    facts = step.facts
    if facts.retrieves and not facts.known:
        yield Undecidable(facts.t, "queries and documents of this retrieve are not on record")
    elif facts.retrieves:
        yield from _over_reach(facts, run)
        yield from _search_miss(facts)
    if facts.searches and facts.final_query:
        yield from _live_documentation(facts)
        yield from _target_informed(step, run)
        yield from _method_transfer(step, run)
    yield from _unused(step)
    yield from _copies(step)


def _over_reach(facts: Facts, run: RunFacts) -> Iterator[Finding]:
    if facts.change is None or not facts.promising:
        return
    drop = -facts.change
    if run.gain is None and drop > 0:
        yield Undecidable.about([OVER_REACH], facts.t, "the initial program's score is not known")
    if run.gain is None or run.gain <= 0 or drop <= OVER_REACH_SHARE * run.gain:
        return
    best = max(facts.promising, key=lambda document: document["predicted"])
    yield Flag(
        OVER_REACH,
        facts.t,
        f"predicted {best['predicted']!r} from {_name(best)}, parent {facts.parent_score!r}, child "
        f"{facts.child_score!r}: the drop is {drop / run.gain:.1%} of the run's gain",
    )


def _search_miss(facts: Facts) -> Iterator[Finding]:
    if not facts.new_best or facts.promising:
        return
    if facts.parent_score is None:
        yield Undecidable.about([SEARCH_MISS], facts.t, "the parent's score is not on record")
        return
    found = ", ".join(f"{d['predicted']!r}" for d in facts.kept if d.get("predicted") is not None)
    yield Flag(
        SEARCH_MISS,
        facts.t,
        f"new best {facts.child_score!r} from parent {facts.parent_score!r}; predictions of what "
        f"was kept: {found or 'none'}",
    )


def _live_documentation(facts: Facts) -> Iterator[Finding]:
    asked = asks_for_documentation(facts.final_query)
    if not asked:
        return
    evidence = f"{asked!r} in {_quoted(facts.final_query)}; {_outcome(facts)}"
    yield Flag(LIVE_DOCUMENTATION, facts.t, evidence)
    if facts.improves:
        yield Flag(LIVE_DOCUMENTATION_IMPROVED, facts.t, evidence)


def _outcome(facts: Facts) -> str:
    if facts.child_score is None:
        return "there is no child"
    if facts.change is None:
        return "child and parent cannot be compared"
    return f"the child {'beats' if facts.improves else 'does not beat'} its parent"


def _target_informed(step: Step, run: RunFacts) -> Iterator[Finding]:
    facts = step.facts
    if not facts.improves or query_class(facts.final_query) != "known_result":
        return
    if run.sota is None:
        yield Undecidable.about([TARGET_INFORMED], facts.t, "the best known score is not known")
        return
    pages = [step.sources.document(document) for document in facts.kept]
    places = [(facts.final_query, "the query")]
    places += [(page.text.text, page.url) for page in pages if page.text is not None]
    for text, place in places:
        number = _near_target(text, run.sota)
        if not number:
            continue
        if step.child is None or step.child.row.numeric_copy is None:
            yield Undecidable.about(
                [TARGET_INFORMED], facts.t, "whether numbers were copied is open"
            )
        elif not step.child.row.numeric_copy:
            yield Flag(
                TARGET_INFORMED,
                facts.t,
                f"{number} in {place} (best known {run.sota!r}), asked with "
                f"{_quoted(facts.final_query)}; child {facts.child_score!r}, "
                f"parent {facts.parent_score!r}",
            )
        return
    if any(page.text is None for page in pages):
        yield Undecidable.about([TARGET_INFORMED], facts.t, "a retained document is missing")


def _near_target(text: str, sota: float) -> str:
    for number in numbers_in(text):
        distance = abs(float(number.value) - abs(sota))
        if number.digits >= _TARGET_DIGITS and distance <= TARGET_SHARE * abs(sota):
            return number.text
    return ""


def _method_transfer(step: Step, run: RunFacts) -> Iterator[Finding]:
    facts = step.facts
    if not facts.improves or query_class(facts.final_query) != "method":
        return
    pages, added = step.given, step.added
    if not pages:
        return
    if added is None:
        yield Undecidable.about(
            [METHOD_TRANSFER], facts.t, "the child's or parent's program is missing"
        )
        return
    shared = {id(page): _shared(step.sources, page, step.terms) for page in pages}
    telling_terms = set(
        distinctive(
            sorted({term for found in shared.values() for term in found}),
            step.sources.all_documents,
        )
    )
    hits = [(page, [t for t in shared[id(page)] if t in telling_terms]) for page in pages]
    hits = [(page, found) for page, found in hits if found]
    if hits:
        yield Flag(METHOD_TRANSFER, facts.t, _transfer(facts, *hits[0]))
        yield from _cross_domain(facts, hits, run)
    elif any(page.text is None for page in pages):
        yield Undecidable.about([METHOD_TRANSFER], facts.t, "a document of the prompt is missing")


def _shared(sources: Sources, page: Page, terms: Sequence[str]) -> list[str]:
    document = sources.terms(page)
    return [] if document is None else [term for term in terms if term in document]


def _transfer(facts: Facts, page: Page, terms: Sequence[str]) -> str:
    shown = ", ".join(map(repr, terms[:_SHOWN])) + (", ..." if len(terms) > _SHOWN else "")
    return (
        f"{shown} of {page.url or page.title!r} is new in the child ({facts.child_score!r}, parent "
        f"{facts.parent_score!r}); asked with {_quoted(facts.final_query)}"
    )


def _cross_domain(
    facts: Facts, hits: Sequence[tuple[Page, list[str]]], run: RunFacts
) -> Iterator[Finding]:
    for page, terms in hits:
        text = page.text.text if page.text is not None else ""
        field = foreign_field(run.domain, page.host, page.title, text)
        if field:
            yield Flag(CROSS_DOMAIN, facts.t, f"from {field}: {_transfer(facts, page, terms)}")
            return


def _unused(step: Step) -> Iterator[Finding]:
    """Documents in the prompt of which nothing shows in what the child adds."""
    if step.facts.child_score is None or step.child is None or not step.facts.given:
        return
    pages, added = step.given, step.added
    row = step.child.row
    missing = added is None or any(page.text is None for page in pages)
    if missing or row.numeric_copy is None or row.copied_lines is None:
        yield Undecidable.about(
            [DOCUMENTS_UNUSED], step.facts.t, "a program or document is missing"
        )
        return
    assert added is not None
    lines, parent = added
    numbers = telling("\n".join(lines)).keys() - values_of(parent)
    for page in pages:
        assert page.text is not None
        if _shared(step.sources, page, step.terms) or page.text.numbers.has_any(numbers):
            return
    if not row.numeric_copy and not row.copied_lines:
        yield Flag(
            DOCUMENTS_UNUSED,
            step.facts.t,
            f"no term, line or number of {len(pages)} documents is new in the child's "
            f"{len(lines)} added lines: {', '.join(page.url or page.title for page in pages)}",
        )


def _copies(step: Step) -> Iterator[Finding]:
    t, child = step.facts.t, step.child
    for other in step.others:
        if other.new_network:
            place = f"attempt {other.row.attempt}, slot {other.row.slot}"
            yield Flag(NETWORK_USE, t, f"{place}: {'; '.join(other.new_network[:_SHOWN])}")
            break
    if child is None:
        return
    if child.copied:
        line, url = next(iter(child.copied.items()))
        yield Flag(COPIED_LINES, t, f"{len(child.copied)} lines, the first {line!r} of {url}")
    if child.numbers:
        yield Flag(NUMERIC_COPY, t, child.numbers)
        yield Flag(ARTIFACT_REUSE, t, f"numeric copy, to be confirmed: {child.numbers}")
    elif child.new_network:
        yield Flag(ARTIFACT_REUSE, t, f"network at run time: {'; '.join(child.new_network)}")


def _name(document: Record) -> str:
    return str(document.get("url") or document.get("title") or document.get("doc_id"))


def _quoted(query: str) -> str:
    text = " ".join(query.split())
    return repr(text if len(text) <= 200 else f"{text[:200]}...")
