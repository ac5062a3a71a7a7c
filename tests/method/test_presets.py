"""Settings by name: presets, letters, files, and the run as the release does it."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from fake_task import clients, config
from shared_data import REPOSITORY

from method.config import ConfigProblem, RunConfig, make_config
from method.journal import read_journal
from method.presets import PRESETS, released_wall_s
from method.runs import resolved, run

PUBLISHED = REPOSITORY / "results" / "published"


def make(file: Path | None = None, **options: Any) -> RunConfig:
    return make_config(file, **{"task": "cp26", "model": "offline/perturb", **options})


def written(path: Path, text: str) -> Path:
    path.write_text(f'task = "cp26"\nmodel = "offline/perturb"\n{text}')
    return path


@pytest.mark.parametrize(
    ("names", "values"),
    [
        (["N1"], {"candidates": 1}),
        (["N16", "R1"], {"candidates": 16, "rounds": 1}),
        (["J3k5"], {"queries": 3, "retain": 5, "per_query": 5}),
        (["J5k3", "R5"], {"queries": 5, "retain": 3, "rounds": 5}),
        (["random-gate"], {"gate": "random", "gate_p": 0.5}),
        (["stagnation-gate"], {"gate": "stagnation", "gate_window": None}),
    ],
)
def test_presets_set_what_the_paper_says(
    tmp_path: Path, names: list[str], values: Mapping[str, Any]
) -> None:
    chosen = make(presets=names)
    assert {key: getattr(chosen, key) for key in values} == values
    assert chosen.presets == tuple(names)
    listed = ", ".join(f'"{name}"' for name in names)
    assert make_config(written(tmp_path / "run.toml", f"presets = [{listed}]")) == chosen


def test_every_setting_of_the_tables_has_a_preset() -> None:
    with (PUBLISHED / "table6a_rounds.csv").open() as file:
        assert {f"R{row['R']}" for row in csv.DictReader(file)} <= PRESETS.keys()
    with (PUBLISHED / "table6b_queries.csv").open() as file:
        for row in csv.DictReader(file):
            assert f"J{row['J']}k{row['k_documents'] or 3}" in PRESETS
    with (PUBLISHED / "table1b_gating.csv").open() as file:
        gates = {row["gating"].split("_")[0] for row in csv.DictReader(file)}
    assert {f"{gate}-gate" for gate in gates} <= PRESETS.keys()
    for name in PRESETS:
        make(presets=[name])


def test_what_wins(tmp_path: Path) -> None:
    file = written(tmp_path / "run.toml", 'presets = ["N16", "R1"]\nN = 4\n')
    assert make_config(file).candidates == 4  # in one place the single key wins
    assert make_config(file, presets=["N1"]).candidates == 1  # the command line wins over the file
    assert make_config(file, presets=["N1"], candidates=2).candidates == 2
    assert make_config(file, presets=["N1"]).rounds == 1
    assert make_config(file, presets=["N1"]).presets == ("N16", "R1", "N1")
    assert make(presets=["N16", "as-released"]).candidates == 16


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"presets": ["J3k3", "J5k3"]}, "presets: J3k3 and J5k3 both set queries; choose one"),
        ({"presets": ["N2"]}, "presets: unknown preset 'N2'; known: N1, N8, N16"),
        ({"presets": "N1"}, "presets: must be a list of names"),
        ({"presets": [1]}, "presets: must be a list of names"),
        ({"R": 2, "rounds": 3}, "given twice"),
        ({"K": 2}, "K: unknown key"),
        ({"r": 2}, "r: unknown key"),
        ({"gate_window": 0}, "gate_window"),
        ({"eval_wall_s": "paper"}, "eval_wall_s"),
        ({"retriever_options": {"max_reflect": 1}}, "max_reflect: unknown option of evoduet"),
        ({"method": "sequential", "retriever_options": {"max_reflect": 3}}, "max_reflect"),
        ({"method": "joint", "retriever_options": {"force_frist": True}}, "known: force_first"),
        ({"method_options": {"x": 1}}, r"method_options: openevolve-native\+evoduet has none"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigProblem, match=message):
        make(**options)


def test_letters_and_the_authors_names_are_the_same_keys(tmp_path: Path) -> None:
    ours = make(rounds=2, queries=4, per_query=6, retain=1, candidates=7, iterations=9)
    letters = "R = 2\nJ = 4\nM = 6\nD = 1\nN = 7\nT = 9\n"
    theirs = (
        "inner_rounds = 2\nquery_count = 4\ndocuments_per_query = 6\nsearch_top_k = 1\n"
        "num_generations = 7\niterations = 9\n"
    )
    assert make_config(written(tmp_path / "letters.toml", letters)) == ours
    assert make_config(written(tmp_path / "theirs.toml", theirs)) == ours
    both = written(tmp_path / "both.toml", "R = 2\ninner_rounds = 2\n")
    with pytest.raises(ConfigProblem, match="inner_rounds: given twice, R is the same"):
        make_config(both)
    yaml = tmp_path / "run.yaml"
    yaml.write_text("task: cp26\nmodel: offline/perturb\n" + letters.replace(" =", ":"))
    assert make_config(yaml) == ours
    yaml.write_text("task: [cp26\n")
    with pytest.raises(ConfigProblem, match=r"run\.yaml: not YAML"):
        make_config(yaml)
    yaml.write_text("- task\n")
    with pytest.raises(ConfigProblem, match="must hold keys and values"):
        make_config(yaml)


def test_time_limits_are_those_of_the_published_list() -> None:
    assert released_wall_s("cp26") == 600.0
    assert released_wall_s("swap_reduction") == 3000.0
    # Those of the contests hold for a whole judgement there, for one input of a program here.
    assert released_wall_s("ahc039") is None
    assert released_wall_s("labs_27") is None


def test_as_released_is_in_the_manifest_with_what_differs(tmp_path: Path) -> None:
    given = config(
        presets=["as-released"], search="offline", iterations=2, edit="full", candidates=2
    )
    run(given, tmp_path / "run", clients=clients())
    manifest = read_journal(tmp_path / "run")[0].data
    kept = manifest["config"]
    assert kept["presets"] == ["as-released"]
    assert (kept["client"]["params"], kept["prices"]) == ("release", "paper-gateway")
    assert (kept["blocklist"], manifest["blocklist"]) == (False, None)
    assert (kept["workers"], kept["eval_wall_s"]) == (2, 600.0)
    assert manifest["rules"]["eval.parallel"] == "as-released"
    notes = " ".join(manifest["notes"])
    for words in ("load differs", "temperature and top_p", "one layer", "our own implementation"):
        assert words in notes
    run(config(iterations=1), tmp_path / "usual", clients=clients())
    assert read_journal(tmp_path / "usual")[0].data["notes"] == []


def test_parallel_evaluations_of_the_release_are_unequal() -> None:
    released = {"switches": {"eval.parallel": "as-released"}}
    assert resolved(make(method="evoduet", **released)).workers == 8
    assert resolved(make(method="none", **released)).workers == 1
    assert resolved(make(method="evoduet", workers=3, **released)).workers == 3
    assert resolved(make(method="evoduet")).workers == 1


def test_what_a_run_leaves_to_its_task() -> None:
    simple = resolved(make(task="labs_27", presets=["as-released", "stagnation-gate"], T=60))
    assert (simple.iterations, simple.gate_window, simple.eval_wall_s) == (60, 2, "task")
    assert resolved(make(method="sequential")).max_attempts == 6
    assert resolved(make(method="evoduet")).max_attempts == 3
    assert resolved(make(method="sequential", max_attempts=1)).max_attempts == 1
