"""All figures by name; nothing is written here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from analysis import published_statistics, run_statistics
from analysis.behaviour.files import notes_of
from analysis.behaviour.flags import Flags, read_flags
from analysis.behaviour.iterations import RunFacts
from analysis.figures import (
    comparisons,
    fig3,
    fig4,
    fig6,
    fig7,
    fig8,
    fig10,
    fig11,
    fig13,
    fig14,
    fig15,
    fig16,
    own_fig4,
    own_fig7,
    own_runs,
    schematics,
    stored_pairs,
    style,
)
from analysis.figures.stored_pairs import Pair
from analysis.figures.style import Drawn, Look
from analysis.gains import notes_on_pairs
from analysis.published import Published
from analysis.reading import Reading, read_traces
from analysis.rows import DataProblem
from analysis.runs import LABELS, Study, read_study
from analysis.summaries import matrix


def _profile(data: Published) -> Drawn:
    groups = published_statistics.best_groups(data)
    return comparisons.profile_figure(
        "profile", "Performance profiles of the published best runs, bands resample tasks",
        published_statistics.COLUMNS, groups,
    )  # fmt: skip


def _ranks(data: Published) -> Drawn:
    groups = published_statistics.best_groups(data)
    return comparisons.ranks_figure(
        "ranks", "Mean ranks of the published best runs; bars join what does not differ (Nemenyi)",
        published_statistics.COLUMNS, groups,
    )  # fmt: skip


PUBLISHED: dict[str, Callable[[Published], Drawn]] = {
    "fig1": schematics.loops,
    "fig2": schematics.worked_example,
    "fig3": fig3.draw,
    "fig4": fig4.draw,
    "fig5": schematics.overview,
    "fig6": fig6.draw,
    "fig7": fig7.draw,
    "fig9": schematics.couplings,
    "profile": _profile,
    "ranks": _ranks,
}


class Own:
    """Own runs; their traces are read and audited when a figure needs it."""

    def __init__(self, study: Study, data: Published, tasks: Sequence[str] = ()) -> None:
        self.study = study
        self._data = data
        self.tasks = tasks

    @cached_property
    def reading(self) -> Reading:
        """What the traces tell."""
        return read_traces(self.study)

    @property
    def facts(self) -> Sequence[RunFacts]:
        """What the runs did."""
        return self.reading.runs

    @cached_property
    def flags(self) -> Flags:
        """Behaviour flags of the runs."""
        return read_flags(self.facts)

    @property
    def notes(self) -> list[str]:
        """What was left out of what was drawn so far, and why."""
        found = [*self.study.notes]
        if "reading" in vars(self):
            found += [*self.reading.notes, *notes_of(self.facts)]
        return [*found, *self.flags.notes] if "flags" in vars(self) else found

    @cached_property
    def looks(self) -> Mapping[str, Look]:
        """Looks of models, those of the published ones as everywhere."""
        models = (run.model for run in self.facts)
        return style.more_looks(style.model_looks(self._data), models)


def _own_profile(own: Own) -> Drawn | None:
    groups = run_statistics.groups(own.study)
    title = "Performance profiles of own runs, bands resample tasks and runs"
    return comparisons.profile_figure("runs_profile", title, LABELS, groups) if groups else None


def _own_ranks(own: Own) -> Drawn | None:
    groups = run_statistics.groups(own.study)
    title = "Mean ranks of own runs; bars join what does not differ (Nemenyi)"
    _, tasks, _ = matrix(groups)
    if len(groups) < 2 or not tasks:
        return None
    return comparisons.ranks_figure("runs_ranks", title, LABELS, groups)


RUNS: dict[str, Callable[[Own], Drawn | None]] = {
    "runs_anytime": lambda own: own_runs.anytime_figure(own.reading.curves),
    "runs_search_score": lambda own: own_runs.search_score_figure(own.reading.curves),
    "runs_fig7": lambda own: own_fig7.draw(own.study, own.tasks),
    "runs_profile": _own_profile,
    "runs_ranks": _own_ranks,
    "runs_fig4": lambda own: own_fig4.draw(own.study, own.facts),
    "fig8": lambda own: fig8.draw(own.facts, own.flags, own.looks),
    "fig10": lambda own: fig10.draw(own.facts, own.looks),
    "fig11": lambda own: fig11.draw(own.facts),
    "fig12": lambda own: fig11.draw_rest(own.facts),
    "fig13": lambda own: fig13.draw(own.facts, own.looks),
    "fig14": lambda own: fig14.draw(own.facts),
    "fig15": lambda own: fig15.draw(own.facts, own.looks),
    "fig16": lambda own: fig16.draw(own.facts, own.looks),
}


def choose(only: Sequence[str], *, runs: bool) -> list[str]:
    """Names to draw: all, or those asked for. Raises :class:`DataProblem` for an unknown one."""
    known = [*PUBLISHED, *(RUNS if runs else ())]
    for name in (name for name in only if name not in stored_pairs.FIGURES):
        if name in RUNS and not runs:
            raise DataProblem(f"figure {name} shows own runs: give --runs DIR")
        if name not in known:
            raise DataProblem(
                f"no figure {name}; there are {', '.join((*known, *stored_pairs.FIGURES))}"
            )
    return [name for name in known if name in only or not only]


def draw(
    names: Sequence[str],
    data: Published,
    runs: Path | None,
    *,
    tasks: Sequence[str] = (),
    pairs: Sequence[Pair] = (),
    notes: list[str] | None = None,
) -> Iterator[Drawn]:
    """Draw the chosen figures one by one, then the pairs of stored outputs.

    A figure of own runs with nothing to show is skipped; ``tasks`` is the list of `runs_fig7`.
    What was skipped and left out is added to ``notes`` at the end.
    """
    skipped = []
    own = None if runs is None else Own(read_study(runs), data, tasks)
    for name in names:
        with style.drawing():
            if name in PUBLISHED:
                yield PUBLISHED[name](data)
            elif own is not None:
                drawn = RUNS[name](own)
                if drawn is None:
                    skipped.append(name)
                else:
                    yield drawn
    if notes is not None:
        notes += notes_on_pairs(data) if "fig6" in names else ()
        notes += [] if own is None else own.notes
        if skipped:
            notes.append(f"not drawn, because the runs have nothing to show: {', '.join(skipped)}")
    for pair in pairs:
        with style.drawing():
            yield stored_pairs.draw(pair)


def files(drawn: Drawn) -> dict[str, str | bytes]:
    """Pictures and data of a figure as file name and content."""
    pictures: dict[str, str | bytes] = {
        f"{drawn.name}.{suffix}": content for suffix, content in drawn.pictures.items()
    }
    return pictures | {f"{table.name}.csv": table.text() for table in drawn.data}
