"""Figure 7 from own runs: a declared list, both statistics, points that lack runs left out."""

from __future__ import annotations

import pytest
from published_copy import read_csv
from written_runs import WrittenRuns

from analysis.figures import own_fig7, style
from analysis.rows import DataProblem
from analysis.runs import read_study

EVODUET = "openevolve-native+evoduet"


@pytest.fixture
def filled(written: WrittenRuns) -> WrittenRuns:
    """cp26 with two runs at N = 1, 8 and 16, cp32 without N = 8."""
    for task, n, gains in (
        ("cp26", 1, (10, 20)), ("cp26", 8, (40, 60)), ("cp26", 16, (80, 90)),
        ("cp32", 1, (30, 30)), ("cp32", 16, (50, 50)),
    ):  # fmt: skip
        for seed, ndg in enumerate(gains):
            written.run(f"{task}-{n}-{seed}", [{}] * 100, task=task, method=EVODUET, n=n,
                        seed=seed, best={"ndg": float(ndg), "ndg_raw": float(ndg)})  # fmt: skip
    return written


def test_default_list_has_runs_at_every_n(filled: WrittenRuns) -> None:
    (curve,) = own_fig7.curves(read_study(filled.folder))
    assert curve.tasks == ("cp26",)
    assert [(n, curve.mean(n), curve.best(n)) for n in curve.shown] == [
        (1, 15.0, 20.0), (8, 50.0, 60.0), (16, 85.0, 90.0),
    ]  # fmt: skip


def test_declared_list_leaves_out_points_without_runs(filled: WrittenRuns) -> None:
    study = read_study(filled.folder)
    (curve,) = own_fig7.curves(study, ["cp32", "cp26"])
    assert curve.shown == [1, 16]
    assert curve.mean(16) == (85 + 50) / 2
    with style.drawing():
        drawn = own_fig7.draw(study, ["cp32", "cp26"])
    assert drawn is not None
    points, cells = (read_csv(table.text()) for table in drawn.data)
    assert {row["N"]: (row["ndg_of_best"], row["tasks_without_runs"]) for row in points} == {
        "1": ("25", ""), "8": ("", "cp32"), "16": ("70", ""),
    }  # fmt: skip
    assert {(row["task_id"], row["n_runs"]) for row in cells if row["N"] == "8"} == {
        ("cp26", "2"), ("cp32", "0"),
    }  # fmt: skip


def test_a_task_without_any_run_is_refused(filled: WrittenRuns) -> None:
    with pytest.raises(DataProblem, match="--tasks erdos: no EvoDuet run on it; there are runs on"):
        own_fig7.curves(read_study(filled.folder), ["erdos"])


def test_one_n_alone_draws_nothing(written: WrittenRuns) -> None:
    written.run("a", [{}] * 100, method=EVODUET, n=8, best={"ndg": 1.0, "ndg_raw": 1.0})
    assert own_fig7.draw(read_study(written.folder)) is None
