"""Finding the policy in what a method wrote, and putting it into the router's source."""

from __future__ import annotations

import re

from benchmark.evaluator import Invalid
from tasks.quantum_compilation.swap_reduction.rust_rules import broken_rule
from tasks.quantum_compilation.swap_reduction.rust_tokens import (
    SourceError,
    check_balance,
    tokens,
)

START, END = "EVOLVE-BLOCK-START", "EVOLVE-BLOCK-END"
_FENCE = re.compile(r"^```rust[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)


def spliced(source: str, scaffold: str) -> tuple[str, int]:
    """``scaffold`` with the policy of ``source`` in the place of its own block.

    Also returns how many lines precede the policy, for those who read the compiler's messages.
    Raises :class:`Invalid` for a source without a policy or with something no policy may use.
    """
    block = find_block(source, scaffold)
    try:
        found = tokens(block)
        check_balance(found)
    except SourceError as error:
        raise Invalid(f"the block is not closed in itself: {error}") from None
    problem = broken_rule(found)
    if problem is not None:
        raise Invalid(f"{problem} (lines are counted from {START})")
    # The block closes all that it opens and ends with a line end: the scaffold stays what it is.
    before, after = _around_block(scaffold)
    return f"{before}{block}\n{after}", before.count("\n")


def find_block(source: str, scaffold: str) -> str:
    """The policy: what stands between the markers, or in a whole module around which they miss.

    Raises :class:`Invalid` when there is none.
    """
    source = source.replace("\r\n", "\n")
    block = _between_markers(source)
    if block is None:
        fence = _FENCE.search(source)
        inner = fence[1] if fence else source
        block = _between_markers(inner)
        if block is None:
            block = _from_module(inner, scaffold)
    block = block.strip()
    if not block:
        raise Invalid(f"there is nothing between {START} and {END}")
    return block


def _between_markers(text: str) -> str | None:
    lines = text.split("\n")
    first = next((i for i, line in enumerate(lines) if START in line), None)
    if first is None:
        return None
    last = next((i for i in range(first + 1, len(lines)) if END in lines[i]), None)
    if last is None:
        raise Invalid(f"{START} has no {END} behind it")
    return "\n".join(lines[first + 1 : last])


def _from_module(text: str, scaffold: str) -> str:
    """The policy in a whole candidate module, whose other parts must be those of the scaffold."""
    before, after = (part.strip() for part in _around_block(scaffold, markers=False))
    module = text.strip()
    if not module.startswith(before) or not module.endswith(after):
        raise Invalid(
            f"no line with {START}: give the policy between lines with {START} and {END}, "
            "or the whole module with everything outside the policy unchanged"
        )
    return module[len(before) : len(module) - len(after)]


def _around_block(scaffold: str, *, markers: bool = True) -> tuple[str, str]:
    """The scaffold before and behind its own (empty) block, with or without marker lines."""
    before, start, rest = scaffold.partition(f"// {START}\n")
    _, end, after = rest.partition(f"// {END}\n")
    return (before + start, end + after) if markers else (before, after)
