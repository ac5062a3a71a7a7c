"""Reading tables by column names, and making them from the hub."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmark.catalogue import find_task
from benchmark.evaluator import Unavailable
from tasks.ai_foundations import hub
from tasks.ai_foundations.tables import read_table, sizes

NAMES = ("domain_mixture", "u_shape", "lr_bsz", "parallel")


def test_columns_are_found_by_name_and_groups_are_sorted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("y,flops,x,group\n1.5,9,0.1,b\n2.5,9,0.2,a\n3.5,9,0.3,b\n")
    table = read_table(path, ["x"], ["y"])
    assert list(table) == ["a", "b"]
    assert table["b"].features.tolist() == [[0.1], [0.3]]
    assert table["b"].targets.tolist() == [[1.5], [3.5]]


@pytest.mark.parametrize(
    ("content", "problem"),
    [("group,y\na,1\n", "no column x"), ("group,x,y\na,1,\n", "line 2"), ("", "no column group")],
)
def test_broken_tables_are_named(content: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=problem):
        read_table(path, ["x"], ["y"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("split", ["train", "test"])
def test_mirror_and_task_agree(name: str, split: str, law: Any, mirror: Path) -> None:
    evaluator = law(name, "partial" if name == "lr_bsz" else "official")
    table = evaluator.table(split)
    expected = evaluator.partial_sizes or evaluator.sizes
    assert sizes(table) == expected[split]
    if name == "u_shape":
        every = np.concatenate([rows.features for rows in table.values()])
        assert every.min() >= -0.8997
        assert every.max() <= (2.2834 if split == "train" else 2.8855)


def _fake_hub(monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, Any]]) -> list[Any]:
    asked: list[Any] = []

    def load_dataset(path: str, *, name: str, split: str, revision: str) -> Any:
        asked.append((path, name, split, revision))
        return iter(rows)

    module = types.ModuleType("datasets")
    module.load_dataset = load_dataset  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "datasets", module)
    return asked


def _description(folder: Path, revision: str = hub.REVISION) -> Path:
    path = folder / "description.json"
    path.write_text(json.dumps({"id": hub.DATASET, "sha": revision}))
    return path


def _hub_rows(law: Any, split: str) -> list[dict[str, Any]]:
    return [
        {
            "unused": "x",
            **dict(zip(law.targets, rows.targets[i], strict=True)),
            "group": group,
            **dict(zip(law.features, rows.features[i], strict=True)),
        }
        for group, rows in reversed(law.table(split).items())
        for i in range(len(rows))
    ]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("split", ["train", "test"])
def test_hub_rows_become_the_same_table(
    name: str, split: str, law: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluator = law(name, "embedded")
    asked = _fake_hub(monkeypatch, _hub_rows(evaluator, split))
    target = tmp_path / f"{split}.csv"
    declared = {file.name: file for file in evaluator.setup.task.declared.data}[f"{split}.csv"]
    assert declared.source is not None
    assert declared.source.converter == f"tasks.ai_foundations.hub:{name}_{split}"
    assert hub.REVISION in declared.source.downloads[0].url
    getattr(hub, f"{name}_{split}")([_description(tmp_path)], target)
    assert asked[0][0] == "pkuHaowei/sldbench"
    assert asked[0][2:] == (split, hub.REVISION)
    found = read_table(target, evaluator.features, evaluator.targets)
    for group, rows in evaluator.table(split).items():
        np.testing.assert_array_equal(found[group].features, rows.features)
        np.testing.assert_array_equal(found[group].targets, rows.targets)


def test_hub_tables_are_checked(law: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = _hub_rows(law("parallel", "embedded"), "test")
    target = tmp_path / "test.csv"
    _fake_hub(monkeypatch, rows[:-1])
    with pytest.raises(ValueError, match="rows by group"):
        hub.parallel_test([_description(tmp_path)], target)
    _fake_hub(monkeypatch, rows)
    with pytest.raises(ValueError, match="instead of"):
        hub.parallel_test([_description(tmp_path, "0" * 40)], target)
    assert not target.exists()
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(Unavailable, match=r"evoduet\[hub\]"):
        hub.parallel_test([_description(tmp_path)], target)


def test_doubtful_token_count_is_reported_not_repaired(
    law: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{**row, "data_size": 1e13} for row in _hub_rows(law("lr_bsz", "embedded"), "test")]
    _fake_hub(monkeypatch, rows)
    target = tmp_path / "test.csv"
    with pytest.warns(UserWarning, match="1e\\+13"):
        hub.lr_bsz_test([_description(tmp_path)], target)
    table = read_table(target, ["data_size"], ["lm_loss"])
    assert set(table["all_data"].features[:, 0]) == {1e13}


@pytest.mark.parametrize("name", NAMES)
def test_declared_files_cover_each_variant(name: str) -> None:
    declared = find_task(name).declared
    files = {
        variant: sorted(file.name for file in declared.data if variant in file.variants)
        for variant in declared.variants
    }
    assert files["official"] == ["test.csv", "train.csv"]
    assert files["embedded"] == []
    if name == "lr_bsz":
        assert files["partial"] == ["test.csv", "train_partial.csv"]
