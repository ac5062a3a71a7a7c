"""The field ``search_database``: the ten newest records as text (prompts.md section 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from method.prompting import harmless_line, number
from method.rendering import printed_body, quoted
from method.rules import Rules

if TYPE_CHECKING:
    from method.searchdb import Credited, Record

RECORDS = 10
BODIES = 3
_SMALLEST_BODY = 100

_EMPTY = "(The search database is empty: there is no prior search experience.)"

_PREFACE = """\
How to read this database: every experience is one earlier attempt that retrieved or reused web \
documents, newest first. A document's estimated_child_score supposes that this document alone was \
used; it is a prediction and was never measured. An actual outcome is measured and belongs to the \
whole attempt with all its queries and documents; it does not tell how an attempt without \
retrieval would have ended. Missing scores are unknown. A query_ref such as q1 is local to its \
experience and is no document id. The contents below are the texts as they were used at the time; \
looking a document up returns its latest stored version."""

FRAME = f"{_EMPTY}\n\n{_PREFACE}"
"""The words of ours around the records."""


@dataclass(frozen=True)
class _Budget:
    """How much of the records is shown: records, those of them with bodies, characters a body."""

    records: int = RECORDS
    with_bodies: int = RECORDS
    body: int | None = None
    flags: tuple[str, ...] = field(default=())


def render_snapshot(
    records: Sequence[Record], rules: Rules
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Text of the snapshot, the document ids printed in it, and flags of what was left out.

    With ``context_budget_chars`` the oldest records lose their bodies first, then whole records
    go, the newest always stays, and at last its bodies are halved.
    """
    newest = list(reversed(records[-RECORDS:]))
    if not newest:
        return ("(none yet)" if rules.prompt_fields == "fenced" else _EMPTY), (), ()
    budget = _Budget(len(newest), len(newest))
    while True:
        text, visible = _render(newest, budget, rules)
        limit = rules.context_budget_chars
        smaller = None if limit is None or len(text) <= limit else _shrink(budget)
        if smaller is None:
            return text, visible, budget.flags
        budget = smaller


def _shrink(budget: _Budget) -> _Budget | None:
    """The next smaller budget; ``None`` when nothing more may go."""
    if budget.with_bodies > 1:
        flags = _noted(budget.flags, "context_budget:old_bodies_dropped")
        return replace(budget, with_bodies=budget.with_bodies - 1, flags=flags)
    if budget.records > 1:
        flags = _noted(budget.flags, "context_budget:old_records_dropped")
        return replace(budget, records=budget.records - 1, flags=flags)
    body = (budget.body or 10_000) // 2
    if body < _SMALLEST_BODY:
        return None
    return replace(budget, body=body, flags=_noted(budget.flags, "context_budget:bodies_halved"))


def _noted(flags: tuple[str, ...], flag: str) -> tuple[str, ...]:
    return flags if flag in flags else (*flags, flag)


def _render(newest: Sequence[Record], budget: _Budget, rules: Rules) -> tuple[str, tuple[str, ...]]:
    parts, visible = [_PREFACE], dict[str, None]()
    shown: dict[tuple[str, str], int] = {}
    for position, record in enumerate(newest[: budget.records], start=1):
        lines = _head(record, position, rules)
        visible.update(dict.fromkeys(document.db_id for document in record.documents))
        for document in record.documents[:BODIES]:
            body = printed_body(document.document, budget.body or 10_000)
            if position > budget.with_bodies:
                body = "(left out to keep the prompt short)"
            elif rules.snapshot_dedup:
                first = shown.setdefault((document.db_id, body), position)
                if first < position:
                    body = f"(as in Search Experience {first} above)"
            lines += _document(record, document, body)
        parts.append("\n".join(lines))
    return "\n\n".join(parts), tuple(visible)


def _head(record: Record, position: int, rules: Rules) -> list[str]:
    lines = [
        f"[Search Experience {position}] iteration {record.iteration}",
        f"operation: {record.operation}",
    ]
    if record.distinct_queries and record.operation == "retrieve":
        lines.append("searched_queries:")
        for place, query in enumerate(record.distinct_queries, start=1):
            lines += [f"- query_ref: q{place}", f"  query: {quoted(query)}"]
    else:
        lines.append("searched_queries: []")
    lines += _outcome(record, rules)
    ids = dict.fromkeys(document.db_id for document in record.documents)
    lines.append(f"used_document_ids: [{', '.join(quoted(name) for name in ids)}]")
    count = len(record.documents)
    if count > BODIES:
        lines.append(f"documents shown: {BODIES}/{count}; the outcome also covers those not shown")
    if not count:
        lines.append("documents: (none)")
    return lines


def _outcome(record: Record, rules: Rules) -> list[str]:
    parent, outcome = number(record.parent_score), record.outcome
    if outcome is None or outcome.child_score is None:
        why = "not measured" if outcome is None else "the attempt gave no valid child"
        lines = [
            f"actual outcome: unknown ({why})",
            f"  parent_score -> child_score: {parent} -> unknown",
        ]
    else:
        child = number(outcome.child_score)
        lines = [
            "actual outcome (combined evidence):",
            f"  parent_score -> child_score: {parent} -> {child}",
        ]
    if rules.snapshot_outcomes and outcome is not None:
        lines.append(f"child: {'valid' if outcome.valid else 'none valid'}")
    if outcome is not None and outcome.feedback:
        lines.append(f"feedback: {quoted(harmless_line(outcome.feedback))}")
    return lines


def _document(record: Record, credited: Credited, body: str) -> list[str]:
    document = credited.document
    lines = [f"[[Search Document: {credited.db_id}]]"]
    if record.operation == "retrieve":
        predicted = number(credited.predicted)
        lines.append(f"estimated_child_score: {number(record.parent_score)} -> {predicted}")
    lines.append(f"search_document_id: {quoted(credited.db_id)}")
    if record.operation == "retrieve" and document.query in record.distinct_queries:
        lines.append(f"source_query_ref: q{record.distinct_queries.index(document.query) + 1}")
    else:
        source = "unknown" if document.query is None else quoted(document.query)
        lines.append(f"source_query: {source}")
    lines += [
        f"title: {harmless_line(document.title)}",
        f"url: {harmless_line(document.url)}",
        "content:",
        body,
        "[[/Search Document]]",
    ]
    return lines
