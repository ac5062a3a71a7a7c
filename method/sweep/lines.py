"""Where a key of a TOML file stands, for messages: the parser of the library does not say."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TABLE = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(
    r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*="""
)
_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")

Place = tuple[str | int, ...]


def line_of(text: str, place: Place) -> int | None:
    """Line (from 1) of the longest part of ``place`` that has one.

    The entries of ``[[x]]`` are numbers, from 0. Keys inside values (inline tables, arrays) are
    where their value is.
    """
    lines = dict(_places(text))
    for length in range(len(place), 0, -1):
        if place[:length] in lines:
            return lines[place[:length]]
    return None


def _places(text: str) -> Iterator[tuple[Place, int]]:
    table: Place = ()
    entries: dict[Place, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _TABLE.match(line):
            table = _parts(header.group(2))
            if header.group(1) == "[[":
                entries[table] = entries.get(table, -1) + 1
                table = (*table, entries[table])
            yield table, number
        elif key := _KEY.match(line):
            yield (*table, *_parts(key.group(1))), number


def _parts(text: str) -> Place:
    return tuple(part.strip("\"'") for part in _PART.findall(text))
