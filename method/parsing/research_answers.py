"""The structured answers of the sequential retriever: a plan, and the review of a proposal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from method.parsing.json_answers import answer_object
from method.prompting import valid_unicode
from method.rules import QUERY_LIMIT, Rules


@dataclass(frozen=True)
class Question:
    """What is searched for, and why."""

    text: str
    query: str


@dataclass(frozen=True)
class Plan:
    """The plan's questions; ``error`` when the answer was malformed."""

    questions: tuple[Question, ...] = ()
    error: str = ""


@dataclass(frozen=True)
class Reflection:
    """A review of the proposal; ``error`` when the answer was malformed."""

    ready: bool = True
    critique: str = ""
    queries: tuple[str, ...] = ()
    error: str = ""


def read_plan(text: str, rules: Rules) -> Plan:
    """The questions of a plan; entries without a query are dropped."""
    found = answer_object(text, rules, {"questions"})
    rows = (found.value or {}).get("questions")
    if not isinstance(rows, list):
        return Plan(error=found.error or "questions is not a list")
    questions = []
    for row in rows:
        query = _query(row.get("query") if isinstance(row, dict) else None)
        if query:
            asked = row.get("question")
            text = asked.strip() if isinstance(asked, str) and asked.strip() else query
            questions.append(Question(valid_unicode(text), query))
    if not questions:
        return Plan(error="no question with a query")
    return Plan(tuple(questions))


def read_reflection(text: str, rules: Rules) -> Reflection:
    """A review. It is ready when it says so or asks for nothing."""
    found = answer_object(text, rules, {"ready", "critique", "queries"})
    if found.value is None:
        return Reflection(error=found.error)
    raw, critique = found.value.get("queries"), found.value.get("critique")
    queries = tuple(filter(None, map(_query, raw))) if isinstance(raw, list) else ()
    critique = valid_unicode(critique.strip()) if isinstance(critique, str) else ""
    ready = found.value.get("ready") is True or not (queries or critique)
    return Reflection(ready, critique, queries)


def _query(raw: Any) -> str:
    return valid_unicode(raw).strip()[:QUERY_LIMIT].rstrip() if isinstance(raw, str) else ""
