"""Reading outputs as the contests' own testers do: white space and whole numbers."""

from __future__ import annotations

import re

# The white space of Unicode. Python's own str.split() also takes the separators U+001C to U+001F.
WHITE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
WORD = re.compile(f"[^{WHITE}]+")
_NUMBER = re.compile(r"([+-]?)0*([0-9]+)")
_MOST_DIGITS = 19  # of a 64-bit number


def whole_number(word: str, *, signed: bool = True) -> int | None:
    """The number that a word stands for, or ``None``; ``-0`` is one only where signs may be.

    An optional sign and decimal digits, nothing else, at most 64 bits.
    """
    match = _NUMBER.fullmatch(word)
    if match is None or len(match[2]) > _MOST_DIGITS or (match[1] == "-" and not signed):
        return None
    value = int(match[1] + match[2])
    return value if -(2**63) <= value < (2**63 if signed else 2**64) else None


def shown(word: str) -> str:
    """A word of the output for a message: short, one line, printable."""
    clean = "".join(letter if letter.isprintable() else "?" for letter in word[:20])
    return f"{clean!r}" + ("..." if len(word) > 20 else "")
