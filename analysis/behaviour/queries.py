"""What is asked: Japanese phrases (Figure 10), and how search goes on (Figure 4(b) to (d)).

A query is Japanese when it holds a hiragana or katakana character; two consecutive ideographs
match, too, but may be Chinese: the texts are listed so that a person can tell. Latin letters with
accents are no match. A page repeats when host, path and query are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.behaviour.iterations import RunFacts
from analysis.ordering import model_key
from analysis.output import CsvFile, Value
from analysis.statistics.proportions import bounds, share

_KANA = re.compile("[ぁ-ゖゝ-ゟァ-ヺー-ヿㇰ-ㇿｦ-ﾟ]")
_IDEOGRAPHS = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]{2}")
KANA, IDEOGRAPHS = "kana", "ideographs"


def japanese(text: str) -> str | None:
    """Why a query counts as Japanese, ``None`` when it does not."""
    if _KANA.search(text):
        return KANA
    return IDEOGRAPHS if _IDEOGRAPHS.search(text) else None


@dataclass
class Phrases:
    """Parseable queries and querying runs of a setting, and how many of them are Japanese."""

    queries: int = 0
    kana: int = 0
    ideographs: int = 0
    runs: int = 0
    runs_matched: int = 0

    @property
    def matched(self) -> int:
        """Queries that match in either way."""
        return self.kana + self.ideographs


Setting = tuple[str, str, int | None]
"""Retriever, model and N."""


def phrases(runs: Sequence[RunFacts]) -> dict[Setting, Phrases]:
    """Counts of every setting in which something was asked."""
    found: dict[Setting, Phrases] = {}
    for run in sorted(runs, key=lambda r: (r.retriever, model_key(r.model), r.n or 0)):
        texts = [text for iteration in run.iterations for text in iteration.queries]
        if not texts:
            continue
        mine = found.setdefault((run.retriever, run.model, run.n), Phrases())
        why = [japanese(text) for text in texts]
        mine.queries += len(texts)
        mine.kana += why.count(KANA)
        mine.ideographs += why.count(IDEOGRAPHS)
        mine.runs += 1
        mine.runs_matched += any(why)
    return found


def _matches(runs: Sequence[RunFacts]) -> Iterator[tuple[Value, ...]]:
    for run in runs:
        for iteration in run.iterations:
            for text in iteration.queries:
                why = japanese(text)
                if why is not None:
                    yield (run.run_id, run.task.name, iteration.t, why, text)


def phrase_files(runs: Sequence[RunFacts]) -> list[CsvFile]:
    """Counts by setting, and every match so that a person can look."""
    where = ("retriever", "model", "N")
    counts = ("n", "matched", "share", "lo", "hi")
    asked: list[tuple[Value, ...]] = []
    querying: list[tuple[Value, ...]] = []
    for setting, mine in phrases(runs).items():
        n, k = mine.queries, mine.matched
        asked.append((*setting, n, k, share(k, n), *bounds(k, n), mine.kana, mine.ideographs))
        n, k = mine.runs, mine.runs_matched
        querying.append((*setting, n, k, share(k, n), *bounds(k, n)))
    return [
        CsvFile("fig10_queries", (*where, *counts, "with_kana", "ideographs_only"), asked),
        CsvFile("fig10_runs", (*where, *counts), querying),
        CsvFile("fig10_matches", ("run_id", "task_id", "t", "match", "text"), list(_matches(runs))),
    ]


@dataclass(frozen=True)
class Searching:
    """Running totals of a run at t = 0, 1, ... (iterations without a record add nothing)."""

    run: RunFacts
    queries: tuple[int, ...]
    returned: tuple[int, ...]
    pages: tuple[int, ...]

    @property
    def repeat_share(self) -> float | None:
        """1 - distinct / returned."""
        distinct = share(self.pages[-1], self.returned[-1])
        return None if distinct is None else 1 - distinct

    @property
    def iterations_with_search(self) -> int:
        """Iterations in which a query was executed."""
        return sum(iteration.executed_queries > 0 for iteration in self.run.iterations)

    @property
    def last_improving(self) -> int:
        """The last iteration with a new best of the run, 0 without one."""
        return max((i.t for i in self.run.iterations if i.new_best), default=0)


def searching(run: RunFacts) -> Searching:
    """Totals of a run."""
    by_t = {i.t: i for i in run.iterations}
    totals = [(0, 0, 0)]
    for t in range(1, run.slots + 1):
        queries, returned, pages = totals[-1]
        i = by_t.get(t)
        if i is not None:
            queries += i.executed_queries
            returned += i.returned
            pages += i.new_pages
        totals.append((queries, returned, pages))
    return Searching(run, *zip(*totals, strict=True))


def search_files(runs: Sequence[RunFacts]) -> list[CsvFile]:
    """Running totals of every run that searched, and where they end."""
    curves: list[tuple[Value, ...]] = []
    ends: list[tuple[Value, ...]] = []
    for run in runs:
        found = searching(run)
        if not found.queries[-1]:
            continue
        where = (run.run_id, run.task.name, run.model, run.n, run.retriever)
        curves += [(*where, t, *totals) for t, totals in enumerate(
            zip(found.queries, found.returned, found.pages, strict=True))]  # fmt: skip
        ends.append((*where, found.iterations_with_search, found.queries[-1], found.returned[-1],
                     found.pages[-1], found.repeat_share, found.last_improving))  # fmt: skip
    where_columns = ("run_id", "task_id", "model", "N", "retriever")
    totals_columns = ("executed_queries", "returned", "distinct_urls")
    return [
        CsvFile("search_curves", (*where_columns, "t", *totals_columns), curves),
        CsvFile("search_ends", (*where_columns, "iterations_with_search", *totals_columns,
                                "repeat_share", "last_improving_iteration"), ends),
    ]  # fmt: skip


def files(runs: Sequence[RunFacts]) -> list[CsvFile]:
    """Japanese phrases, and how search went on, of all runs that ask."""
    return [*phrase_files(runs), *search_files(runs)]
