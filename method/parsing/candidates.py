"""From a model's answer to a candidate program, or to the reason why there is none."""

from __future__ import annotations

from typing import Literal

from method.parsing.diffs import apply_blocks, is_marker, read_blocks
from method.parsing.evolve_blocks import Policy, enforce
from method.parsing.rewrites import extract_program
from method.protocols import ParsedCandidate

Edit = Literal["diff", "full"]


def parse_candidate(
    text: str,
    parent_code: str,
    language: str,
    edit: Edit,
    max_chars: int,
    enforce_blocks: Policy = "off",
) -> ParsedCandidate:
    """Read a candidate as the rules of both presets say (methods.md 1.2 step 8, P6 to P8).

    Args:
        text: the model's answer.
        parent_code: the source that a diff is applied to.
        language: ``python``, ``cpp``, ``rust`` or the tag of another language.
        edit: whether the prompt asked for SEARCH/REPLACE blocks or for a whole program.
        max_chars: longest candidate accepted, in characters.
        enforce_blocks: what the task wants done with edits outside its EVOLVE-BLOCK.
    """
    parsed = _from_diff(text, parent_code) if edit == "diff" else _from_rewrite(text, language)
    if parsed.code is None:
        return parsed
    code, done = enforce(parent_code, parsed.code, enforce_blocks)
    flags = (*parsed.flags, done) if code is not None and done else parsed.flags
    result = ParsedCandidate("ok", code, parsed.changes, "", parsed.blocks, flags)
    if code is None:
        return _refused(result, "parse_error", done)
    if _same(code, parent_code, edit):
        return _refused(result, "no_change", "the program is the same as its parent")
    if len(code) > max_chars:
        return _refused(
            result, "too_long", f"{len(code)} characters; at most {max_chars} are accepted"
        )
    return result


def _from_diff(text: str, parent: str) -> ParsedCandidate:
    blocks = read_blocks(text)
    if not blocks:
        return ParsedCandidate("parse_error", error="no SEARCH/REPLACE block in the answer")
    edited = apply_blocks(parent, blocks)
    applied = edited.statuses.count("applied")
    if not applied:
        reasons = {
            "not_found": "its SEARCH text is not in the program",
            "empty_search": "empty SEARCH",
        }
        whys = [
            f"block {number}: {block.problem or reasons[status]}"
            for number, (block, status) in enumerate(zip(blocks, edited.statuses, strict=True), 1)
        ]
        return ParsedCandidate("parse_error", error="; ".join(whys), blocks=edited.statuses)
    flags = []
    if applied < len(blocks):
        flags.append("partly_applied")
    if edited.ambiguous:
        flags.append("several_matches")
    return ParsedCandidate("ok", edited.text, edited.changes, "", edited.statuses, tuple(flags))


def _from_rewrite(text: str, language: str) -> ParsedCandidate:
    code, error = extract_program(text, language)
    if code is None:
        return ParsedCandidate("parse_error", error=error)
    if any(is_marker(line) for line in code.split("\n")):
        return ParsedCandidate(
            "parse_error", error="SEARCH/REPLACE markers where a whole program was asked for"
        )
    return ParsedCandidate("ok", code, "Full rewrite")


def _same(code: str, parent: str, edit: Edit) -> bool:
    parent = parent.replace("\r\n", "\n")
    if edit == "full":  # a fence does not show line ends at the end of a program
        return code.rstrip() == parent.rstrip()
    return code == parent


def _refused(
    result: ParsedCandidate, status: Literal["parse_error", "no_change", "too_long"], error: str
) -> ParsedCandidate:
    return ParsedCandidate(status, None, result.changes, error, result.blocks, result.flags)
