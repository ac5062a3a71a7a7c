"""A whole program out of an answer (pain P8 of methods.md)."""

from __future__ import annotations

from method.parsing.fences import fenced_blocks

ALIASES = {
    "python": ("python", "py", "python3", "py3"),
    "cpp": ("cpp", "c++", "cc", "cxx"),
    "rust": ("rust", "rs"),
}
"""The tags that models write for a language."""


def extract_program(text: str, language: str) -> tuple[str | None, str]:
    """The program of a full-rewrite answer, or ``None`` and the reason.

    The last complete fenced block whose tag fits the language; without one, a single untagged
    block. Anything else is refused: an unfenced answer is not a program.
    """
    blocks = fenced_blocks(text)
    fitting = [b for b in blocks if b.tag in ALIASES.get(language, (language,))]
    untagged = [b for b in blocks if not b.tag]
    if fitting:
        program = fitting[-1].text
    elif len(untagged) == 1:
        program = untagged[0].text
    elif untagged:
        return None, f"{len(untagged)} untagged code blocks; tag the program with {language}"
    elif blocks:
        return None, f"no code block tagged {language}, only {blocks[-1].tag}"
    else:
        return None, "no complete code block"
    return (program, "") if program.strip() else (None, "the code block is empty")
