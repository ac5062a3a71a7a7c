"""Parity of the four tasks with the recorded metrics and initial programs, and their data."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shared_data import read_case, shared_root

from benchmark import Artifact, evaluate
from benchmark.artifact import save
from benchmark.catalogue import find_task
from benchmark.evaluator import Invalid, Unavailable
from benchmark.harness import default_harness
from tasks.ai_foundations.scaling_law import ScalingLaw

NAMES = ("domain_mixture", "u_shape", "lr_bsz", "parallel")
VARIANT = {"lr_bsz": "partial"}
MakeLaw = Callable[..., ScalingLaw]


def _cases(*, initial: bool) -> list[Any]:
    root = shared_root()
    if root is None:
        skip = pytest.mark.skip(reason="no shared folder (EVODUET_SHARED): parity cases not run")
        return [pytest.param(None, id="parity", marks=skip)]
    cases = read_case(root / "parity" / "scaling_laws" / "metrics.json")
    chosen = [case for case in cases if ("program" in case["input"]) == initial]
    assert chosen
    return [pytest.param(case, id=case["case"]) for case in chosen]


@pytest.mark.parametrize("case", _cases(initial=False))
def test_recorded_predictions(case: Any, law: MakeLaw, mirror: Path) -> None:
    evaluator = law(case["task"], VARIANT.get(case["task"], "official"))
    artifact = Artifact(case["input"]["predictions"])
    expected = case["expected"]
    assert case["split"] == "test"
    assert list(evaluator.table("test")) == case["group_order"]
    if not expected["valid"]:
        with pytest.raises(Invalid):
            evaluator.score(artifact, "report")
        return
    score = evaluator.score(artifact, "report")
    assert score.search is None
    assert score.objective == pytest.approx(expected["reported"], abs=1e-9)
    for name in ("r2", "nmse", "nmae"):
        assert score.metrics[f"heldout_{name}"] == pytest.approx(expected[name], rel=1e-9, abs=1e-9)
        for target, value in zip(
            evaluator.targets, expected.get(f"{name}_per_dim", ()), strict=False
        ):
            found = score.metrics[f"heldout_{name}_{target}"]
            assert found == pytest.approx(value, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("case", _cases(initial=True))
def test_recorded_initial_programs(case: Any, law: MakeLaw, mirror: Path) -> None:
    name, expected = case["task"], case["expected"]
    evaluator = law(name, VARIANT.get(name, "official"))
    task = find_task(name)
    session = default_harness().session(task.limits)
    params = evaluator.fit(task.initial_program, session)
    for group, values in expected.get("params_per_group", {}).items():
        np.testing.assert_allclose(params[group], values, rtol=1e-6, atol=1e-6)
    for split in ("train", "test"):
        predicted = evaluator.predict(task.initial_program, session, evaluator.table(split), params)
        stage = "search" if split == "train" else "report"
        score = evaluator.score(Artifact(dict(predicted)), stage)
        prefix = "" if split == "train" else "heldout_"
        for metric, value in expected.get(split, {}).items():
            if metric in ("r2", "nmse", "nmae"):
                assert score.metrics[prefix + metric] == pytest.approx(value, rel=1e-9, abs=1e-12)
        if f"{split}_r2_measured" in expected:
            measured = expected[f"{split}_r2_measured"]
            assert score.metrics[f"{prefix}r2"] == pytest.approx(measured, rel=1e-6)
        if split == "test" and "reported_test" in expected:
            assert score.objective == expected["reported_test"]


@pytest.mark.parametrize(
    ("name", "tolerance"), [("domain_mixture", 1e-12), ("parallel", 1e-12), ("u_shape", 0.0)]
)
def test_initial_program_is_x0(name: str, tolerance: float, mirror: Path) -> None:
    task = find_task(name)
    evaluation = evaluate(task, task.initial_program, "report", variant="official")
    assert evaluation.status == "valid", evaluation.reason
    x0 = task.declared.anchors.initial.value
    assert evaluation.objective == pytest.approx(x0, abs=tolerance)
    assert evaluation.ndg == pytest.approx(0.0, abs=1e-6)
    if name == "u_shape":
        assert evaluation.metrics["heldout_r2"] == pytest.approx(-466.840135, abs=1e-6)


@pytest.mark.parametrize("name", [*NAMES, "denoising"])
def test_anchors(name: str, shared: Path) -> None:
    with (shared / "data" / "paper" / "anchors_reconciled.csv").open(newline="") as file:
        rows = {row["task_id"]: row for row in csv.DictReader(file)}
    anchors = find_task(name).declared.anchors
    for anchor, label in ((anchors.initial, "x0"), (anchors.sota, "sota")):
        assert anchor.value == float(rows[name][f"recommended_{label}"])
        assert anchor.status == rows[name][f"recommended_{label}_status"]


def test_partial_table_is_not_comparable(mirror: Path) -> None:
    task = find_task("lr_bsz")
    evaluation = evaluate(task, task.initial_program, "both")
    assert evaluation.status == "valid", evaluation.reason
    assert evaluation.provenance["variant"] == "partial"
    assert evaluation.objective == task.declared.anchors.initial.value == -1.0
    assert evaluation.ndg is None


def test_official_lr_bsz_needs_the_whole_table(mirror: Path) -> None:
    task = find_task("lr_bsz")
    evaluation = evaluate(task, task.initial_program, variant="official")
    assert evaluation.status == "unavailable"
    assert "data fetch" in evaluation.reason


@pytest.mark.parametrize("name", NAMES)
def test_fresh_machine_runs_the_embedded_variant(name: str) -> None:
    task = find_task(name)
    evaluation = evaluate(task, task.initial_program, "both")
    assert evaluation.status == "valid", evaluation.reason
    assert evaluation.provenance["variant"] == "embedded"
    assert evaluation.search is not None
    assert evaluation.objective is not None
    assert -1.0 <= evaluation.objective <= 1.0
    assert evaluation.ndg is None


@pytest.mark.parametrize("name", NAMES)
def test_held_out_values_stay_out_of_the_search(name: str, law: MakeLaw) -> None:
    evaluator = law(name, "embedded")
    train = {group: rows.targets for group, rows in evaluator.table("train").items()}
    score = evaluator.score(Artifact(dict(train)), "search")
    assert score.search == 1.0
    assert score.objective is None
    assert not any("heldout" in metric for metric in score.metrics)
    assert "held-out" not in score.feedback
    with pytest.raises(Invalid):  # training predictions are no held-out predictions
        evaluator.score(Artifact(dict(train)), "report")


@pytest.mark.parametrize("name", NAMES)
def test_stored_artifacts_by_group_or_in_one_array(name: str, law: MakeLaw, tmp_path: Path) -> None:
    evaluator = law(name, "embedded")
    table = evaluator.table("test")
    by_group = {group: rows.targets * 1.001 for group, rows in table.items()}
    in_one = np.concatenate(list(by_group.values()))
    flat = in_one[:, 0] if in_one.shape[1] == 1 else in_one
    scores = [
        evaluator.score(Artifact(data), "report")
        for data in (
            by_group,
            in_one,
            flat,
            flat.tolist(),
            {"construction": in_one},
            {"predictions": flat.tolist()},
        )
    ]
    assert len({score.objective for score in scores}) == 1
    path = tmp_path / "predictions.json"
    save(Artifact(dict(by_group)), path)
    stored = evaluate(evaluator.setup.task, artifact=path, stage="report", variant="embedded")
    assert stored.objective == scores[0].objective


@pytest.mark.parametrize("name", NAMES)
def test_embedded_tables_have_the_official_form(name: str, law: MakeLaw) -> None:
    evaluator = law(name, "embedded")
    again = law(name, "embedded")
    for split in ("train", "test"):
        table = evaluator.table(split)
        assert {group: len(rows) for group, rows in table.items()} == evaluator.sizes[split]
        assert list(table) == sorted(table)
        for group, rows in table.items():
            assert rows.features.shape[1] == len(evaluator.features)
            assert rows.targets.shape[1] == len(evaluator.targets)
            assert np.isfinite(rows.features).all()
            assert np.isfinite(rows.targets).all()
            np.testing.assert_array_equal(rows.targets, again.table(split)[group].targets)


def test_infinite_r2_is_the_lowest_search_score_and_reports_minus_one(law: MakeLaw) -> None:
    evaluator = law("parallel", "embedded")
    for stage, split in (("search", "train"), ("report", "test")):
        huge = {
            group: np.full_like(rows.targets, 1e200)
            for group, rows in evaluator.table(split).items()
        }
        score = evaluator.score(Artifact(dict(huge)), stage)
        assert not any(name.endswith(("r2", "nmse")) for name in score.metrics)
        if stage == "search":
            assert score.search is not None
            assert score.search < -1e308
        else:
            assert score.objective == -1.0


def test_another_table_is_unavailable(
    law: MakeLaw, mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluator = law("parallel", "official")
    monkeypatch.setattr(type(evaluator), "sizes", {"train": {"pile": 18}, "test": {"pile": 6}})
    with pytest.raises(Unavailable, match="another table"):
        evaluator.table("train")


@pytest.mark.parametrize("name", ["domain_mixture", "u_shape"])
def test_picture(name: str, law: MakeLaw) -> None:
    from matplotlib.figure import Figure

    evaluator = law(name, "embedded")
    noisy = {group: rows.targets + 0.01 for group, rows in evaluator.table("test").items()}
    figure = Figure(figsize=(8, 4.5))
    evaluator.draw(Artifact(dict(noisy)), figure)
    assert len(figure.axes) == len(evaluator.targets)
    assert "Held-out" in figure.get_suptitle()
    assert "not comparable" in figure.get_suptitle()
    drawn = sum(
        len(line.get_xdata()) for line in figure.axes[0].lines if line.get_marker() != "None"
    )
    assert drawn == sum(evaluator.sizes["test"].values())
