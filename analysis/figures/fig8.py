"""Figure 8: predictions against scores, improvement after each decision, behaviours of runs.

One row of panels for each model, as each model is a pool of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from analysis.auditing.population import CATEGORIES, BehaviourCount
from analysis.behaviour import decisions
from analysis.behaviour.evidence import Evidence, evidence
from analysis.behaviour.evidence import files as evidence_files
from analysis.behaviour.flags import Flags
from analysis.behaviour.flags import files as flag_files
from analysis.behaviour.iterations import RunFacts
from analysis.figures import style
from analysis.figures.style import BASE, INK, MUTED, Drawn, Look
from analysis.output import CsvFile
from analysis.statistics.proportions import bounds, share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GROUPS = {
    decisions.NO_OP: "no-op",
    decisions.LOOK_UP: "look-up",
    decisions.PROMISING: "retrieve,\npromising",
    decisions.OTHER: "retrieve,\nnot promising",
}
_BEHAVIOURS = {
    "method_transfer": "method transfer",
    "target_reconstruction": "target-informed\nreconstruction",
    "documentation": "live documentation\nlookup",
    "cross_domain": "cross-domain transfer",
    "over_reach": "over-reach",
    "artifact_reuse": "public artifact reuse",
}
MANY = 1000
"""Points from which a scatter is stored as pixels in the vector formats."""


def draw(runs: Sequence[RunFacts], flags: Flags, looks: Mapping[str, Look]) -> Drawn | None:
    """Panels (a) to (c) for each model; nothing without a run in which a model decides."""
    chosen = decisions.pool(runs)
    models = decisions.by_model(chosen)
    if not models:
        return None
    figure = style.new_figure(9.5, 2.9 * len(models))
    grid = figure.subplots(len(models), 3, squeeze=False, width_ratios=(1, 1.25, 1))
    for row, (model, mine) in zip(grid, models.items(), strict=True):
        _evidence(row[0], evidence(mine), looks[model], f"(a) {model}")
        _rates(row[1], mine, looks[model].colour)
        _behaviours(row[2], flags.counts_of(model), looks[model].colour)
    return Drawn("fig8", style.pictures(figure), _data(chosen, flags))


def _data(chosen: Sequence[RunFacts], flags: Flags) -> list[CsvFile]:
    return [*decisions.files(chosen), *evidence_files(chosen), *flag_files(flags)]


def _evidence(axes: Axes, found: Evidence, look: Look, title: str) -> None:
    axes.scatter(
        found.x, found.y, s=7, color=look.colour, marker=look.marker, lw=0,
        alpha=0.5 if len(found.x) < MANY else 0.25, rasterized=len(found.x) >= MANY,
    )  # fmt: skip
    axes.plot((0, 1), (0, 1), color=MUTED, lw=0.8, ls="--")
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xlabel="predicted score, scaled by task",
             ylabel="child's score, scaled by task", aspect="equal", anchor="W")  # fmt: skip
    known, words = found.known, f"{len(found.x)} retrievals"
    if found.pooled is not None:
        words += f", ρ = {_two(found.pooled)}"
    if known:
        positive = sum(rho > 0 for rho in known)
        median = _two(float(np.median(known)))
        words += f"\n{positive} of {len(known)} tasks positive, median {median}"
    axes.set_title(f"{title}: prediction and outcome\n{words}")


def _two(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _rates(axes: Axes, runs: Sequence[RunFacts], colour: str) -> None:
    found = decisions.tallies(decisions.iterations_of(runs))
    top = 0.0
    for place, group in enumerate(_GROUPS):
        tally = found[group]
        for side, k in ((-0.2, tally.parent_improved), (0.2, tally.new_best)):
            value, (lo, hi) = share(k, tally.scored), bounds(k, tally.scored)
            if value is None or lo is None or hi is None:
                continue
            solid = side < 0
            axes.bar(
                place + side, 100 * value, 0.38, color=colour if solid else BASE,
                edgecolor=INK if solid else colour, lw=0.6 if solid else 1,
                hatch=None if solid else "////",
                yerr=[[100 * (value - lo)], [100 * (hi - value)]],
                error_kw={"lw": 0.8, "ecolor": INK, "capsize": 1.5},
            )  # fmt: skip
            style.bar_label(axes, place + side, 100 * hi, f"{100 * value:.1f}", fontsize=6.5)
            top = max(top, 100 * hi)
    labels = [f"{label}\nn = {found[group].scored}" for group, label in _GROUPS.items()]
    axes.set_xticks(range(len(labels)), labels, fontsize=7)
    axes.set(ylabel="iterations with a scored child, %", ylim=(0, max(1.0, 1.28 * top)))
    axes.set_yticks([tick for tick in axes.get_yticks() if tick <= 100])
    style.pair_legend(
        axes, "new best of the run", "child beats parent", loc="upper right", ncols=2,
        borderaxespad=0.0, fontsize=7,
    )  # fmt: skip
    axes.set_title("(b) improvement after each decision\nbars: 95 % Wilson intervals")


def _behaviours(axes: Axes, counts: Sequence[BehaviourCount], colour: str) -> None:
    by_flag = {count.flag: count for count in counts}
    rows = sorted(
        ((by_flag[flag], _BEHAVIOURS[name]) for name, flag in CATEGORIES.items()),
        key=lambda row: (row[0].automatic, row[1]),
    )
    for place, (count, _) in enumerate(rows):
        if not count.runs:
            continue
        unit = 100 / count.runs
        left = unit * count.automatic
        axes.barh(place, left, 0.62, color=colour, edgecolor=INK, lw=0.6)
        axes.barh(place, unit * count.confirmed, 0.22, color=INK)
        if count.undecided:
            axes.barh(place, unit * count.undecided, 0.62, left=left, color=BASE,
                      edgecolor=MUTED, hatch="....", lw=0.6)  # fmt: skip
        end = left + unit * count.undecided
        axes.annotate(f"{count.automatic} of {count.runs}", (end, place), (3, 0), va="center",
                      textcoords="offset points", fontsize=7)  # fmt: skip
    axes.set_yticks(range(len(rows)), [label for _, label in rows], fontsize=7)
    axes.set(xlabel="runs, %", xlim=(0, 118), xticks=range(0, 101, 25))
    axes.set_title("(c) behaviours found by rules\ndotted: undecided, black: confirmed", x=-0.12)
