"""Reading what Tavily returns, which is data of strangers: checked, cut, never trusted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from method.identity import is_web_url
from method.prompting import valid_unicode
from method.protocols import SearchResult
from method.rules import BODY_LIMIT
from method.secrets import Secrets

TITLE_LIMIT = 500
READ_LIMIT = 200_000
"""Characters of one page that are looked at, before it is cut to the limit of documents."""


def read_results(answer: Mapping[str, Any], secrets: Secrets) -> tuple[SearchResult, ...]:
    """The usable hits in the provider's order; ``rank`` counts the dropped ones too.

    A hit needs an http(s) URL and a snippet (methods.md 1.4 b).
    """
    results = []
    for rank, row in enumerate(answer["results"], start=1):
        if not isinstance(row, dict):
            continue
        url = _text(row.get("url"), READ_LIMIT, secrets).strip()
        snippet = _text(row.get("content"), BODY_LIMIT, secrets)
        if not is_web_url(url) or not snippet.strip():
            continue
        results.append(
            SearchResult(
                url=url,
                provider_id=url,
                title=_text(row.get("title"), TITLE_LIMIT, secrets),
                snippet=snippet,
                raw=_text(row.get("raw_content"), BODY_LIMIT, secrets) or None,
                score=_number(row.get("score")),
                rank=rank,
            )
        )
    return tuple(results)


def read_credits(answer: Mapping[str, Any]) -> float | None:
    """Credits that a search cost, where the provider says so."""
    usage = answer.get("usage")
    return _number(usage.get("credits")) if isinstance(usage, dict) else None


def _text(value: Any, limit: int, secrets: Secrets) -> str:
    if not isinstance(value, str):
        return ""
    return secrets.clean(valid_unicode(value[:READ_LIMIT]))[:limit]


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)
