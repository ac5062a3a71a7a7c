"""Edits in SEARCH/REPLACE form (pain P6 of methods.md).

Matching is line by line: line ends are unified first, blanks at the ends of lines and of a whole
part do not count, the first match wins and later blocks see the text that earlier ones left. An
empty REPLACE leaves one empty line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Status = Literal["applied", "not_found", "empty_search", "malformed"]

_START = re.compile(r"^\s*<{7}\s*SEARCH\s*$")
_MIDDLE = re.compile(r"^\s*={7}\s*$")
_END = re.compile(r"^\s*>{7}\s*REPLACE\s*$")


@dataclass(frozen=True)
class Block:
    """One edit; ``problem`` says why it cannot be read (its parts are then empty)."""

    search: tuple[str, ...] = ()
    replace: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class Edited:
    """The text after all blocks, and for each block its status and whether it was ambiguous."""

    text: str
    statuses: tuple[Status, ...]
    ambiguous: bool
    changes: str


def is_marker(line: str) -> bool:
    """Whether a line opens or closes an edit."""
    return bool(_START.match(line) or _END.match(line))


def read_blocks(answer: str) -> list[Block]:
    """The edits of an answer in order, broken ones included. No part of one is guessed."""
    blocks: list[Block] = []
    parts: list[list[str]] = []
    for line in answer.replace("\r\n", "\n").split("\n"):
        if _START.match(line):
            if parts:
                blocks.append(Block(problem="a new SEARCH begins before REPLACE ends"))
            parts = [[]]
        elif not parts:
            continue
        elif _MIDDLE.match(line):
            parts.append([])
        elif _END.match(line):
            blocks.append(_finish(parts))
            parts = []
        else:
            parts[-1].append(line)
    if parts:
        blocks.append(Block(problem="the REPLACE marker is missing"))
    return blocks


def _finish(parts: list[list[str]]) -> Block:
    if len(parts) != 2:
        return Block(problem=f"{len(parts) - 1} separator lines instead of one")
    search, replace = ("\n".join(part).rstrip() for part in parts)
    return Block(
        tuple(line.rstrip() for line in search.split("\n")) if search else (),
        tuple(replace.split("\n")),
    )


def apply_blocks(source: str, blocks: list[Block]) -> Edited:
    """Apply the edits to a source with unified line ends, one after the other."""
    lines = source.replace("\r\n", "\n").split("\n")
    statuses: list[Status] = []
    changes: list[str] = []
    ambiguous = False
    for block in blocks:
        if block.problem:
            statuses.append("malformed")
            continue
        if not block.search:
            statuses.append("empty_search")
            continue
        places = _find(lines, block.search)
        if not places:
            statuses.append("not_found")
            continue
        ambiguous = ambiguous or len(places) > 1
        lines[places[0] : places[0] + len(block.search)] = block.replace
        statuses.append("applied")
        changes.append(_summary(len(changes) + 1, block))
    return Edited("\n".join(lines), tuple(statuses), ambiguous, "\n".join(changes))


def _find(lines: list[str], search: tuple[str, ...]) -> list[int]:
    """Where the search begins; at most two places, the second only shows that it is ambiguous."""
    bare = [line.rstrip() for line in lines]
    places: list[int] = []
    for start in range(len(bare) - len(search) + 1):
        if bare[start] == search[0] and tuple(bare[start : start + len(search)]) == search:
            places.append(start)
            if len(places) == 2:
                break
    return places


def _summary(number: int, block: Block) -> str:
    """One line for the history: what was replaced by what, or how many lines."""
    if len(block.search) == 1 and len(block.replace) == 1:
        before, after = (_short(part[0].strip()) for part in (block.search, block.replace))
        return f"Change {number}: '{before}' became '{after}'"
    counts = (_lines(len(part)) for part in (block.search, block.replace))
    return f"Change {number}: {' replaced by '.join(counts)}, from '{_short(_first(block))}'"


def _first(block: Block) -> str:
    return next(line.strip() for line in block.search if line.strip())


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


def _short(text: str, limit: int = 100) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
