"""Documents as text: in query and scoring prompts, and in the solution prompt (prompts.md 6, 7)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from method.prompting import (
    fill_text,
    harmless,
    harmless_line,
    nothing,
    number,
    template,
    valid_unicode,
)
from method.protocols import GivenDocument, Retrieval
from method.rules import BODY_LIMIT, Rules

_SCORE_LINE = "estimated_child_score: {parent_score} -> {estimated_child_score}\n"
_NO_URL = "(not provided)"
_SMALLEST_BODY = 100


def quoted(text: str) -> str:
    """A text as a JSON string on one line, non-ASCII kept."""
    return json.dumps(valid_unicode(text), ensure_ascii=False)


def printed_body(document: GivenDocument, limit: int = BODY_LIMIT) -> str:
    """What an analysis prompt or the snapshot shows of a body."""
    return harmless(document.body)[:limit]


def observed_documents(
    documents: Sequence[GivenDocument],
    scores: Mapping[str, float],
    parent_score: float,
    rules: Rules,
) -> tuple[str, tuple[str, ...]]:
    """The field ``search_context``: one block for each document, and flags of what was shortened.

    Args:
        documents: in pool order, each with its ``ref`` and the query that found it.
        scores: predicted child scores by ``ref``; a document without one gets no score line.
        parent_score: search score of the parent.
        rules: ``context_budget_chars`` halves the bodies until the blocks fit.
    """
    if not documents:
        return nothing(rules), ()
    limit, budget = BODY_LIMIT, rules.context_budget_chars
    while True:
        blocks = (_observed(d, scores.get(d.ref or ""), parent_score, limit) for d in documents)
        text = "\n\n".join(blocks)
        if budget is None or len(text) <= budget or limit <= _SMALLEST_BODY:
            flags = () if limit == BODY_LIMIT else (f"context_budget:bodies_{limit}",)
            return text, flags
        limit //= 2


def _observed(document: GivenDocument, score: float | None, parent_score: float, limit: int) -> str:
    fragment = template("observed_document.fragment").rstrip("\n")
    values = {
        "doc_id": document.ref or "",
        "query": quoted(document.query or ""),
        "title": harmless_line(document.title),
        "url": harmless_line(document.url) or _NO_URL,
        "content": printed_body(document, limit),
    }
    if score is None:
        return fill_text(fragment.replace(_SCORE_LINE, ""), values)
    values |= {"parent_score": number(parent_score), "estimated_child_score": number(score)}
    return fill_text(fragment, values)


def given_body(document: GivenDocument, limit: int = BODY_LIMIT) -> str:
    """What the solution prompt shows of a body: it can neither open nor close a code fence."""
    return harmless(document.body).replace("```", "~~~")[:limit]


def helpful_knowledge(documents: Sequence[GivenDocument], limit: int = BODY_LIMIT) -> str:
    """The section of the solution prompt; empty (no heading) without documents."""
    if not documents:
        return ""
    heading, _, fragment = template("helpful_knowledge.fragment").rstrip("\n").partition("\n\n")
    blocks = [
        fill_text(
            fragment,
            {
                "k": str(position),
                "title": harmless_line(_title(document)),
                "url": harmless_line(document.url) or _NO_URL,
                "content": given_body(document, limit),
            },
        )
        for position, document in enumerate(documents, start=1)
    ]
    return "\n\n".join([heading, *blocks])


def _title(document: GivenDocument) -> str:
    if document.title.strip():
        return document.title
    return document.url or document.provider_id


def given_text(retrieval: Retrieval) -> str:
    """What stands between the current program and the task: proposal, then helpful knowledge."""
    parts = []
    if retrieval.proposal:
        parts.append(f"# Research Proposal\n\n{valid_unicode(retrieval.proposal).strip()}")
    knowledge = helpful_knowledge(retrieval.documents)
    return "\n\n".join([*parts, knowledge] if knowledge else parts)
