"""Predicted against actual losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tasks.ai_foundations.goodness import goodness
from tasks.ai_foundations.tables import Array, Split, Table

_MARKERS = "osD^vP*X<>"
_LABELS = {"train": "Training rows", "test": "Held-out rows"}


def draw_predictions(
    figure: Figure,
    table: Table,
    predictions: Mapping[str, Array],
    targets: Sequence[str],
    split: Split,
    variant: str,
) -> None:
    """One panel for each target, one colour and marker for each group, the diagonal as a guide."""
    n_columns = min(3, len(targets))
    n_rows = -(-len(targets) // n_columns)
    panels = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    truth = np.concatenate([rows.targets for rows in table.values()])
    found = goodness(np.concatenate([predictions[group] for group in table]), truth)
    beyond = 0
    for index, target in enumerate(targets):
        by_group = {
            group: (rows.targets[:, index], predictions[group][:, index])
            for group, rows in table.items()
        }
        beyond += _draw_panel(panels[index], by_group)
        if len(targets) > 1:
            title = f"{target}: R2 {found.r2_per_dim[index]:.4g}"
            panels[index].set_title(title, fontsize="medium")
    for spare in panels[len(targets) :]:
        spare.remove()
    notes = [f"{_LABELS[split]}: R2 {found.r2:.6g}"]
    if variant != "official":
        notes.append(f"{variant} data, not comparable")
    if beyond:
        notes.append(f"{beyond} predictions beyond the frame are drawn at its edge")
    figure.suptitle("; ".join(notes), fontsize="medium")
    figure.supxlabel("actual" if len(targets) > 1 else f"actual {targets[0]}", fontsize="medium")
    figure.supylabel("predicted", fontsize="medium")
    if len(table) > 1:
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right center", fontsize="small")


def _draw_panel(axes: Axes, by_group: Mapping[str, tuple[Array, Array]]) -> int:
    """Draw the points of one target; the number of those that lie outside the frame."""
    actual = np.concatenate([pair[0] for pair in by_group.values()])
    span = float(np.ptp(actual)) or 1.0
    low, high = float(actual.min()) - 0.08 * span, float(actual.max()) + 0.08 * span
    everything = np.concatenate([pair[1] for pair in by_group.values()])
    bottom = max(low - span, min(low, float(everything.min()) - 0.08 * span))
    top = min(high + span, max(high, float(everything.max()) + 0.08 * span))
    for number, (group, (truth, predicted)) in enumerate(by_group.items()):
        axes.plot(
            truth,
            np.clip(predicted, bottom, top),
            linestyle="none",
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=5,
            alpha=0.75,
            color=matplotlib.colormaps["tab10"](number % 10),
            label=group,
            clip_on=False,
        )
    axes.axline((low, low), slope=1.0, color="0.5", linewidth=1, zorder=0)
    axes.set_xlim(low, high)
    axes.set_ylim(bottom, top)
    return int(np.count_nonzero((everything < bottom) | (everything > top)))
