"""Own runs: what is read, what is left out and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_task import LocalEvaluator, clients, config
from published_copy import read_csv
from written_runs import WrittenRuns

from analysis import run_statistics
from analysis.published import Published
from analysis.reading import read_traces
from analysis.rows import DataProblem
from analysis.runs import read_study
from analysis.tables.build import run_files
from benchmark.catalogue import find_task
from method.runs import run


def gained(ndg: float) -> dict[str, float]:
    return {"ndg": ndg, "ndg_raw": ndg, "reporting": 2.0}


def test_runs_of_the_engine_are_read(tmp_path: Path, data: Published) -> None:
    for seed in (1, 2):
        for method in ("evoduet", "none"):
            run(
                config(task="hadamard29", method=method, seed=seed, iterations=4),
                tmp_path / "runs" / f"{method}-{seed}", clients=clients(),
            )  # fmt: skip
    study = read_study(tmp_path / "runs")
    assert study.notes == ()
    assert [r.run_id for r in study.runs] == ["evoduet-1", "evoduet-2", "none-1", "none-2"]
    first = study.runs[0]
    summary = json.loads((first.folder / "summary.json").read_text())
    assert (first.ndg, first.cost_usd) == (summary["ndg"], summary["cost_usd"])
    assert first.configuration.label == (
        "local-script", 3, "openevolve-native+evoduet",
        "gate=knowledge R=3 J=1 M=5 D=3 search=offline edit=full",
    )  # fmt: skip
    for progress in read_traces(study).curves.progress:
        end = progress.curves["iterations"].value[-1]
        assert end == pytest.approx(progress.run.ndg)
        assert progress.curves["usd"].spent == pytest.approx(progress.run.cost_usd)
    files, notes = run_files(tmp_path / "runs", data)
    assert not notes
    (pair,) = read_csv(files["runs_pairs.csv"])
    assert (pair["ours"].split()[0], pair["theirs"].split()[0]) == (
        "openevolve-native+evoduet", "openevolve-native+none",
    )  # fmt: skip


def test_held_out_runs_of_the_engine(tmp_path: Path) -> None:
    evaluator = LocalEvaluator(held_out=True)
    run(
        config(task="denoising", method="none", iterations=4, report_iterations=(2,),
               variant="official"),
        tmp_path / "runs" / "held", clients=clients(evaluator),
    )  # fmt: skip
    (progress,) = read_traces(read_study(tmp_path / "runs")).curves.progress
    assert progress.measure == "ndg"
    values = progress.curves["iterations"].value
    assert values[0] == values[1] == 0.0
    assert values[2] > 0
    assert values[-1] == pytest.approx(progress.run.ndg)


def test_settings_that_differ_make_different_configurations(written: WrittenRuns) -> None:
    evoduet = "openevolve-native+evoduet"
    written.run("a", [{}], method=evoduet)
    written.run("b", [{}], method=evoduet, gate="random", gate_p=0.5)
    written.run("c", [{}], method=evoduet, rounds=1, retain=5)
    written.run("d", [{}], gate="random", rounds=1)
    written.run("e", [{}])
    written.run("f", [{}], rules="robust", scaffold_options={"k": 4})
    labels = {run.run_id: run.configuration.settings for run in read_study(written.folder).runs}
    assert labels["a"] == "gate=knowledge R=3 J=1 M=5 D=3 search=offline"
    assert labels["b"] == "gate=random p=0.5 R=3 J=1 M=5 D=3 search=offline"
    assert labels["c"] == "gate=knowledge R=1 J=1 M=5 D=5 search=offline"
    assert labels["d"] == labels["e"] == ""
    assert labels["f"] == "rules=robust k=4"


def test_cells_by_hand(written: WrittenRuns) -> None:
    for seed, (score, ndg) in enumerate([(2.0, 40.0), (1.0, 0.0), (2.5, 80.0)]):
        written.run(f"r{seed}", [{}, {}], seed=seed, cost=0.5 + seed,
                    best={"reporting": score, "ndg": ndg, "ndg_raw": ndg})  # fmt: skip
    section = run_statistics.cells(run_statistics.comparable(read_study(written.folder)))
    (row,) = read_csv(section.table.text())
    assert (row["n"], row["iterations"]) == ("3", "2")
    assert float(row["ndg_mean"]) == 40
    assert float(row["ndg_std"]) == 40
    assert float(row["ndg_best"]) == 80
    assert float(row["native_best"]) == 2.5
    assert float(row["mean_cost_usd"]) == 1.5


def test_the_best_of_a_minimised_task_is_the_smallest(written: WrittenRuns) -> None:
    for name, score in (("a", 0.40), ("b", 0.39)):
        written.run(name, [{}], task="mathematics/erdos",
                    best={"reporting": score, "ndg": 1.0, "ndg_raw": 1.0})  # fmt: skip
    section = run_statistics.cells(run_statistics.comparable(read_study(written.folder)))
    (row,) = read_csv(section.table.text())
    assert row["native_best"] == "0.39"
    assert find_task("erdos").declared.direction == "min"


def test_unfinished_and_unscored_runs_are_named(written: WrittenRuns, data: Published) -> None:
    written.run("done", [{}], best=gained(30.0))
    written.run("stopped", [{}], status="interrupted", best=gained(90.0))
    written.run("held", [{}], task="scientific_algorithms/denoising", x0=None,
                best={"ndg": None, "ndg_raw": None, "reporting": None})  # fmt: skip
    written.run("embedded", [{}], variant="embedded", best={"ndg": None, "ndg_raw": None})
    killed = written.run("killed", [{}])
    (killed / "summary.json").unlink()
    files, notes = run_files(written.folder, data)
    text = "\n".join(notes)
    assert "stopped: interrupted after 1 of 1 iterations" in text
    assert "held: its reporting metric is held out and was not evaluated" in text
    assert "embedded: variant embedded is not comparable" in text
    assert "no summary.json, the run never stopped by itself; go on with `evoduet resume" in text
    listed = {row["run_id"]: row["ndg"] for row in read_csv(files["runs.csv"])}
    assert listed == {"done": "30", "stopped": "90", "held": "", "embedded": ""}
    (row,) = read_csv(files["runs_cells.csv"])
    assert (row["n"], row["ndg_mean"]) == ("1", "30")
    assert "## Left out" in files["runs_statistics.md"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("summary.json", "", "not JSON"),
        ("summary.json", '{"run_id": "x', "not JSON"),
        ("summary.json", "[]", "not a JSON object"),
        ("summary.json", "{}", "no 'task'"),
        (
            "summary.json",
            '{"task": "cp26", "run_id": "x", "status": "finished", "T": 1, "done": 1, "best": 3}',
            "not a summary",
        ),
        ("summary.json", '{"task": "cp62", "best": {}}', "unknown task 'cp62'"),
        ("journal.jsonl", "", "does not begin with run_started"),
        ("journal.jsonl", '{"event": "gate", "data": {}}\n', "does not begin with run_started"),
    ],
)
def test_half_written_files_are_named_and_left_out(
    written: WrittenRuns, name: str, content: str, message: str
) -> None:
    written.run("good", [{}], best=gained(10.0))
    bad = written.run("bad", [{}])
    (bad / name).write_text(content)
    if "no 'task'" in message:
        (bad / "journal.jsonl").unlink()
    study = read_study(written.folder)
    assert [run.run_id for run in study.runs] == ["good"]
    (note,) = study.notes
    assert message in note
    assert "bad" in note


def test_traces_from_elsewhere_need_no_journal(written: WrittenRuns) -> None:
    folder = written.run("foreign", [{"score": 2.0}], best=gained(10.0))
    (folder / "journal.jsonl").unlink()
    (run_,) = read_study(written.folder).runs
    assert run_.configuration.n is None
    assert run_.seed is None
    assert run_.configuration.settings == ""


def test_runs_lie_at_any_depth_and_hold_no_other_runs(written: WrittenRuns) -> None:
    written.run("sweep/one/a", [{}])
    folder = written.run("b", [{}])
    (folder / "blobs").mkdir()
    (folder / "blobs" / "summary.json").write_text("{}")
    study = read_study(written.folder)
    assert sorted(run.folder.name for run in study.runs) == ["a", "b"]
    assert study.notes == ()


def test_no_runs_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(DataProblem, match="no folder of runs"):
        read_study(tmp_path / "nowhere")
    with pytest.raises(DataProblem, match="no runs there"):
        read_study(tmp_path)


def test_pareto_leaves_out_unpriced_runs(written: WrittenRuns) -> None:
    written.run("cheap", [{}], best=gained(50.0), cost=1.0)
    written.run("dear", [{}], method="topk+none", best=gained(40.0), cost=2.0)
    written.run("free?", [{}], method="openevolve-native+oracle", best=gained(90.0), cost=None)
    section = run_statistics.costs(run_statistics.comparable(read_study(written.folder)))
    rows = {row["method"]: row["pareto"] for row in read_csv(section.table.text())}
    assert rows == {"openevolve-native+none": "yes", "topk+none": "no"}


def test_nothing_comparable_still_lists_the_runs(written: WrittenRuns, data: Published) -> None:
    written.run("stopped", [{}], status="interrupted")
    files, _ = run_files(written.folder, data)
    assert len(read_csv(files["runs.csv"])) == 1
    assert read_csv(files["runs_aggregates.csv"]) == []
