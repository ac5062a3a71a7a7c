"""The three structured answers: gate, query, evidence scoring (methods.md 1.3, 1.4 and 2.6).

Each reader takes the answer's text and the rules of the run and never raises: what cannot be used
is told in ``Read.error``. Values of the wrong type count as absent, field by field.
"""

from __future__ import annotations

import json
import re
from collections.abc import Set
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from method.parsing.json_objects import JsonObject, chain_object, strict_object
from method.prompting import placeholders, valid_unicode
from method.rules import QUERY_LIMIT, Rules

Choice = Literal["no-op", "look-up", "retrieve"]

_ITEMS, _ITEM_LIMIT = 20, 100
_OPENED = re.compile(r"<knowledge_state_analysis>", re.I)
_CLOSED = re.compile(r"</knowledge_state_analysis>", re.I)
_DECIDED = re.compile(r"\s*<gate[_ ]decision>(?P<json>.*)</gate[_ ]decision>\Z", re.S | re.I)


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class GateAnswer(_Answer):
    """A gate's answer. ``decision`` is ``None`` when the answer is malformed."""

    knowledge_state_analysis: str = ""
    decision: Choice | None = None
    reasoning: str = ""
    search_document_ids: tuple[str, ...] = ()
    """Only of a look-up: distinct, in the order given."""
    raw_decision: str | None = None
    """The word as the model wrote it."""


class QueryAnswer(_Answer):
    """One query; ``query`` is never empty."""

    query: str
    keywords: tuple[str, ...] | None = None
    resources: tuple[str, ...] | None = None
    query_intent: str | None = None
    rationale: str = ""


class ScoringAnswer(_Answer):
    """Predictions row by row as they were written, and the proposed knowledge state."""

    document_predictions: tuple[Any, ...]
    knowledge_state_analysis: str


AnswerT = TypeVar("AnswerT", bound=_Answer)


@dataclass(frozen=True)
class Read(Generic[AnswerT]):
    """What was read. With an ``error`` the answer is malformed; of a gate's answer the readable
    parts are kept, of the others nothing is."""

    answer: AnswerT | None
    error: str = ""
    flags: tuple[str, ...] = ()


# --- gate --------------------------------------------------------------------------------------


def read_gate(text: str, rules: Rules) -> Read[GateAnswer]:
    """A gate's answer under the switches ``gate.parser`` and ``placeholders``."""
    chain = rules.gate_parser == "chain"
    found, tagged = _gate_object(text, chain=chain)
    value, flags = found.value or {}, list(found.flags)
    raw, reasoning = value.get("decision"), _text(value.get("reasoning"))
    knowledge = tagged
    if knowledge is None:
        knowledge = _knowledge(value.get("knowledge_state_analysis"), flags, serialise=chain)
    examples = placeholders("gate.user") if rules.placeholders == "malformed" else frozenset()
    decision = _decision(raw, lenient=chain)
    ids = _ids(value.get("search_document_ids"), trim=chain) if decision == "look-up" else ()
    error = found.error
    if not error and knowledge.strip() in examples:
        error = "the example text came back"
    elif not error and decision is None:
        error = f"the decision is not one of no-op, look-up, retrieve: {_shown(raw)}"
    elif not error and decision == "look-up" and not ids:
        error = "look-up needs a non-empty list search_document_ids of texts"
    elif not error and rules.gate_malformed == "missing" and not knowledge.strip():
        error = "knowledge_state_analysis is empty"
    answer = GateAnswer(
        knowledge_state_analysis=knowledge,
        decision=None if error else decision,
        reasoning="" if reasoning.strip() in examples else reasoning,
        search_document_ids=() if error else ids,
        raw_decision=_text(raw) if isinstance(raw, str) else None,
    )
    return Read(answer, error, tuple(flags))


def _gate_object(text: str, *, chain: bool) -> tuple[JsonObject, str | None]:
    """The object and, of the older form with two tags, the text that replaces its knowledge."""
    found = strict_object(text)
    if found.value is not None and not chain:
        return found, None
    tagged, decided = _tagged(text.strip())
    if decided is not None:
        inner = strict_object(decided)
        if inner.value is not None:
            return inner, tagged
    if chain:
        return chain_object(text, GateAnswer.model_fields.keys()), None
    return found, tagged


def _tagged(text: str) -> tuple[str | None, str | None]:
    """Knowledge text of the older form, and its decision if the text is that form and no more."""
    opened = _OPENED.search(text)
    closed = _CLOSED.search(text, opened.end()) if opened else None
    if opened is None or closed is None:
        return None, None
    decided = _DECIDED.match(text, closed.end()) if opened.start() == 0 else None
    return text[opened.end() : closed.start()].strip(), decided["json"] if decided else None


def _decision(raw: Any, *, lenient: bool) -> Choice | None:
    if not isinstance(raw, str):
        return None
    if lenient:
        word = re.sub(r"[\s_-]", "", raw.strip(" \t\r\n\"'`*“”‘’.")).lower()
        spellings: dict[str, Choice] = {
            "noop": "no-op",
            "lookup": "look-up",
            "retrieve": "retrieve",
        }
        return spellings.get(word)
    word = raw.strip().strip("\"'").lower().replace("_", "-").replace(" ", "-")
    exact: dict[str, Choice] = {"no-op": "no-op", "look-up": "look-up", "retrieve": "retrieve"}
    return exact.get(word)


def _ids(value: Any, *, trim: bool) -> tuple[str, ...]:
    """A list of non-blank texts without exact repeats; empty when it is anything else."""
    if not isinstance(value, list):
        return ()
    texts = [_text(item) for item in value]
    if not all(text.strip() for text in texts):
        return ()
    return tuple(dict.fromkeys(text.strip() if trim else text for text in texts))


# --- query -------------------------------------------------------------------------------------


def read_query(text: str, rules: Rules) -> Read[QueryAnswer]:
    """One sample of the query prompt under the switches of ``query`` and ``json``."""
    found = answer_object(text, rules, QueryAnswer.model_fields.keys())
    value = found.value
    if value is None:
        return Read(None, found.error, found.flags)
    examples: frozenset[str] = frozenset()
    if rules.placeholders == "malformed":
        examples = placeholders("query_first.user") | placeholders("query_next.user")
    keywords = _items(value.get("keywords"), examples)
    query, error = _query_text(value.get("query"), keywords, rules)
    if not error and query in examples:
        error = "the example text came back"
    if error:
        return Read(None, error, found.flags)
    answer = QueryAnswer(
        query=query,
        keywords=keywords,
        resources=_items(value.get("resources"), examples),
        query_intent=_intent(value.get("query_type"), examples)
        or _intent(value.get("query_intent"), examples),
        rationale=_text(value.get("rationale")),
    )
    return Read(answer, "", found.flags)


def _query_text(raw: Any, keywords: tuple[str, ...] | None, rules: Rules) -> tuple[str, str]:
    text = _text(raw).strip()
    if rules.query_limit == "reject":
        if len(text) > QUERY_LIMIT:
            return "", f"the query has {len(text)} characters; at most {QUERY_LIMIT}"
        return text, "" if text else "the query is empty"
    text = (text or " ".join(keywords or ()))[:QUERY_LIMIT].rstrip()
    return text, "" if text else "neither a query nor keywords"


def _items(raw: Any, examples: frozenset[str]) -> tuple[str, ...] | None:
    if not isinstance(raw, list):
        return None
    texts = (_text(item).strip()[:_ITEM_LIMIT] for item in raw[:_ITEMS])
    return tuple(text for text in texts if text and text not in examples) or None


def _intent(raw: Any, examples: frozenset[str]) -> str | None:
    text = _text(raw).strip()[:QUERY_LIMIT]
    return text if text and text not in examples else None


# --- scoring -----------------------------------------------------------------------------------


def read_scoring(text: str, rules: Rules) -> Read[ScoringAnswer]:
    """A scoring answer; its rows are judged by :func:`method.evidence.judge`."""
    found = answer_object(text, rules, ScoringAnswer.model_fields.keys(), lower_case_tag=True)
    if found.value is None:
        return Read(None, found.error, found.flags)
    flags = list(found.flags)
    rows, raw = (found.value.get(field) for field in ScoringAnswer.model_fields)
    if not isinstance(rows, list):
        return Read(None, "document_predictions is not a list", tuple(flags))
    knowledge = _knowledge(raw, flags, serialise=rules.json_parser == "chain")
    if rules.placeholders == "malformed" and knowledge in placeholders("evidence_scoring.user"):
        knowledge = ""
    if rules.scoring_complete == "strict" and not knowledge.strip():
        return Read(None, "knowledge_state_analysis is not a non-blank text", tuple(flags))
    answer = ScoringAnswer(document_predictions=tuple(rows), knowledge_state_analysis=knowledge)
    return Read(answer, "", tuple(flags))


# --- shared ------------------------------------------------------------------------------------


def answer_object(
    text: str, rules: Rules, keys: Set[str], *, lower_case_tag: bool = False
) -> JsonObject:
    """The object of an answer under the switches of ``json``; the chain wants one of ``keys``."""
    if rules.json_parser == "chain":
        found = chain_object(text, keys)
    else:
        found = strict_object(text, lower_case_tag=lower_case_tag)
    if rules.json_duplicates == "malformed":
        for flag, words in (("duplicate_keys", "a key is repeated"), ("non_finite", "NaN written")):
            if flag in found.flags:
                return JsonObject(None, words, found.flags)
    return found


def _text(value: Any) -> str:
    return valid_unicode(value) if isinstance(value, str) else ""


def _knowledge(value: Any, flags: list[str], *, serialise: bool) -> str:
    """A knowledge text; one that came as an object or list is written as JSON if allowed."""
    if not serialise or not isinstance(value, dict | list) or not value:
        return _text(value)
    try:
        text = valid_unicode(json.dumps(value, ensure_ascii=False))
    except RecursionError:
        return ""
    flags.append("knowledge_serialised")
    return text


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"
