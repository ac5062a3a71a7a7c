"""Rust source as tokens, so that rules about it cannot be fooled by comments and strings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

Kind = Literal["word", "mark", "literal"]


class SourceError(ValueError):
    """The text is not closed in itself (an open string, comment or bracket)."""


class Token(NamedTuple):
    """A word (raw identifiers without ``r#``), a mark (``::``, ``->`` or one sign), a literal."""

    kind: Kind
    text: str
    line: int


_SPACE = re.compile(r"\s+|//[^\n]*")
_RAW_STRING = re.compile(r'(?:b|c)?r(#*)"')
_STRING = re.compile(r'(?:b|c)?"(?:[^"\\]|\\.)*"', re.DOTALL)
_CHARACTER = re.compile(r"b?'(?:[^'\\\n]|\\(?:u\{[^}']*\}|x[0-9A-Fa-f]{2}|.))'", re.DOTALL)
_LIFETIME = re.compile(r"'(?:r#)?[^\W\d]\w*")
_NUMBER = re.compile(r"\d\w*")
_WORD = re.compile(r"(?:r#)?([^\W\d]\w*)")
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_PAIRS = {"(": ")", "[": "]", "{": "}"}


def tokens(source: str) -> list[Token]:
    """All tokens of ``source``. Raises :class:`SourceError` for an open comment or string."""
    return list(_tokens(source))


def _tokens(source: str) -> Iterator[Token]:
    position, line = 0, 1
    while position < len(source):
        start = position
        kind, text, position = _next(source, position, line)
        if kind is not None:
            yield Token(kind, text, line)
        line += source.count("\n", start, position)


def _next(source: str, position: int, line: int) -> tuple[Kind | None, str, int]:
    """What begins at ``position``, and where it ends; space and comments have no kind."""
    space = _SPACE.match(source, position)
    if space is not None:
        return None, "", space.end()
    if source.startswith("/*", position):
        return None, "", _comment_end(source, position, line)
    raw = _RAW_STRING.match(source, position)
    if raw is not None:
        end = source.find('"' + raw[1], raw.end())
        if end < 0:
            raise SourceError(f"line {line}: a raw string is not closed")
        return "literal", "string", end + 1 + len(raw[1])
    for pattern in (_STRING, _CHARACTER, _LIFETIME, _NUMBER):
        literal = pattern.match(source, position)
        if literal is not None:
            return "literal", literal[0], literal.end()
    word = _WORD.match(source, position)
    if word is not None:
        return "word", word[1], word.end()
    if source[position] in "\"'":
        raise SourceError(f"line {line}: a string or character is not closed")
    for mark in ("::", "->", "=>"):
        if source.startswith(mark, position):
            return "mark", mark, position + len(mark)
    return "mark", source[position], position + 1


def _comment_end(source: str, position: int, line: int) -> int:
    """Block comments nest."""
    depth = 0
    for edge in _COMMENT_EDGE.finditer(source, position):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return edge.end()
    raise SourceError(f"line {line}: a comment is not closed")


def check_balance(found: list[Token]) -> None:
    """Raise :class:`SourceError` unless every bracket has its partner inside ``found``."""
    expected: list[Token] = []
    for token in found:
        if token.kind != "mark":
            continue
        if token.text in _PAIRS:
            expected.append(token)
        elif token.text in _PAIRS.values():
            if not expected or _PAIRS[expected[-1].text] != token.text:
                raise SourceError(f"line {token.line}: {token.text} closes nothing in the block")
            expected.pop()
    if expected:
        raise SourceError(f"line {expected[-1].line}: {expected[-1].text} is not closed")
