"""Pairs of stored outputs: drawn by the task, labelled, valid or refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from PIL import Image
from published_copy import read_csv
from typer.testing import CliRunner, Result

from analysis.figures import stored_pairs, style
from analysis.figures.stored_pairs import Pair
from analysis.rows import DataProblem
from benchmark.artifact import Artifact, Plain
from benchmark.catalogue import catalogue
from benchmark.commands import figures, stored
from benchmark.commands.options import UsageProblem
from benchmark.evaluation import prepare
from benchmark.side_by_side import named

app = typer.Typer(pretty_exceptions_enable=False)
app.command("figures")(figures.figures)
app.command("other")(lambda: None)

WAVES: dict[str, Plain] = {"flat": [0.5] * 8, "steps": [0.0, 1.0] * 4}


def evoduet(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def written(folder: Path, name: str, heights: object) -> Path:
    path = folder / f"{name}.json"
    path.write_text(json.dumps(heights))
    return path


def test_every_figure_names_tasks_that_exist() -> None:
    names = {task.name for task in catalogue().values()}
    assert {task for tasks in stored_pairs.FIGURES.values() for task in tasks} <= names


def test_a_pair_of_files(tmp_path: Path) -> None:
    flat, steps = (written(tmp_path, name, heights) for name, heights in WAVES.items())
    result = evoduet("figures", "--out", tmp_path / "out", "--only", "fig21", "--pair",
                     f"erdos={flat},{steps}")  # fmt: skip
    assert result.exit_code == 0, result.exception
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        f"fig21_erdos.{suffix}" for suffix in ("pdf", "svg", "png", "csv")
    }
    rows = read_csv((tmp_path / "out" / "fig21_erdos.csv").read_text())
    found = {(row["artifact"], row["quantity"]): float(row["value"]) for row in rows}
    # 1 - h overlaps h most for steps of opposite phase: all of them, but for the border
    assert found["flat", "c5"] == pytest.approx(0.5)
    assert found["steps", "c5"] == pytest.approx(1.0)
    ink = np.asarray(Image.open(tmp_path / "out" / "fig21_erdos.png").convert("L")) < 250
    assert 0.01 < ink.mean() < 0.6


def test_other_outputs_give_another_picture(tmp_path: Path) -> None:
    pictures = []
    for name in ("flat", "steps"):
        pair = Pair(prepare("erdos"), [("a", Artifact([0.5] * 6)), ("b", Artifact(WAVES[name]))])
        with style.drawing():
            pictures.append(stored_pairs.draw(pair).pictures)
    assert pictures[0]["png"] != pictures[1]["png"]
    with style.drawing():
        assert stored_pairs.draw(pair).pictures == pictures[1]


@pytest.mark.slow
def test_the_initial_program_against_a_program(tmp_path: Path) -> None:
    program = tmp_path / "mine.py"
    program.write_text("def run_code():\n    return [0, 1, 3, 4, 7]\n")
    result = evoduet("figures", "--out", tmp_path / "out", "--only", "fig21", "--pair",
                     f"sums_diffs=initial,{program}")  # fmt: skip
    assert result.exit_code == 0, result.exception
    rows = read_csv((tmp_path / "out" / "fig21_sums_diffs.csv").read_text())
    assert {row["artifact"] for row in rows} == {"initial", "mine"}
    sizes = {row["artifact"]: row["value"] for row in rows if row["quantity"] == "set_size"}
    assert sizes["mine"] == "5"


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    flat = written(tmp_path, "flat", WAVES["flat"])
    bad = written(tmp_path, "bad", [2.0, 0.0])
    for pair, message in {
        "erdos": "write TASK=A,B",
        f"erdos={flat}": "write TASK=A,B",
        f"erdos={flat},{tmp_path / 'no.json'}": "is no file or run folder",
        f"erdos={flat},{tmp_path}": "holds no run",
        f"erdos={flat},{bad}": "bad is no valid artifact of mathematics/erdos: heights range",
    }.items():
        result = evoduet("figures", "--out", tmp_path / "out", "--only", "fig21", "--pair", pair)
        assert isinstance(result.exception, UsageProblem), (pair, result.exception)
        assert message in str(result.exception)
    result = evoduet("figures", "--out", tmp_path / "out", "--tasks", "cp26")
    assert "give --runs DIR" in str(result.exception)
    result = evoduet("figures", "--out", tmp_path / "out", "--only", "fig18")
    assert "give --pair TASK=A,B with TASK rosetta or voyager_2" in str(result.exception)
    assert not (tmp_path / "out").exists()


def test_labels_are_as_short_as_tells_them_apart() -> None:
    assert stored.labels(["initial", "/runs/a"]) == ["initial", "a"]
    assert stored.labels(["initial", "/tasks/initial.py"]) == ["initial", "initial.py"]
    assert stored.labels(["/x/best.json", "/y/best.json"]) == ["x/best.json", "y/best.json"]
    assert stored.labels(["/x/best.json", "/x/best.json"]) == ["/x/best.json"] * 2


def test_tasks_without_a_picture_of_two_are_drawn_in_two_panels() -> None:
    pair = Pair(
        prepare("ac1"), [("a", Artifact([1.0, 2.0, 3.0, 2.0])), ("b", Artifact([1.0, 1.0]))]
    )
    with style.drawing():
        drawn = stored_pairs.draw(pair)
    assert drawn.name == "pair_ac1"
    assert {row[0] for row in drawn.data[0].rows} == {"a", "b"}


def test_no_picture_is_said() -> None:
    wrong = Pair(prepare("erdos"), [("a", Artifact([])), ("b", Artifact([0.5]))])
    with pytest.raises(DataProblem, match="--pair erdos: a is no valid artifact"):
        stored_pairs.draw(wrong)


def test_the_best_program_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "journal.jsonl").write_text("")
    source = "def run_code():\n    return [0, 1, 3]\n"
    monkeypatch.setattr(
        "method.runs.best_program", lambda _: (source, {"task": "mathematics/sums_diffs"})
    )
    setup, found = stored.read_pair(f"sums_diffs={folder},initial", "search", None, "auto")
    assert [label for label, _ in found] == ["run", "initial"]
    assert named(setup, *found[0]).score.metrics["set_size"] == 3
    with pytest.raises(UsageProblem, match="is a run of mathematics/sums_diffs, not of"):
        stored.read_pair(f"erdos={folder},initial", "search", None, "auto")
