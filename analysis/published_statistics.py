"""Section 5 of the analysis on the paper's numbers: the best run of each cell, 21 tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from analysis import summaries
from analysis.gains import Gain, best_gains, gains_of_means
from analysis.ordering import model_key
from analysis.output import CsvFile, Value
from analysis.published import BASELINE, EVODUET, Published
from analysis.sensitivity import DRAWS, drawn_anchors, gains
from analysis.statistics.aggregates import AGGREGATES, TARGET
from analysis.statistics.bootstrap import seed_of
from analysis.statistics.ranks import kendall
from analysis.statistics.scores import Array, Scores
from analysis.summaries import Group, Section

COLUMNS = ("model", "N", "method")
Label = tuple[str, int, str]


def sections(data: Published) -> list[Section]:
    """All tables, in the order in which a reader wants them."""
    best = best_gains(data)
    groups = best_groups(data)
    domains = {cell.task_id: cell.domain for cell in data.scores}
    variants = {
        "no floor at 0": _groups((gain, gain.raw) for gain in best),
        "cap at 100": _groups((gain, min(TARGET, gain.value)) for gain in best),
        "mean score instead of the best": _groups((g, g.value) for g in gains_of_means(data)),
    }
    return [
        summaries.aggregates("statistics_aggregates", COLUMNS, groups),
        summaries.paired("statistics_pairs", COLUMNS, groups),
        summaries.profiles("statistics_profile", COLUMNS, groups),
        summaries.ranks("statistics_ranks", COLUMNS, groups),
        summaries.stability("statistics_stability", groups, domains, variants),
        sensitivity(data),
    ]


def best_groups(data: Published) -> list[Group]:
    """NDG of the best run of each cell, by model, N and method."""
    return _groups((gain, gain.value) for gain in best_gains(data))


def _groups(values: Iterable[tuple[Gain, float]]) -> list[Group]:
    found: dict[tuple[Value, ...], dict[str, list[float]]] = {}
    for gain, value in values:
        label = (gain.cell.model, gain.cell.n, gain.cell.method)
        found.setdefault(label, {})[gain.cell.task_id] = [value]
    return [Group(label, Scores.of(by_task)) for label, by_task in found.items()]


def sensitivity(data: Published) -> Section:
    """Aggregates, differences and order over all anchors that the printed digits allow."""
    labels, tasks, native = _native(data)
    known = bool(tasks) and all(task in data.anchor_ranges for task in tasks)
    rows = _over_anchors(data, labels, tasks, native) if known else []
    return Section(
        "Sensitivity to the anchors",
        f"Smallest and largest value over {DRAWS:,} draws of x0 and SOTA, uniform and independent "
        "in the ranges that the printed digits allow (draws leave out how the two depend on each "
        "other, so the ranges are wide rather than narrow), and the share of draws in which the "
        "difference keeps its sign; over the tasks that every row has. Says nothing about anchors "
        "chosen by another rule. Empty where the ranges are not known for every task.",
        CsvFile(
            "statistics_sensitivity",
            (*COLUMNS, "aggregate", "value", "lo", "hi", "share_same_sign"),
            rows,
        ),
    )


def _over_anchors(
    data: Published, labels: list[Label], tasks: list[str], native: Array
) -> list[tuple[Value, ...]]:
    point = _point_gains(data, labels, tasks)
    x0, sota = drawn_anchors(data.anchor_ranges, tasks, seed=seed_of("anchors"))
    drawn = np.stack([gains(row[:, np.newaxis], x0, sota) for row in native])
    rows: list[tuple[Value, ...]] = []
    for place, label in enumerate(labels):
        for name, statistic in AGGREGATES.items():
            value = float(statistic(point[place][:, np.newaxis]))
            rows.append((*label, name, value, *_range(statistic(drawn[place])), None))
    for model, n in sorted({label[:2] for label in labels}, key=lambda s: (model_key(s[0]), s[1])):
        if not {(model, n, EVODUET), (model, n, BASELINE)} <= set(labels):
            continue
        ours, theirs = (labels.index((model, n, m)) for m in (EVODUET, BASELINE))
        for name, statistic in AGGREGATES.items():
            at_point = statistic(point[..., np.newaxis])
            value = float(at_point[ours] - at_point[theirs])
            change = statistic(drawn[ours]) - statistic(drawn[theirs])
            same = float(np.mean(np.sign(change) == np.sign(value)))
            rows.append((model, n, f"{EVODUET} - {BASELINE}", name, value, *_range(change), same))
    rows.append(("", None, "order of all by mean", "kendall_tau", 1.0, *_taus(point, drawn), None))
    return rows


def _native(data: Published) -> tuple[list[Label], list[str], Array]:
    """Labels, tasks that all of them have, and best scores of shape (labels, tasks)."""
    table: dict[Label, dict[str, float]] = {}
    for cell in data.scores:
        row = table.setdefault((cell.model, cell.n, cell.method), {})
        row[cell.task_id] = float(cell.score.best)
    tasks = sorted(set.intersection(*map(set, table.values())))
    return list(table), tasks, np.array([[row[task] for task in tasks] for row in table.values()])


def _point_gains(data: Published, labels: Sequence[Label], tasks: Sequence[str]) -> Array:
    values = {
        ((g.cell.model, g.cell.n, g.cell.method), g.cell.task_id): g.value for g in best_gains(data)
    }
    return np.array([[values[label, task] for task in tasks] for label in labels])


def _range(values: Array) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _taus(point: Array, drawn: Array) -> tuple[float | None, float | None]:
    usual = point.mean(axis=1).tolist()
    means = drawn[..., 0].mean(axis=2)
    found = [kendall(usual, column.tolist()) for column in means.T]
    taus = [tau for tau in found if tau is not None]
    return (min(taus), max(taus)) if taus else (None, None)
