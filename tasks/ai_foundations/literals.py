"""Programs that carry data: the held-out tables are public, so a long literal is worth a look."""

from __future__ import annotations

import io
import tokenize

LONG_TABLE = 60
"""Numbers in a row, from which on a program is flagged."""
LONG_WORD = 600
"""Characters of a text literal without white space, from which on it may be packed data."""

_BETWEEN_NUMBERS = frozenset("-+,()[]{}:")
_LAYOUT = frozenset({tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT})


def literal_flags(source: str) -> tuple[str, ...]:
    """Why a person should look at a program, or nothing. Never executes or parses it fully."""
    longest_table = table = longest_word = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.NUMBER:
                table += 1
                longest_table = max(longest_table, table)
            elif not (token.type in _LAYOUT or token.string in _BETWEEN_NUMBERS):
                table = 0
            if token.type == tokenize.STRING:
                words = token.string.split()
                longest_word = max(longest_word, *(len(word) for word in words))
    except (tokenize.TokenError, SyntaxError):
        pass  # a program that is not Python fails by itself; what was seen so far counts
    flags = []
    if longest_table >= LONG_TABLE:
        flags.append(f"{longest_table} numeric literals in a row")
    if longest_word >= LONG_WORD:
        flags.append(f"a text literal of {longest_word} characters without a space")
    return tuple(flags)
