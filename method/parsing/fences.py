"""Fenced code blocks as CommonMark defines them: only complete ones count."""

from __future__ import annotations

import re
from dataclasses import dataclass

_OPENING = re.compile(r"^(?P<indent> {0,3})(?P<run>`{3,}|~{3,})(?P<info>.*)$")


@dataclass(frozen=True)
class FencedBlock:
    """A complete block: its language tag in lower case (empty when it has none) and its text."""

    tag: str
    text: str


def fenced_blocks(text: str) -> list[FencedBlock]:
    """The complete fenced blocks of a text in order.

    A block ends at a line that holds nothing but at least as many of the same fence characters,
    indented by at most three blanks; so a longer outer fence may hold shorter ones.
    """
    blocks: list[FencedBlock] = []
    run, tag, indent, body = "", "", 0, list[str]()
    for line in text.replace("\r\n", "\n").split("\n"):
        if run:
            if _closes(line, run):
                blocks.append(FencedBlock(tag, "\n".join(body)))
                run = ""
            else:
                body.append(line[min(indent, len(line) - len(line.lstrip(" "))) :])
            continue
        opening = _OPENING.match(line)
        # A backtick in the info string makes it inline code, not a fence.
        if opening and not (opening["run"][0] == "`" and "`" in opening["info"]):
            run, tag, body = opening["run"], _tag(opening["info"]), []
            indent = len(opening["indent"])
    return blocks


def _closes(line: str, run: str) -> bool:
    bare = line.strip(" \t")
    indent = len(line) - len(line.lstrip(" "))
    return indent <= 3 and len(bare) >= len(run) and bare == run[0] * len(bare)


def _tag(info: str) -> str:
    """The first word; attributes in braces and file names after a colon are not part of it."""
    word = re.match(r"[\w+#-]*", info.strip().lstrip("{."))
    return word[0].lower() if word else ""
