"""Two laws beside each other: whose predictions are closer, and what is drawn from which rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.figure import Figure

from benchmark.artifact import Artifact
from benchmark.evaluator import Invalid
from benchmark.side_by_side import Named, draw_side_by_side
from tasks.ai_foundations.scaling_law import SPLITS, ScalingLaw
from tasks.ai_foundations.tables import Split

Make = Callable[..., ScalingLaw]


def predicted(law: ScalingLaw, label: str, error: dict[str, float], split: Split) -> Named:
    """Predictions that miss every loss of a group by so much."""
    stage = next(stage for stage, rows in SPLITS.items() if rows == split)
    data = {group: rows.targets + error[group] for group, rows in law.table(split).items()}
    artifact = Artifact(dict(data))
    return Named(label, artifact, law.score(artifact, stage))


def test_stars_count_where_the_last_law_is_closer(law: Make) -> None:
    parallel = law("parallel", "embedded")
    groups = list(parallel.table("test"))
    first = predicted(parallel, "first", dict(zip(groups, (0.01, -0.03), strict=True)), "test")
    last = predicted(parallel, "last", dict(zip(groups, (-0.02, 0.02), strict=True)), "test")
    figure = Figure()
    shown = draw_side_by_side(parallel.setup, [first, last], figure)
    better = len(parallel.table("test")[groups[1]])
    total = sum(map(len, parallel.table("test").values()))
    grid = figure.subfigs[0]
    assert f"last closer than first: {better} of {total} held-out rows" in grid.get_suptitle()
    stars = [sum(line.get_marker() == "*" for line in axes.lines) for axes in grid.axes]
    assert stars == [0, better]
    frames = [[p for p in axes.patches if p.get_linestyle() == "--"] for axes in grid.axes]
    assert [len(found) for found in frames] == [1, 1]  # one held-out number of streams
    numbers = [len(axes.texts) for axes in grid.axes]
    rows = [len(parallel.table("train")[g]) + len(parallel.table("test")[g]) for g in groups]
    assert numbers == rows
    assert len(shown.rows) == 2 * total


def test_panels_of_any_law(law: Make) -> None:
    mixture = law("domain_mixture", "embedded")
    groups = mixture.table("test")
    found = [predicted(mixture, name, dict.fromkeys(groups, error), "test")
             for name, error in (("a", 0.1), ("b", 0.01))]  # fmt: skip
    figure = Figure()
    draw_side_by_side(mixture.setup, found, figure)
    titles = [axes.get_title("left") for axes in figure.axes]
    assert [title.split(":")[0] for title in titles] == ["a", "b", "1 − R2, log scale"]
    errors = figure.axes[-1]
    assert errors.get_yscale() == "log"
    heights = [bar.get_height() for bar in errors.patches]  # type: ignore[attr-defined]
    assert heights[0] / heights[1] == pytest.approx(100, rel=1e-6)
    assert figure.get_suptitle().startswith("held-out rows")
    assert "not comparable" in figure.get_suptitle()


def test_training_rows_where_nothing_else_is_there(law: Make) -> None:
    parallel = law("parallel", "embedded")
    found = [predicted(parallel, n, dict.fromkeys(parallel.table("train"), 0.1), "train")
             for n in ("a", "b")]  # fmt: skip
    figure = Figure()
    draw_side_by_side(parallel.setup, found, figure)
    assert figure.get_suptitle().startswith("training rows")


def test_different_rows_cannot_be_compared(law: Make) -> None:
    parallel = law("parallel", "embedded")
    errors = dict.fromkeys(parallel.table("train"), 0.1)
    mixed = [predicted(parallel, "a", errors, "train"), predicted(parallel, "b", errors, "test")]
    with pytest.raises(Invalid, match="predictions for different rows"):
        draw_side_by_side(parallel.setup, mixed, Figure())
    assert np.isfinite(mixed[0].score.search or 0.0)
