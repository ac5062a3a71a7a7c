"""What a program took from a page word for word: lines, and numbers that stand there together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache

from analysis.auditing.numbers import Number, NumberPage, telling

LINE_CHARS = 20
"""Characters other than white space from which a line is telling."""
TOGETHER = 3
"""Numbers that must stand together on one page."""


class PageText:
    """A page's text with what copies are looked for in, computed once."""

    def __init__(self, url: str, text: str) -> None:
        self.url, self.text = url, text

    @cached_property
    def lines(self) -> frozenset[str]:
        """Its lines, without white space around them."""
        return frozenset(line.strip() for line in self.text.splitlines())

    @cached_property
    def numbers(self) -> NumberPage:
        """Its telling numbers."""
        return NumberPage(self.text)


@dataclass(frozen=True)
class NumericCopy:
    """Numbers of added code that occur together on a page: (in the code, on the page)."""

    url: str
    pairs: Sequence[tuple[Number, Number]]
    added: int
    on_page: int

    @property
    def evidence(self) -> str:
        """In words: how many, of how many, which, where."""
        shown = ", ".join(
            code.text if code.text == page.text else f"{code.text} (there {page.text})"
            for code, page in self.pairs[:5]
        )
        more = ", ..." if len(self.pairs) > 5 else ""
        return (
            f"{len(self.pairs)} of {self.added} new numbers are among the {self.on_page} numbers "
            f"of {self.url or 'a page without URL'}: {shown}{more}"
        )


def added_lines(code: str, parent: str) -> list[str]:
    """Lines of a program that its parent does not have, in order; indentation does not count."""
    before = {line.strip() for line in parent.splitlines()}
    return [line for line in code.splitlines() if line.strip() not in before]


def copied_lines(added: Iterable[str], pages: Iterable[PageText]) -> dict[str, str]:
    """Added lines of at least 20 non-space characters that equal a line of a page, with its URL."""
    wanted = [line for line in dict.fromkeys(map(str.strip, added)) if is_telling(line)]
    found: dict[str, str] = {}
    for page in pages if wanted else ():
        for line in wanted:
            if line in page.lines:
                found.setdefault(line, page.url)
    return {line: found[line] for line in wanted if line in found}


def is_telling(line: str) -> bool:
    """Whether a line is long enough to be no coincidence."""
    return sum(map(len, line.split())) >= LINE_CHARS


def new_numbers(added: Iterable[str], parent: str) -> list[Number]:
    """Telling numbers of added lines that stand nowhere in the parent."""
    found = telling("\n".join(added))
    if len(found) < TOGETHER:
        return []
    known = values_of(parent)
    return [number for value, number in found.items() if value not in known]


@lru_cache(maxsize=32)  # all candidates of an iteration have one parent
def values_of(program: str) -> frozenset[Decimal]:
    """Values of the telling numbers of a program."""
    return frozenset(telling(program))


def numeric_copy(numbers: Sequence[Number], pages: Iterable[PageText]) -> NumericCopy | None:
    """The page with which added code shares most numbers, if it shares at least three.

    ``numbers`` are those of :func:`new_numbers`. Among equals the first page.
    """
    best: NumericCopy | None = None
    if len(numbers) < TOGETHER:
        return None
    for page in pages:
        pairs = page.numbers.shared_with(numbers)
        if len(pairs) >= TOGETHER and (best is None or len(pairs) > len(best.pairs)):
            best = NumericCopy(page.url, pairs, len(numbers), len(page.numbers))
    return best
