"""The editable regions of a program, and what becomes of edits outside them (pain P7)."""

from __future__ import annotations

from typing import Literal

Policy = Literal["off", "revert", "reject"]

_START, _END = "EVOLVE-BLOCK-START", "EVOLVE-BLOCK-END"


def enforce(parent: str, child: str, policy: Policy) -> tuple[str | None, str]:
    """The child under the policy of its task, and what was done (empty: nothing).

    ``revert`` keeps of the child only what stands in the regions and takes the rest from the
    parent; ``reject`` refuses (``None``) a child that changed the rest. A child that lost, added
    or broke markers is refused under both. A parent without regions may be edited anywhere.
    """
    fixed = _segments(parent)
    if policy == "off" or fixed is None or len(fixed) == 1:
        return child, ""
    found = _segments(child)
    if found is None or len(found) != len(fixed):
        return None, "the EVOLVE-BLOCK markers were lost or altered"
    # An answer's fence does not show the line ends at the end of a program.
    same = found[:-1:2] == fixed[:-1:2] and found[-1].rstrip() == fixed[-1].rstrip()
    if same:
        return child, ""
    if policy == "reject":
        return None, "text outside the EVOLVE-BLOCK was changed"
    merged = [fixed[i] if i % 2 == 0 else found[i] for i in range(len(fixed))]
    return "".join(merged), "reverted_outside_block"


def _segments(source: str) -> list[str] | None:
    """Fixed and editable text in turns, markers with the fixed text; ``None``: unpaired markers."""
    segments, inside = [""], False
    for line in source.replace("\r\n", "\n").splitlines(keepends=True):
        if _START in line:
            if inside:
                return None
            segments[-1] += line
            segments.append("")
            inside = True
        elif _END in line:
            if not inside:
                return None
            segments.append(line)
            inside = False
        else:
            segments[-1] += line
    return None if inside else segments
