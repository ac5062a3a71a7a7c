"""The prompt templates: loading, hashing, filling, and making web text harmless (prompts.md).

Templates are package data, word for word the ones of the specification; ``NOTICE`` says whose they
are. A template is filled in one pass over its known fields, so nothing that a program, a page or a
model wrote is ever scanned for fields.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from method.rules import Rules

_ANALYSES = ("population_state_analysis", "knowledge_state_analysis", "evolutionary_history")

FIELDS: Mapping[str, tuple[str, ...]] = {
    "gate.user": ("evolutionary_history", "parent_program", "search_database"),
    "population_analysis.system": (),
    "query_first.user": (*_ANALYSES, "current_program", "search_database"),
    "query_next.user": (
        *_ANALYSES,
        *("current_program", "parent_score", "search_database", "search_context"),
    ),
    "evidence_scoring.user": (
        *_ANALYSES,
        *("current_program", "parent_score", "search_database", "search_context"),
    ),
    "observed_document.fragment": (
        *("doc_id", "parent_score", "estimated_child_score", "query", "title", "url", "content"),
    ),
    "helpful_knowledge.fragment": ("k", "title", "url", "content"),
    "knowledge_state.user": (
        *("parent_program", "evolutionary_history", "population_state_analysis"),
    ),
    "research_plan.user": ("current_program", "evolutionary_history", "questions"),
    "research_summary.user": ("question", "pages"),
    "research_proposal.user": ("current_program", "evolutionary_history", "notes"),
    "research_reflection.user": ("current_program", "notes", "proposal", "queries"),
    "research_rewrite.user": ("current_program", "notes", "proposal", "critique"),
}
"""Every template with the fields that it must hold."""

_FIELD = re.compile(r"\{([a-z_]+)\}")
_SURROGATES = re.compile("[\ud800-\udfff]")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_MARKERS = re.compile(
    r"(\[\[)(?=/?(?:Observed|Search) Document)|(\[)(?=Search Experience)"
    r"|^(?=estimated_child_score:)",
    re.M,
)
_MARKED = ("Observed Document", "Search Document", "Search Experience", "estimated_child_score:")
_ZERO_WIDTH = "\u200b"


@cache
def template(name: str) -> str:
    """A template as it was shipped. Raises ``ValueError`` if its fields are not the known ones."""
    text = _content(name).decode("utf-8")
    found, known = set(_FIELD.findall(text)), set(FIELDS[name])
    if found != known:
        raise ValueError(f"prompt template {name}: has fields {found ^ known} too many or too few")
    return text


def prompt_versions() -> dict[str, str]:
    """The sha256 of every text that prompts are made of, for manifests and traces.

    Beside the templates these are the solution prompt (as a specimen with all its sections), the
    frame of the search database, the search tool, and what EvoX is told about strategies.
    """
    # These modules fill templates themselves, so they cannot be imported before this one.
    from method.retrievers.joint import TOOL
    from method.scaffolds.evox_prompts import STRATEGY_SYSTEM
    from method.scaffolds.solution_prompt import specimen
    from method.snapshot import FRAME

    written = {
        "solution.diff": specimen("diff"),
        "solution.full": specimen("full"),
        "search_database.frame": FRAME,
        "joint.tool": json.dumps(TOOL, sort_keys=True),
        "evox_strategy.system": STRATEGY_SYSTEM,
    }
    texts = {name: _content(name) for name in FIELDS}
    texts |= {name: text.encode("utf-8") for name, text in written.items()}
    return {name: hashlib.sha256(text).hexdigest() for name, text in texts.items()}


@cache
def _content(name: str) -> bytes:
    return resources.files("method").joinpath("prompts", f"{name}.txt").read_bytes()


def fill(name: str, values: Mapping[str, str]) -> str:
    """A template with its fields filled. Raises ``ValueError`` for a missing or unknown field."""
    return fill_text(template(name), values, name)


def fill_text(text: str, values: Mapping[str, str], name: str = "template") -> str:
    """Fill the fields of ``text`` in one pass; filled values are never scanned again."""
    wanted = set(_FIELD.findall(text))
    if wanted != values.keys():
        raise ValueError(f"{name}: fields {sorted(wanted)} wanted, {sorted(values)} given")
    return _FIELD.sub(lambda match: valid_unicode(values[match[1]]), text)


@cache
def placeholders(name: str) -> frozenset[str]:
    """The example texts in the answer format that a template shows."""
    example = json.loads(template(name).rpartition("```json\n")[2].partition("\n```")[0])
    return frozenset(text for text in _texts(example) if text.startswith("<"))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in items for text in _texts(item)]


# --- values of fields --------------------------------------------------------------------------


def valid_unicode(text: str) -> str:
    """Lone surrogates, which no client can send, become U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub("\ufffd", text)
    return text


def number(value: float | None) -> str:
    """Shortest text that reads back as the same float; ``unknown`` where there is no number."""
    return "unknown" if value is None else repr(float(value))


def analysis_field(text: str, rules: Rules) -> str:
    """A population analysis or knowledge state, perhaps empty."""
    return text or ("(none yet)" if rules.prompt_fields == "fenced" else "")


def history_field(text: str, rules: Rules) -> str:
    """The scaffold's history, word for word as in the solution prompt."""
    return text or nothing(rules)


def nothing(rules: Rules) -> str:
    """What stands for an empty history or an empty list of documents."""
    return "(none yet)" if rules.prompt_fields == "fenced" else "(none)"


def program_field(source: str, language: str, rules: Rules) -> str:
    """A parent's source: raw, or in a fence that nothing in it can close."""
    return source if rules.prompt_fields == "raw" else fenced(source, language)


def fenced(source: str, tag: str) -> str:
    """The source in a fence of one backtick more than its longest run, three at least."""
    longest = max((len(run) for run in re.findall("`+", source)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{tag}\n{source}\n{fence}"


# --- untrusted text ----------------------------------------------------------------------------


def harmless(text: str) -> str:
    """Web text that can neither close nor forge a block of a prompt.

    Control characters except line feeds and tabs go; markers of blocks and of predicted scores get
    a zero-width space. Stored texts, identity and hashes stay as returned: this is for printing.
    """
    text = _CONTROLS.sub("", valid_unicode(text))
    if not any(word in text for word in _MARKED):  # searching words is much faster
        return text
    return _MARKERS.sub(lambda match: match[0] + _ZERO_WIDTH, text)


def harmless_line(text: str) -> str:
    """Web text for a field of one line: line breaks in a title must not begin new fields."""
    return harmless(text.replace("\n", " "))
