"""Figures 1, 2, 5 and 9: the method as boxes and arrows.

They hold no number but the two of Figure 2, which come from the published tables.
"""

from __future__ import annotations

from itertools import pairwise

from analysis.figures import style
from analysis.figures.diagram import EVOLVE, RESULT, SEARCH, STORE, Box, Canvas
from analysis.figures.style import Drawn
from analysis.output import CsvFile
from analysis.published import Published, RecordCell
from analysis.records import SWAP, improvement, relative_change_pct
from analysis.rows import DataProblem
from analysis.tables.render import rounded


def loops(_: Published) -> Drawn:
    """Figure 1: the outer loop evolves programs, the inner one evolves queries."""
    c = Canvas.of(7.4, 3.0)
    c.frame(0.15, 0.2, 3.95, 2.6, "outer loop: evolution of programs")
    c.frame(4.35, 0.2, 2.9, 2.6, "inner loop: evolution of queries")
    parent = c.box(0.95, 2.05, "parent and\nhistory", EVOLVE, width=1.2)
    gate = c.box(3.2, 2.05, "gate: is\nknowledge missing?", EVOLVE, width=1.5, bold=True)
    write = c.box(3.2, 0.75, "new candidates", EVOLVE, width=1.5)
    judge = c.box(0.95, 0.75, "evaluator:\nmeasured score", RESULT, width=1.2)
    query = c.box(5.15, 2.05, "query", SEARCH, width=0.95)
    search = c.box(6.5, 2.05, "search", SEARCH, width=0.95)
    predict = c.box(6.5, 0.75, "predict score of\nthe next child", SEARCH, width=1.25)
    keep = c.box(5.15, 0.75, "keep the\nbest", SEARCH, width=0.95)
    c.arrow(parent.right, gate.left)
    c.arrow(gate.bottom, write.top, "no", at=(-0.15, -0.05))
    c.arrow(write.left, judge.right)
    c.arrow(judge.top, parent.bottom, "population", at=(0.36, -0.05))
    c.arrow(gate.right, query.left, "yes", at=(-0.09, 0.05))
    c.arrow(query.right, search.left)
    c.arrow(search.bottom, predict.top)
    c.arrow(predict.left, keep.right)
    c.arrow(keep.top, query.bottom, "refine", at=(-0.26, -0.05))
    c.arrow(keep.left, write.right, "documents", at=(0.0, 0.06))
    return _drawn("fig1", c)


def worked_example(data: Published) -> Drawn:
    """Figure 2: from a gap to a record, on Swap Reduction. Raises :class:`DataProblem`."""
    cell = _record(data)
    change = relative_change_pct(cell)
    better = improvement(cell.previous.exact, cell.found.exact, cell.direction)
    previous, found = (rounded(p.exact, p.decimals) for p in (cell.previous, cell.found))
    c = Canvas.of(7.4, 2.75)
    y, step = 1.95, 1.45
    texts = (
        ("parent", "a router and its\nhistory of scores", EVOLVE),
        ("gap", "what would make it\ninsert fewer SWAPs?", EVOLVE),
        ("query", "how do others choose\nlayouts and SWAPs?", SEARCH),
        ("documents", "papers and code,\nranked by predicted\nscore of the child", SEARCH),
        ("child", "a published method,\nadapted to the task", EVOLVE),
    )
    boxes = []
    for place, (title, text, fill) in enumerate(texts):
        boxes.append(c.box(0.8 + step * place, y, text, fill, width=1.28, height=0.72))
        c.note(0.8 + step * place, y + 0.44, title, fontweight="bold", fontsize=7.5, va="baseline")
    for one, other in pairwise(boxes):
        c.arrow(one.right, other.left)
    longest = max(float(cell.previous), float(cell.found))
    for row, (label, value, text, fill) in enumerate(
        (("previous best", cell.previous, previous, STORE), ("EvoDuet", cell.found, found, RESULT))
    ):
        c.axes.barh(0.95 - 0.38 * row, 3.6 * float(value) / longest, 0.26, left=1.6, color=fill,
                    edgecolor="black", lw=0.9)  # fmt: skip
        c.note(1.52, 0.95 - 0.38 * row, label, ha="right", va="center", fontsize=7.5)
        c.note(1.6 + 3.6 * float(value) / longest + 0.06, 0.95 - 0.38 * row, text, ha="left",
               va="center", fontsize=7.5, fontweight="bold")  # fmt: skip
    c.path(boxes[-1].bottom, (6.6, 0.57), (5.75, 0.57))
    c.note(6.52, 1.2, "evaluator counts\nSWAPs", ha="right", va="center")
    word = "fewer" if better > 0 else "more"
    said = "" if change is None else f"{change:.3g} % {word} SWAPs"
    c.note(1.6, 0.2, f"{cell.task}: {said}", ha="left", fontsize=7.5)
    rows = [(cell.task_id, cell.previous.text, cell.found.text, change)]
    columns = ("task_id", "previous_best", "evoduet", "change_pct")
    return _drawn("fig2", c, CsvFile("fig2", columns, rows))


def _record(data: Published) -> RecordCell:
    cell = next((cell for cell in data.records if cell.task_id == SWAP), None)
    if cell is None:
        raise DataProblem(f"table1a_records.csv: no row for {SWAP}, which Figure 2 shows")
    return cell


def overview(_: Published) -> Drawn:
    """Figure 5: one iteration, from the parent to the population and the search database."""
    c = Canvas.of(7.6, 4.0)
    parent = c.box(0.95, 3.35, "scaffold selects\nparent and history", EVOLVE, width=1.45)
    gate = c.box(2.85, 3.35, "gate", EVOLVE, width=1.1, bold=True)
    write = c.box(4.85, 0.6, "one prompt,\nindependent samples", EVOLVE, width=1.6)
    judge = c.box(2.75, 0.6, "evaluate all,\nselect the best", RESULT, width=1.35)
    population = c.box(0.95, 0.6, "population", STORE, width=1.45)
    store = c.box(0.95, 2.05, "search database:\nrecords, documents", STORE, width=1.45)
    c.frame(4.1, 1.5, 3.35, 2.4, "inner loop, on retrieve")
    query = c.box(4.85, 3.2, "write queries", SEARCH, width=1.2)
    search = c.box(6.55, 3.2, "search", SEARCH, width=1.2)
    score = c.box(6.55, 2.1, "predict what a child\nwould score with each", SEARCH, width=1.55)
    keep = c.box(4.85, 2.1, "keep the best,\nupdate knowledge", SEARCH, width=1.3)
    c.arrow(parent.right, gate.left)
    c.arrow((3.4, 3.2), query.left, "retrieve", at=(-0.08, 0.05))
    c.arrow(query.right, search.left)
    c.arrow(search.bottom, score.top)
    c.arrow(score.left, keep.right)
    c.arrow(keep.top, query.bottom, "rounds left", at=(0.4, -0.05))
    c.arrow(keep.bottom, write.top, "documents", at=(0.42, -0.12))
    c.path((1.4, 2.325), (1.4, 2.7), (2.55, 2.7), (2.55, 3.075))
    c.note(1.95, 2.74, "snapshot")
    c.path((2.85, 3.075), (2.85, 2.1), (1.675, 2.1))
    c.note(2.3, 2.14, "look-up")
    c.path((1.4, 1.775), (1.4, 1.3), (4.25, 1.3), (4.25, 0.875))
    c.note(1.46, 1.34, "stored documents", ha="left")
    c.path((3.15, 3.075), (3.15, 1.42), (4.5, 1.42), (4.5, 0.875))
    c.note(3.2, 1.8, "no-op:\none sample,\nno documents", ha="left")
    c.arrow(write.left, judge.right)
    c.arrow(judge.left, population.right)
    c.path((2.4, 0.875), (2.4, 1.08), (0.95, 1.08), store.bottom)
    c.note(1.65, 1.1, "outcome")
    c.path(population.left, (0.1, 0.6), (0.1, 3.35), parent.left)
    _legend(c, 5.95, 0.7)
    return _drawn("fig5", c)


def _legend(c: Canvas, x: float, y: float) -> None:
    for row, (fill, text) in enumerate(
        ((EVOLVE, "programs"), (SEARCH, "evidence"), (STORE, "kept"), (RESULT, "measured"))
    ):
        place = (x + 0.82 * (row % 2), y - 0.22 * (row // 2))
        c.box(*place, "", fill, width=0.2, height=0.13)
        c.note(place[0] + 0.15, place[1], text, ha="left", va="center")


def couplings(_: Published) -> Drawn:
    """Figure 9: joint-level, sequential and bi-level coupling of search and evolution."""
    c = Canvas.of(7.6, 3.1)
    for place, draw in enumerate((_joint, _sequential, _bilevel)):
        draw(c, 0.1 + 2.5 * place)
    return _drawn("fig9", c)


def _joint(c: Canvas, x: float) -> None:
    c.frame(x, 0.1, 2.35, 2.9, "(a) joint-level")
    generator = c.box(x + 0.82, 1.9, "generator with\na search tool", EVOLVE, width=1.12)
    search = c.box(x + 1.93, 1.9, "search", SEARCH, width=0.6)
    c.arrow((generator.right[0], 2.05), (search.left[0], 2.05))
    c.arrow((search.left[0], 1.75), (generator.right[0], 1.75))
    c.note(x + 1.52, 2.2, "query")
    c.note(x + 1.52, 1.44, "results")
    _evaluated(c, x, generator, generator)
    c.note(x + 1.17, 0.16, "the model searches while it writes;\nno query is ever judged")


def _sequential(c: Canvas, x: float) -> None:
    c.frame(x, 0.1, 2.35, 2.9, "(b) sequential")
    research = c.box(x + 1.17, 2.35, "research: plan,\nsearch, propose", SEARCH, width=1.5)
    generator = c.box(x + 1.17, 1.5, "generator implements\nthe proposal", EVOLVE, width=1.5)
    c.arrow(research.bottom, generator.top)
    _evaluated(c, x, research, generator)
    c.note(x + 1.17, 0.16, "one research phase before each\niteration, for every parent")


def _bilevel(c: Canvas, x: float) -> None:
    c.frame(x, 0.1, 2.35, 2.9, "(c) bi-level")
    gate = c.box(x + 0.68, 2.35, "gate", EVOLVE, width=0.85, height=0.45)
    inner = c.box(x + 1.72, 2.35, "query\nevolution", SEARCH, width=0.85, height=0.5)
    generator = c.box(x + 1.17, 1.5, "generator", EVOLVE, width=1.5, height=0.45)
    c.arrow(gate.right, inner.left)
    c.arrow((x + 0.68, 2.12), (x + 0.68, 1.73))
    c.arrow((x + 1.72, 2.1), (x + 1.72, 1.73))
    c.note(x + 0.62, 1.92, "no-op,\nlook-up", ha="right", va="center")
    c.note(x + 1.66, 1.9, "documents", ha="right", va="center")
    c.arrow((x + 1.95, 2.6), (x + 1.5, 2.6), bend=0.9)
    _evaluated(c, x, gate, generator)
    c.note(
        x + 1.17, 0.16, "queries are a population of their own,\njudged by predicted child scores"
    )


def _evaluated(c: Canvas, x: float, first: Box, last: Box) -> None:
    """The way back from the evaluator at the bottom to the first step."""
    judge = c.box(x + 1.17, 0.75, "evaluator", RESULT, width=1.0, height=0.36)
    c.path((last.x, last.bottom[1]), (last.x, judge.top[1]))
    c.path(judge.left, (x + 0.14, 0.75), (x + 0.14, first.y), first.left)


def _drawn(name: str, c: Canvas, *data: CsvFile) -> Drawn:
    return Drawn(name, style.pictures(c.figure), data)
