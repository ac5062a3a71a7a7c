"""One JSON object out of an answer: strictly, or by the parser chain (methods.md 1.3 and 2.6)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Any

from method.parsing.fences import fenced_blocks
from method.parsing.latex import guard_latex

SIZE_LIMIT = 1_000_000
"""Bytes of an answer that is looked at."""

_REPAIR_LIMIT = 200_000
_REPAIR_DEPTH = 100
_OPENINGS = 16

_REASONING = re.compile(r"<(?P<close>/?)(?:think|thinking|reasoning)>", re.I)


@dataclass(frozen=True)
class JsonObject:
    """The object of an answer, or the error that stands for it (``value`` is then ``None``).

    Flags: ``duplicate_keys`` (the last one counts), ``non_finite`` (NaN or Infinity written),
    ``repaired`` (not JSON as it stood).
    """

    value: dict[str, Any] | None
    error: str = ""
    flags: tuple[str, ...] = ()


def strict_object(text: str, *, lower_case_tag: bool = False) -> JsonObject:
    """The whole trimmed text as one JSON object, plain or inside one fence tagged json or nothing.

    ``lower_case_tag``: a tag in another case than ``json`` is not accepted.
    """
    if _too_long(text):
        return JsonObject(None, "the answer is larger than 1 MB")
    return _decode(_unfenced(text.strip(), lower_case_tag), strict=True)


def chain_object(text: str, keys: Set[str]) -> JsonObject:
    """The object that the answer most likely means.

    Tried in this order: the whole text, the last fenced block tagged json, any other fenced block,
    objects by brace matching; after that the same once more with the JSON repaired, and at last
    the repaired whole. Reasoning in tags is removed first. An object counts only if it holds one
    of ``keys``.
    """
    if _too_long(text):
        return JsonObject(None, "the answer is larger than 1 MB")
    candidates = list(_candidates(text))
    for candidate in candidates:
        found = _decode(guard_latex(candidate), strict=False)
        if found.value and not keys.isdisjoint(found.value):
            return found
    for candidate in [*candidates, _without_reasoning(text)]:
        value = _repair(guard_latex(candidate))
        if isinstance(value, dict) and not keys.isdisjoint(value):
            return JsonObject(value, "", ("repaired",))
    return JsonObject(None, "no JSON object with the expected fields")


def _too_long(text: str) -> bool:
    return len(text.encode("utf-8", "surrogatepass")) > SIZE_LIMIT


def _candidates(text: str) -> Iterator[str]:
    # A tag or fence inside a string of a sound object is part of that string.
    if text.lstrip().startswith("{"):
        yield text.strip()
    text = _without_reasoning(text)
    blocks = fenced_blocks(text)
    yield from (b.text for b in reversed(blocks) if b.tag == "json")
    yield from (b.text for b in reversed(blocks) if b.tag != "json")
    yield from _braced(text)


def _unfenced(text: str, lower_case_tag: bool) -> str:
    if len(text) < 6 or not text.startswith("```") or not text.endswith("```"):
        return text
    body = text[3:-3]
    tag = body[:4] if lower_case_tag else body[:4].lower()
    return body[4:].strip() if tag == "json" else body.strip()


def _without_reasoning(text: str) -> str:
    """The text without ``<think>...</think>``, also where the head or the end of it is missing."""
    kept: list[str] = []
    start, opened = 0, -1
    for tag in _REASONING.finditer(text):
        if not tag["close"]:
            if opened < 0:
                opened = tag.start()
                kept.append(text[start:opened])
        else:
            kept = kept if opened >= 0 else []  # no opening tag: all before is reasoning
            start, opened = tag.end(), -1
    answer = "".join(kept).strip()
    if opened < 0:
        return f"{answer}{text[start:]}".strip()
    # Reasoning that never ends; after the begin of an answer it is more likely part of it.
    return f"{answer}{text[opened:]}" if answer else ""


def _braced(text: str) -> Iterator[str]:
    """Outermost ``{...}`` in order; braces inside strings do not count."""
    start, tries = text.find("{"), 0
    while start >= 0 and tries < _OPENINGS:
        tries += 1
        end = _matching(text, start)
        if end < 0:
            start = text.find("{", start + 1)
            continue
        yield text[start : end + 1]
        start = text.find("{", end + 1)


def _matching(text: str, start: int) -> int:
    depth, inside, position = 0, False, start
    while position < len(text):
        char = text[position]
        if inside:
            if char == "\\":
                position += 1
            elif char == '"':
                inside = False
        elif char == '"':
            inside = True
        elif char in "{}":
            depth += 1 if char == "{" else -1
            if depth == 0:
                return position
        position += 1
    return -1


def _decode(text: str, *, strict: bool) -> JsonObject:
    flags: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(items)
        if len(value) < len(items):
            flags.append("duplicate_keys")
        return value

    def constant(name: str) -> float:
        flags.append("non_finite")
        return float(name)

    try:
        decoder = json.JSONDecoder(strict=strict, object_pairs_hook=pairs, parse_constant=constant)
        value = decoder.decode(text)
    except (ValueError, RecursionError) as error:
        return JsonObject(None, f"not one JSON object: {error}")
    if not isinstance(value, dict):
        return JsonObject(None, "not a JSON object")
    return JsonObject(value, "", tuple(dict.fromkeys(flags)))


def _repair(text: str) -> Any:
    """What json_repair makes of a text; ``None`` where that would take minutes or fails."""
    if len(text) > _REPAIR_LIMIT or _depth(text) > _REPAIR_DEPTH:
        return None
    import json_repair  # only broken answers need it

    try:
        return json_repair.loads(text, skip_json_loads=True)
    except Exception:  # whatever it raises on hostile text, the answer is malformed
        return None


def _depth(text: str) -> int:
    depth = deepest = 0
    for char in text:
        if char in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "}]" and depth:
            depth -= 1
    return deepest
