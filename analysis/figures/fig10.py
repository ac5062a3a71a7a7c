"""Figure 10: Japanese phrases in search queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from analysis.behaviour.iterations import RunFacts
from analysis.behaviour.queries import Phrases, phrase_files, phrases
from analysis.figures import style
from analysis.figures.style import BASE, INK, Drawn, Look
from analysis.statistics.proportions import bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(runs: Sequence[RunFacts], looks: Mapping[str, Look]) -> Drawn | None:
    """Shares of queries (a) and of querying runs (b); nothing when nothing was asked."""
    found = phrases(runs)
    if not found:
        return None
    several = len({retriever for retriever, _, _ in found}) > 1
    names = [
        f"{model}, N = {n}" + (f", {retriever}" if several else "") for retriever, model, n in found
    ]
    colours = [looks[model].colour for _, model, _ in found]
    figure = style.new_figure(7.2, 1.1 + 0.3 * len(found))
    left, right = figure.subplots(1, 2, sharey=True)
    _queries(left, list(found.values()), colours)
    _runs(right, list(found.values()), colours)
    left.set_yticks(range(len(names)), names, fontsize=7)
    left.invert_yaxis()
    matched = sum(mine.matched for mine in found.values())
    total = sum(mine.queries for mine in found.values())
    left.set_title(f"(a) queries with a Japanese phrase: {matched} of {total}\n"
                   "hatched: ideographs alone, may be Chinese")  # fmt: skip
    matched = sum(mine.runs_matched for mine in found.values())
    total = sum(mine.runs for mine in found.values())
    right.set_title(f"(b) runs with such a query: {matched} of {total}\nlines: 95 % intervals")
    return Drawn("fig10", style.pictures(figure), phrase_files(runs))


def _queries(axes: Axes, found: Sequence[Phrases], colours: Sequence[str]) -> None:
    for place, (mine, colour) in enumerate(zip(found, colours, strict=True)):
        unit = 100 / mine.queries
        axes.barh(place, unit * mine.kana, 0.6, color=colour, edgecolor=INK, lw=0.6)
        if mine.ideographs:
            axes.barh(place, unit * mine.ideographs, 0.6, left=unit * mine.kana, color=BASE,
                      edgecolor=colour, hatch="////", lw=0.8)  # fmt: skip
        _interval(axes, place, mine.matched, mine.queries)
    axes.set(xlabel="parseable queries, %")


def _runs(axes: Axes, found: Sequence[Phrases], colours: Sequence[str]) -> None:
    for place, (mine, colour) in enumerate(zip(found, colours, strict=True)):
        axes.barh(place, 100 * mine.runs_matched / mine.runs, 0.6, color=colour, edgecolor=INK,
                  lw=0.6)  # fmt: skip
        _interval(axes, place, mine.runs_matched, mine.runs)
    axes.set(xlabel="querying runs, %")


def _interval(axes: Axes, place: int, k: int, n: int) -> None:
    """Interval with ``k of n`` beside it."""
    lo, hi = bounds(k, n)
    if lo is None or hi is None:
        return
    axes.plot((100 * lo, 100 * hi), (place, place), color=INK, lw=0.8)
    axes.annotate(f"{k} of {n}", (100 * hi, place), (3, 0), textcoords="offset points",
                  va="center", fontsize=6.5)  # fmt: skip
    axes.set_xlim(0, max(axes.get_xlim()[1], 100 * hi * 1.35, 0.1))
