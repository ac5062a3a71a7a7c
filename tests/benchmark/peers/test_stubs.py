"""The evaluator files, used as SimpleTES, OpenEvolve and SkyDiscover use them: loaded by path."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from toy_task import DECLARATION, write_toy_task

from benchmark.catalogue import find_task
from benchmark.peers.folder import SYSTEMS, contents, write

LOADER = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("evaluation_module", sys.argv[1])
module = importlib.util.module_from_spec(spec)
sys.modules["evaluation_module"] = module
spec.loader.exec_module(module)
json.dump([module.evaluate(path) for path in sys.argv[2:]], sys.stdout, allow_nan=False)
"""


def adapted(task: str | Path, system: str, out: Path) -> Path:
    write(contents(find_task(str(task)), SYSTEMS[system]), out)
    return out


def load_and_evaluate(stub: Path, programs: list[Path], cwd: Path) -> Any:
    """In another process and folder, with the interpreter's own search path."""
    command = [sys.executable, "-I", "-c", LOADER, str(stub), *map(str, programs)]
    answer = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    return json.loads(answer.stdout) if answer.returncode == 0 else answer.stderr


@pytest.mark.parametrize("system", ["openevolve", "skydiscover", "simpletes"])
def test_the_stub_works_in_any_process_and_folder(toy: Path, tmp_path: Path, system: str) -> None:
    out = adapted(toy, system, tmp_path / "out")
    bad = tmp_path / "bad.py"
    bad.write_text("def run_code(): return [7]\n")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    programs = [out / "initial_program.py", bad]
    good, failed = load_and_evaluate(out / "evaluator.py", programs, elsewhere)
    assert (good["combined_score"], good["validity"]) == (1.0, 1.0)
    assert failed == {
        "combined_score": 0.0,
        "validity": 0.0,
        "error": "invalid: a number lies outside [0, 1]",
    }


def test_simpletes_scores_a_real_task(tmp_path: Path) -> None:
    out = adapted("sums_diffs", "simpletes", tmp_path / "out")
    (told,) = load_and_evaluate(out / "evaluator.py", [out / "initial_program.py"], tmp_path)
    assert told["combined_score"] == pytest.approx(1.0597930945472454, abs=1e-12)
    assert repr(told["combined_score"]) in told["feedback"]


def test_what_is_missing_ends_the_run_when_the_stub_is_loaded(tmp_path: Path) -> None:
    declaration = 'requires = ["no_such_library"]\n' + DECLARATION
    place = write_toy_task(tmp_path, declaration=declaration)
    out = adapted(place, "simpletes", tmp_path / "out")
    complaint = load_and_evaluate(out / "evaluator.py", [], tmp_path)
    assert "toys/vector cannot be evaluated here: library no_such_library" in complaint


def test_without_evoduet_the_stub_says_what_to_install(toy: Path, tmp_path: Path) -> None:
    out = adapted(toy, "skydiscover", tmp_path / "out")
    command = [sys.executable, "-I", "-S", "-c", LOADER, str(out / "evaluator.py")]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert answer.returncode != 0
    assert "pip install evoduet" in answer.stderr
