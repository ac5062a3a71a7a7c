"""Tables, figures and statistics at the size of the paper's study.

``python -m pytest tests/speed/test_speed_analysis.py -s --benchmark-enable`` prints times; nothing
is asserted about time. Peak memory is asserted, it does not depend on what else the machine does.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from shared_data import REPOSITORY
from written_runs import WrittenRuns

from analysis.figures.build import choose, draw
from analysis.published import Published, default_folder
from analysis.tables.build import published_files

RUNS, ITERATIONS, BUDGET_MB = 362, 33_784, 2048
TASKS = ("cp26", "cp32", "hadamard29", "sums_diffs", "ac2", "lr_bsz")
METHODS = ("openevolve-native+none", "openevolve-native+evoduet", "topk+evoduet")


def big_step(draw_: random.Random, score: float | None, best: float) -> dict[str, Any]:
    """A trace record as large as a retrieval's: rounds, results, documents, eight candidates."""
    results = [
        {"doc_id": f"d{i}", "ref": f"evidence_{i}", "db_id": f"doc_{i:06d}", "host": "example.org",
         "url": f"https://example.org/{draw_.random()}", "rank": i, "is_new_in_run": True,
         "is_new_in_iteration": True, "has_raw": False}
        for i in range(5)
    ]  # fmt: skip
    query = {"slot": 0, "text": "a query of some words " * 4, "keywords": ["a", "b"],
             "valid": True, "executed": True, "duplicate_of": None}  # fmt: skip
    rounds = [{"r": r, "queries": [query], "searches": [{"query_slot": 0, "results": results}],
               "knowledge_after": "what is known by now " * 30} for r in range(3)]  # fmt: skip
    verdict = {"status": "ok", "search_score": 0.1, "objective": 0.1, "metrics": {"m": 1.0},
               "feedback": "a line", "wall_s": 1.0, "cpu_s": 1.0, "max_rss": 1}  # fmt: skip
    candidates = [{"attempt": 1, "slot": s, "parse": "ok", "code_sha256": "0" * 64,
                   "diff_summary": "Change 1: replaced 3 lines " * 5, "eval": verdict}
                  for s in range(8)]  # fmt: skip
    gate = {"kind": "knowledge", "decision": "retrieve", "executed": "retrieve",
            "malformed": False, "resolved_ids": [], "unresolved_ids": [],
            "knowledge": "the state of knowledge " * 30}  # fmt: skip
    return {"score": score, "best": best, "rounds": rounds, "candidates": candidates, "gate": gate}


def study(folder: Path) -> None:
    """362 runs with 33,784 iterations in all."""
    written = WrittenRuns(folder)
    for number in range(RUNS):
        draw_ = random.Random(number)
        length = ITERATIONS // RUNS + (number < ITERATIONS % RUNS)
        best, steps = 1.4, []
        for _ in range(length):
            better = draw_.random() < 0.1
            best += 0.02 * better
            steps.append(big_step(draw_, best if better else None, best))
        written.run(
            f"run{number}", steps, task=TASKS[number % 6], method=METHODS[number // 6 % 3], n=8,
            seed=number, best={"ndg": 100 * draw_.random(), "ndg_raw": 1.0, "reporting": best},
        )  # fmt: skip


CODE = """
import sys, time
from pathlib import Path
from analysis.published import Published, default_folder
from analysis.tables.build import run_files
began = time.perf_counter()
files, notes = run_files(Path(sys.argv[1]), Published(default_folder()))
rows = files["runs.csv"].count("\\n") - 1
# Not ru_maxrss, which starts with the memory of the process that forked this one.
status = Path("/proc/self/status").read_text()
peak = int(status.partition("VmHWM:")[2].split()[0]) // 1024
print(rows, len(notes), peak, f"{time.perf_counter() - began:.2f}")
"""


@pytest.mark.slow
def test_statistics_of_a_whole_study(tmp_path: Path) -> None:
    study(tmp_path)
    size = sum(path.stat().st_size for path in tmp_path.rglob("trace.jsonl")) / 1e6
    answer = subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path)], check=True, capture_output=True, text=True,
        cwd=REPOSITORY,
    )  # fmt: skip
    rows, notes, peak, seconds = answer.stdout.split()
    print(f"\n{rows} runs, {size:.0f} MB of traces: {seconds} s, {peak} MB")
    assert (int(rows), int(notes)) == (RUNS, 0)
    assert int(peak) < BUDGET_MB


def test_published_tables(benchmark: BenchmarkFixture) -> None:
    files: Mapping[str, str] = benchmark.pedantic(
        lambda: published_files(Published(default_folder())), rounds=1
    )
    assert "fig6a.csv" in files


def test_published_figures(benchmark: BenchmarkFixture) -> None:
    names = choose([], runs=False)
    drawn = benchmark.pedantic(
        lambda: list(draw(names, Published(default_folder()), None)), rounds=1
    )
    assert [figure.name for figure in drawn] == names
