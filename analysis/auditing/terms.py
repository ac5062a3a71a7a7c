"""Distinctive terms: phrases and identifiers of documents that turn up in added code.

Without a parser of language, a noun phrase is two neighbouring content words; an identifier is a
compound name (``snake_case``, ``CamelCase``, an acronym) or something that is called. Plurals are
cut, names are split into their words, so that ``simulated_annealing`` is found in a text.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

_SEGMENT = re.compile(r"[A-Za-z0-9_\- \t]+")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_NAME = re.compile(r"(?<![\w.])(?:\w+\.)*([A-Za-z_]\w{4,})(\s*\()?")
_TOKEN = re.compile(r"[A-Za-z_]\w{4,}")
_COMMON = """
the and for with from that this into then than when where while which each every some any all are
was were been being have has had can could should would will may might must not but its our your
their one two three per via use used using uses new old first last next best good only also more
most less very over under between after before here there such other both value values list array
data result results return returns number numbers function functions current self class def import
lambda yield none true false int float str bool numpy scipy math range len sum min max abs sqrt
print append copy index loop step time start end size shape zeros ones dtype axis random seed rng
init initial input output param params arg args code python program file line lines point points
let mut fn std vec usize const auto void double vector include pub impl struct evolve block
"""
_STOP = frozenset(_COMMON.split())
_TRIVIAL = frozenset(dir(builtins)) | frozenset(keyword.kwlist)
_LONG_WORD = 6


class DocumentTerms:
    """A document's words and names, ready to be asked for terms."""

    def __init__(self, text: str) -> None:
        self._terms = frozenset(_TOKEN.findall(text)) | frozenset(_phrases(text))

    def __contains__(self, term: str) -> bool:
        return term in self._terms


def terms_of_code(lines: Iterable[str]) -> list[str]:
    """Phrases and identifiers in lines of a program (comments, names, texts), each once."""
    found: dict[str, None] = {}
    for line in lines:
        for phrase in _phrases(line[:2000]):
            found.setdefault(phrase)
        for match in _NAME.finditer(line[:2000]):
            if _is_identifier(match[1], called=match[2] is not None):
                found.setdefault(match[1])
    return list(found)


def new_terms(added: Sequence[str], parent: str) -> list[str]:
    """Terms of added lines that the parent has nowhere."""
    known = DocumentTerms(parent)
    return [term for term in terms_of_code(added) if term not in known]


def distinctive(
    terms: Iterable[str], documents: Sequence[DocumentTerms], share: float = 0.2
) -> list[str]:
    """Terms that at most a share of the documents has; one document is never too many."""
    limit = max(1, int(share * len(documents)))
    return [term for term in terms if sum(term in document for document in documents) <= limit]


def _phrases(text: str) -> Iterator[str]:
    """Neighbouring content words."""
    for words in _segments(text):
        for first, second in pairwise(words):
            if _is_content(first) and _is_content(second):
                yield f"{first} {second}"


def _segments(text: str) -> Iterable[list[str]]:
    """Words of each stretch without punctuation, in lower case and singular."""
    for match in _SEGMENT.finditer(text):
        words = [_singular(word.lower()) for word in _WORD.findall(match[0])]
        if words:
            yield words


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 4 and word.endswith("s") and not word.endswith("ss") else word


def _is_content(word: str) -> bool:
    return len(word) >= 4 and word.isalpha() and word not in _STOP and f"{word}s" not in _STOP


def _is_identifier(name: str, *, called: bool) -> bool:
    if name in _TRIVIAL or name.lower() in _STOP or name.startswith("__"):
        return False
    if called and len(name) >= _LONG_WORD:
        return True
    inner = name.strip("_")
    compound = "_" in inner or bool(re.search(r"[a-z][A-Z]|[A-Za-z]\d", inner)) or inner.isupper()
    return compound and any(len(word) >= 4 for word in _WORD.findall(inner))
