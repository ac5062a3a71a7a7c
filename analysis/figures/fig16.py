"""Figure 16: failures with and without documents, and what becomes of iterations with documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from analysis.behaviour.decisions import pool
from analysis.behaviour.iterations import (
    EQUAL,
    EVALUATION_FAILED,
    IMPROVED,
    LOWER,
    NO_PROGRAM,
    RunFacts,
)
from analysis.behaviour.outcomes import Outcomes, Setting, files, outcomes
from analysis.figures import style
from analysis.figures.style import BASE, INK, MUTED, Drawn, Look
from analysis.statistics.proportions import bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Found = Mapping[tuple[Setting, bool], Outcomes]
_STACK = {
    IMPROVED: ("improved", "#1b7837", ""),
    EQUAL: ("equal", "#d9d9d9", ""),
    LOWER: ("lower", "#b2abd2", ""),
    EVALUATION_FAILED: ("no child, evaluation failed", "#e08214", "////"),
    NO_PROGRAM: ("no child, no program", "#ffffff", "...."),
}


def draw(runs: Sequence[RunFacts], looks: Mapping[str, Look]) -> Drawn | None:
    """Panels (a) and (b); nothing without a run in which a model decides."""
    chosen = pool(runs)
    found = outcomes(chosen)
    settings = list(dict.fromkeys(setting for setting, _ in found))
    if not settings:
        return None
    single = [setting for setting in settings if setting[1] == 1]
    figure = style.new_figure(max(6.4, 2.6 + 1.15 * len(settings)), 3.4)
    left, right = figure.subplots(1, 2, width_ratios=(max(1.6, len(single)), len(settings) + 0.6))
    _failures(left, found, single, looks)
    _outcomes(right, found, settings)
    return Drawn("fig16", style.pictures(figure), files(chosen))


def _failures(
    axes: Axes, found: Found, settings: Sequence[Setting], looks: Mapping[str, Look]
) -> None:
    top = 1.0
    for place, setting in enumerate(settings):
        for side, docs in ((-0.2, False), (0.2, True)):
            mine = found[setting, docs]
            if not mine.n:
                continue
            k = mine.by_outcome[EVALUATION_FAILED]
            value, (lo, hi) = 100 * k / mine.n, bounds(k, mine.n)
            assert lo is not None
            assert hi is not None
            colour = looks[setting[0]].colour
            axes.bar(
                place + side, value, 0.38, color=colour if docs else BASE,
                edgecolor=INK if docs else colour, lw=0.6 if docs else 1,
                hatch=None if docs else "////",
                yerr=[[value - 100 * lo], [100 * hi - value]],
                error_kw={"lw": 0.8, "ecolor": INK, "capsize": 1.5},
            )  # fmt: skip
            first = 100 * mine.failed_first / mine.n
            axes.plot(place + side, first, marker="D", ms=4, mfc=BASE, mec=INK, ls="")
            style.bar_label(axes, place + side, max(100 * hi, first + 1), f"{value:.1f}",
                            fontsize=6.5)  # fmt: skip
            top = max(top, 100 * hi, first)
    axes.set_xticks(range(len(settings)), [model for model, _ in settings], fontsize=7)
    axes.set(
        ylabel="iterations, %", ylim=(0, 1.45 * top), xlim=(-0.6, max(0.6, len(settings) - 0.4))
    )
    axes.set_title("(a) evaluation failed, N = 1")
    if settings:
        _failure_legend(axes)
    else:
        axes.text(0, 0.5, "no runs with N = 1", ha="center", fontsize=7)


def _failure_legend(axes: Axes) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    axes.legend(
        handles=[
            Patch(facecolor=BASE, edgecolor=MUTED, hatch="////", label="without documents"),
            Patch(facecolor=MUTED, edgecolor=INK, label="with documents"),
            Line2D([], [], marker="D", ms=4, mfc=BASE, mec=INK, ls="",
                   label="first attempt failed"),
        ],
        loc="upper left", fontsize=6.5, borderaxespad=0.0,
    )  # fmt: skip


def _outcomes(axes: Axes, found: Found, settings: Sequence[Setting]) -> None:
    for place, setting in enumerate(settings):
        mine, bottom = found[setting, True], 0.0
        if not mine.n:
            continue
        for outcome, (_, colour, hatch) in _STACK.items():
            k = mine.by_outcome[outcome]
            value = 100 * k / mine.n
            axes.bar(place, value, 0.7, bottom=bottom, color=colour, edgecolor=INK, lw=0.5,
                     hatch=hatch)  # fmt: skip
            if value >= 6:
                plate = {"fc": BASE, "ec": "none", "pad": 0.6} if hatch else None
                axes.text(place, bottom + value / 2, f"{value:.1f}", ha="center", va="center",
                          fontsize=6.5, color=BASE if outcome == IMPROVED else INK,
                          bbox=plate)  # fmt: skip
            bottom += value
        style.bar_label(axes, place, 100, f"n = {mine.n}", fontsize=6.5)
    labels = [f"{model}\nN = {n}" for model, n in settings]
    axes.set_xticks(range(len(settings)), labels, fontsize=7)
    axes.set(ylabel="iterations with documents, %", ylim=(0, 106), xlim=(-0.6, len(settings) - 0.4))
    axes.set_title("(b) outcomes of iterations with documents")
    _stack_legend(axes)


def _stack_legend(axes: Axes) -> None:
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=colour, edgecolor=INK, lw=0.5, hatch=hatch, label=label)
        for label, colour, hatch in reversed(_STACK.values())
    ]
    axes.legend(handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7)
