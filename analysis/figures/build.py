"""All figures by name; nothing is written here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from analysis import published_statistics, run_statistics
from analysis.figures import comparisons, fig3, fig4, fig6, fig7, own_runs, style
from analysis.figures.style import Drawn
from analysis.published import Published
from analysis.rows import DataProblem
from analysis.run_curves import Curves, read_curves
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
    "fig3": fig3.draw,
    "fig4": fig4.draw,
    "fig6": fig6.draw,
    "fig7": fig7.draw,
    "profile": _profile,
    "ranks": _ranks,
}


class Own:
    """Own runs; their traces are read when a figure needs them."""

    def __init__(self, study: Study) -> None:
        self.study = study

    @cached_property
    def curves(self) -> Curves:
        """Progress of all runs."""
        return read_curves(self.study)


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
    "runs_anytime": lambda own: own_runs.anytime_figure(own.curves),
    "runs_search_score": lambda own: own_runs.search_score_figure(own.curves),
    "runs_profile": _own_profile,
    "runs_ranks": _own_ranks,
}


def choose(only: Sequence[str], *, runs: bool) -> list[str]:
    """Names to draw: all, or those asked for. Raises :class:`DataProblem` for an unknown one."""
    known = [*PUBLISHED, *(RUNS if runs else ())]
    for name in only:
        if name in RUNS and not runs:
            raise DataProblem(f"figure {name} shows own runs: give --runs DIR")
        if name not in known:
            raise DataProblem(f"no figure {name}; there are {', '.join(known)}")
    return [name for name in known if name in only or not only]


def draw(names: Sequence[str], data: Published, runs: Path | None) -> Iterator[Drawn]:
    """Draw the chosen figures one by one; one of own runs with nothing to show is skipped."""
    own = None if runs is None else Own(read_study(runs))
    for name in names:
        with style.drawing():
            if name in PUBLISHED:
                yield PUBLISHED[name](data)
            elif own is not None and (drawn := RUNS[name](own)) is not None:
                yield drawn


def files(drawn: Drawn) -> dict[str, str | bytes]:
    """Pictures and data of a figure as file name and content."""
    pictures: dict[str, str | bytes] = {
        f"{drawn.name}.{suffix}": content for suffix, content in drawn.pictures.items()
    }
    return pictures | {f"{table.name}.csv": table.text() for table in drawn.data}
