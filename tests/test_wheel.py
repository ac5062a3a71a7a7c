"""The built wheel, installed into an environment of its own, has everything it needs."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from shared_data import REPOSITORY
from written_runs import WrittenRuns


@pytest.fixture(scope="module")
def evoduet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The console script of a fresh environment that holds the wheel.

    Its dependencies come from this environment through a ``.pth`` file: what is tested is that the
    wheel is whole, not that the index answers. (``.pth`` files of the added folder are not read, so
    the editable install of this checkout stays out of sight.)
    """
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder]
    subprocess.run([*build, REPOSITORY], check=True, capture_output=True)
    (wheel,) = folder.glob("evoduet-*.whl")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    python = folder / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, wheel], check=True, capture_output=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = folder / "venv" / "lib" / version / "site-packages"
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "venv" / "bin" / "evoduet"


def run(evoduet: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [evoduet, *arguments], cwd=cwd, capture_output=True, text=True, check=True
    )


@pytest.mark.slow
def test_tasks_are_package_data(evoduet: Path, tmp_path: Path) -> None:
    tasks = json.loads(run(evoduet, "tasks", "--json", cwd=tmp_path).stdout)["tasks"]
    assert "mathematics/cp26" in {task["task"] for task in tasks}
    shown = json.loads(run(evoduet, "show", "cp26", "--json", cwd=tmp_path).stdout)
    assert str(evoduet.parents[1]) in shown["initial_program"]
    assert len(shown["instructions"]) > 200


@pytest.mark.slow
def test_a_program_is_scored_and_sees_nothing_of_us(evoduet: Path, tmp_path: Path) -> None:
    spy = tmp_path / "spy.py"
    spy.write_text(SPY)
    answer = run(evoduet, "score", "cp26", str(spy), "--json", cwd=tmp_path)
    assert json.loads(answer.stdout)["stdout_tail"] == "found []\n"


@pytest.mark.slow
def test_a_task_with_tools_of_its_own_works(evoduet: Path, tmp_path: Path) -> None:
    """Its tools lie inside the hidden packages and must be visible all the same."""
    shown = json.loads(run(evoduet, "show", "mariner_10", "--json", cwd=tmp_path).stdout)
    answer = run(evoduet, "score", "mariner_10", shown["initial_program"], "--json", cwd=tmp_path)
    assert json.loads(answer.stdout)["status"] == "valid"


@pytest.mark.slow
def test_oracle_documents_are_package_data(evoduet: Path, tmp_path: Path) -> None:
    assert "title" in run(evoduet, "oracle", "cp26", "--json", cwd=tmp_path).stdout


@pytest.mark.slow
def test_tables_follow_from_the_published_numbers_in_the_wheel(
    evoduet: Path, tmp_path: Path
) -> None:
    out = tmp_path / "tables"
    answer = json.loads(run(evoduet, "tables", "--out", str(out), "--json", cwd=tmp_path).stdout)
    rows = {(row["model"], row["N"]): row for row in answer["figure_6a"]}
    assert rows["Gemini-3.8-Flash", 1]["evoduet"] == pytest.approx(82.3, abs=0.05)
    (data,) = evoduet.parents[1].glob("lib/*/site-packages/results/published")
    changed = tmp_path / "changed"
    shutil.copytree(data, changed)
    table = changed / "table4_oracle.csv"
    # one mean of Qwen's 31 tasks, 31 points higher: the overall mean rises by one
    table.write_text(table.read_text().replace("99.9,0.1,100.0,+50.1", "130.9,0.1,100.0,+50.1", 1))
    run(evoduet, "tables", "--data", str(changed), "--out", str(tmp_path / "other"), cwd=tmp_path)
    before, after = (
        float(next(row["oracle_mean"] for row in csv.DictReader(path.open())
                   if row["model"] == "Qwen3.5-9B"))
        for path in (out / "table4_overall.csv", tmp_path / "other" / "table4_overall.csv")
    )  # fmt: skip
    assert after - before == pytest.approx(1.0)


@pytest.mark.slow
def test_figures_and_own_runs_work_from_the_wheel(evoduet: Path, tmp_path: Path) -> None:
    WrittenRuns(tmp_path / "runs").run("a", [{}] * 100, task="mathematics/cp26",
                                       best={"ndg": 50.0, "ndg_raw": 50.0})  # fmt: skip
    run(evoduet, "tables", "--runs", "runs", "--out", "tables", cwd=tmp_path)
    assert "| some-model |" in (tmp_path / "tables" / "runs_table9.md").read_text()
    flat, steps = tmp_path / "flat.json", tmp_path / "steps.json"
    flat.write_text("[0.5, 0.5]")
    steps.write_text("[0, 1]")
    run(evoduet, "figures", "--out", "figures", "--only", "fig2", "fig21", "--pair",
        "erdos=flat.json,steps.json", cwd=tmp_path)  # fmt: skip
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert names > {"fig2.pdf", "fig21_erdos.svg", "fig21_erdos.csv"}


SPY = """\
import importlib
import os
import sys

found = []
for name in ("benchmark", "tasks", "evoduet"):
    try:
        importlib.import_module(name)
        found.append(name)
    except ImportError:
        pass
for folder in sys.path:
    for root, folders, files in os.walk(folder):
        if "task.toml" in files or "evaluator.py" in files and "mathematics" in root:
            found.append(root)
print("found", found)


def run_code():
    import numpy

    circles = numpy.zeros((26, 3))
    circles[:, :2] = 0.5
    return circles
"""
