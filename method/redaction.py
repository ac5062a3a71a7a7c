"""Leaving the text of third-party pages out of what is passed on.

Pages are blobs of their own, but their text also stands in the prompts that handed it to a model,
and a model may have quoted it. So every stretch of a text that also stands in a page is replaced by
its hash and length. Stretches shorter than :data:`SHORTEST` characters are anybody's words.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from method.prompting import harmless

SHORTEST = 48
"""From so many characters in a row on, text counts as taken from a page."""

_BLOCK = SHORTEST // 2


class Pages:
    """The text of pages, indexed so that what stands in them is found in other texts.

    Blocks of the pages are remembered at multiples of half the shortest stretch: any stretch of
    that length holds one whole block.
    """

    def __init__(self, bodies: Iterable[str]) -> None:
        self._bodies = [as_shown for body in bodies for as_shown in _shown(body)]
        self._blocks: dict[str, tuple[int, int]] = {}
        for number, body in enumerate(self._bodies):
            for start in range(0, len(body) - _BLOCK + 1, _BLOCK):
                self._blocks.setdefault(body[start : start + _BLOCK], (number, start))

    def redact(self, text: str) -> tuple[str, int]:
        """The text without stretches of pages, and how many characters were left out."""
        kept: list[str] = []
        done = place = left_out = 0
        while place + _BLOCK <= len(text):
            found = self._blocks.get(text[place : place + _BLOCK])
            if found is None:
                place += 1
                continue
            start, end = self._widened(text, place, done, *found)
            if end - start < SHORTEST:
                place += 1
                continue
            kept += [text[done:start], _mark(text[start:end])]
            left_out += end - start
            done = place = end
        return "".join([*kept, text[done:]]), left_out

    def redact_prompt(self, text: str) -> tuple[str, int]:
        """As :meth:`redact`; in a stored prompt, which is JSON, each string for itself."""
        try:
            messages = json.loads(text)
        except ValueError:
            return self.redact(text)
        redacted, left_out = self._redact_value(messages)
        return (json.dumps(redacted, ensure_ascii=False), left_out) if left_out else (text, 0)

    def _redact_value(self, value: Any) -> tuple[Any, int]:
        if isinstance(value, str):
            return self.redact_prompt(value) if value[:1] in '{["' else self.redact(value)
        if isinstance(value, list):
            items = [self._redact_value(item) for item in value]
            return [item for item, _ in items], sum(count for _, count in items)
        if isinstance(value, dict):
            pairs = {name: self._redact_value(item) for name, item in value.items()}
            counts = sum(count for _, count in pairs.values())
            return {name: item for name, (item, _) in pairs.items()}, counts
        return value, 0

    def _widened(
        self, text: str, place: int, first: int, number: int, start: int
    ) -> tuple[int, int]:
        """The whole stretch around a block that text and page have in common."""
        body = self._bodies[number]
        begin = place
        while begin > first and start > 0 and text[begin - 1] == body[start - 1]:
            begin, start = begin - 1, start - 1
        length = _common(text, begin, body, start)
        return begin, begin + length


def _common(text: str, place: int, body: str, start: int) -> int:
    """How many characters agree from here on."""
    longest = min(len(text) - place, len(body) - start)
    length, step = 0, 4096
    while length < longest and step:
        size = min(step, longest - length)
        ours = text[place + length : place + length + size]
        if ours == body[start + length : start + length + size]:
            length += size
        else:
            step = size // 2
    return length


def _shown(body: str) -> list[str]:
    """A body as it is stored and as prompts show it, where that differs."""
    plain = harmless(body)
    return list(dict.fromkeys((body, plain, plain.replace("```", "~~~"))))


def _mark(text: str) -> str:
    sha256 = hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()
    return f"[page text left out: {len(text)} characters, sha256 {sha256}]"
