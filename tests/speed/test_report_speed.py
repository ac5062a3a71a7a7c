"""The report of a study as large as the paper's: 82 runs of 100 iterations.

``python -m pytest tests/speed/test_report_speed.py -s`` prints sizes and times. Memory is asserted,
it does not depend on what else the machine does; time only with much room above the goal of 3 s.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from report_study import METHODS, TASKS, RunFolder
from shared_data import REPOSITORY

RUNS, ITERATIONS = 82, 100
BUDGET_MB, GOAL_S, ROOM = 512, 3.0, 5.0
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
CODE = """
import sys, time
from pathlib import Path
from analysis.report.build import write_report
began = time.perf_counter()
study = write_report([Path(sys.argv[1])], Path(sys.argv[2]), sys.argv[3])
# Not ru_maxrss, which starts with the memory of the process that forked this one.
status = Path("/proc/self/status").read_text()
peak = int(status.partition("VmHWM:")[2].split()[0]) // 1024
print(len(study.runs), study.iterations, study.detailed, peak, f"{time.perf_counter() - began:.1f}")
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs whose texts do not repeat much: what is unpacked must not look smaller than it is."""
    folder = tmp_path_factory.mktemp("study")
    draw = random.Random(1)
    texts = [draw.randbytes(150).hex() for _ in range(500)]
    for number in range(RUNS):
        RunFolder(
            folder / f"run-{number:02d}", task=TASKS[number % len(TASKS)], n=8, seed=number,
            method=METHODS[number // len(TASKS) % len(METHODS)], iterations=ITERATIONS,
            strings=texts,
        ).write()  # fmt: skip
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("details", ["improving", "all"])
def test_a_whole_study_opens_quickly(details: str, study: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    answer = subprocess.run(
        [sys.executable, "-c", CODE, str(study), str(out), details], check=True, text=True,
        capture_output=True, cwd=REPOSITORY,
    )  # fmt: skip
    runs, iterations, detailed, peak, seconds = answer.stdout.split()
    size = out.stat().st_size / 1e6
    print(f"\n--details {details}: {runs} runs, {iterations} iterations, {detailed} in full; "
          f"written in {seconds} s with {peak} MB, {size:.1f} MB of HTML")  # fmt: skip
    assert (int(runs), int(iterations)) == (RUNS, RUNS * ITERATIONS)
    assert int(peak) < BUDGET_MB
    times = opening_times(out)
    print("  " + ", ".join(f"{name} {spent:.2f} s" for name, spent in times.items()))
    assert max(times.values()) < GOAL_S * ROOM


def opening_times(path: Path) -> dict[str, float]:
    """Seconds until list, all of the file, a run and an iteration are there."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium on this machine (apt-get install chromium)")
    found = {}
    with playwright.sync_playwright() as api:
        browser = api.chromium.launch(executable_path=chromium, args=list(FLAGS))
        page = browser.new_page()
        began = time.perf_counter()
        page.goto(path.as_uri(), wait_until="commit")
        page.wait_for_selector("table[data-name=runs]")
        found["list"] = time.perf_counter() - began
        page.wait_for_load_state("load")
        found["file"] = time.perf_counter() - began
        for name, place, sign in (
            ("run", "#/run/run-07", "#timeline"),
            ("iteration", "#/run/run-07/50", "dialog[open]"),
        ):
            began = time.perf_counter()
            page.evaluate(f"location.hash = '{place}'")
            page.wait_for_selector(sign)
            found[name] = time.perf_counter() - began
        browser.close()
    return found
