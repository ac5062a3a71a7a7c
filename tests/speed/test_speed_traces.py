"""Behaviour from traces at the size of the paper's study: 362 runs, 33,784 iterations.

``python -m pytest tests/speed/test_speed_traces.py -s`` prints the time, and its ratio to reading
the same JSON lines and nothing more; nothing is asserted about time but that ratio. Peak memory is
asserted, it does not depend on what else the machine does.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from shared_data import REPOSITORY
from synthetic_traces import Made, SyntheticRuns, candidate, page, query, round_of, slot

RUNS, ITERATIONS, BUDGET_MB, RATIO = 362, 33_784, 2048, 12.0
MODELS = ("Luna", "Gemini", "Qwen")
TASKS = (
    "quantum_compilation/swap_reduction", "astrodynamics/rosetta", "mathematics/cp26",
    "scientific_algorithms/denoising", "ai_foundations/parallel", "algorithm_engineering/ahc039",
)  # fmt: skip
HOSTS = ("github.com", "arxiv.org", "www.nature.com", "docs.python.org", "stackoverflow.com",
         *(f"site{i}.example.org" for i in range(60)))  # fmt: skip


def slots_of(number: int, length: int, n: int) -> Iterator[Made | None]:
    """Iterations of a run with everything in them that figures count."""
    draw = random.Random(number)
    known: dict[str, int] = {}
    best = parent = 0.5
    for t in range(1, length + 1):
        chance = draw.random()
        if chance < 0.03:
            yield None
            continue
        decision = (
            "no-op" if chance < 0.35 else "look-up" if chance < 0.55 and known else "retrieve"
        )
        if chance > 0.98:
            decision = "missing"
        documents, rounds, knowledge = [], [], "what is known " * 20
        if decision == "retrieve":
            found = [f"https://{draw.choice(HOSTS)}/page/{int(draw.expovariate(0.02))}"
                     for _ in range(15)]  # fmt: skip
            kept = sorted(draw.sample(range(15), 3))
            documents = [page(str(hash_of(found[i])), url=found[i],
                              predicted=parent + draw.gauss(0.01, 0.03)) for i in kept]  # fmt: skip
            known |= {d["db_id"][4:]: known.get(d["db_id"][4:], t) for d in documents}
            words = "最適化 ヒューリスティック" if draw.random() < 0.004 else "a heuristic for it"
            rounds = [round_of([query(f"{words} {t} {r}")], found[5 * r : 5 * r + 5], r=r + 1,
                               knowledge_after=knowledge) for r in range(3)]  # fmt: skip
        elif decision == "look-up":
            names = draw.sample(sorted(known), min(2, len(known)))
            documents = [page(name, first_t=known[name]) for name in names]
        child = None
        if draw.random() > 0.1:
            aim = max((d["predicted"] for d in documents if d["predicted"]), default=parent)
            child = round((parent + aim) / 2 + draw.gauss(0, 0.02), 3)
        reached = draw.random() < 0.8
        samples = [candidate(child, slot=0)] if child is not None else [
            candidate(status="invalid" if reached else None, parse="ok" if reached else "no_change",
                      attempt=a) for a in (1, 2, 3)]  # fmt: skip
        samples += [candidate(status="invalid", slot=s) for s in range(1, n)]
        yield slot(
            decision, parent=parent, parent_t=0, child=child, documents=documents, rounds=rounds,
            candidates=samples, unresolved=["doc_none"] if draw.random() < 0.01 else (),
            errors=["retrieval_error: down"] if draw.random() < 0.005 else (),
        )  # fmt: skip
        best = max(best, child or best)
        parent = draw.choice((best, round(best - 0.02, 3), 0.5))


def hash_of(text: str) -> int:
    """The same number for a text in every process."""
    return random.Random(text).randrange(10**6)


def study(folder: Path, runs: int = RUNS, iterations: int = ITERATIONS) -> None:
    """So many runs with so many iterations in all."""
    written = SyntheticRuns(folder)
    for number in range(runs):
        length = iterations // runs + (number < iterations % runs)
        n = (1, 8)[number % 2]
        written.run(
            f"run{number:03}", list(slots_of(number, length, n)), task=TASKS[number // 6 % 6],
            model=MODELS[number // 2 % 3], n=n, seed=number, blobs=False,
        )  # fmt: skip


CODE = """
import json, sys, time
from pathlib import Path
from analysis.behaviour.files import behaviour_files
from analysis.reading import read_traces
from analysis.runs import read_study
folder = Path(sys.argv[1])
began = time.process_time()
for path in folder.rglob("trace.jsonl"):
    with path.open("rb") as file:
        for line in file:
            json.loads(line)
reference = time.process_time() - began
began = time.process_time()
reading = read_traces(read_study(folder))
files = behaviour_files(reading.runs)
spent = time.process_time() - began
# Not ru_maxrss, which starts with the memory of the process that forked this one.
status = Path("/proc/self/status").read_text()
peak = int(status.partition("VmHWM:")[2].split()[0]) // 1024
slots = sum(len(run.iterations) for run in reading.runs)
print(len(reading.runs), slots, len(reading.notes), len(files), peak, spent, reference)
"""


@pytest.mark.slow
def test_behaviour_of_a_whole_study(tmp_path: Path) -> None:
    study(tmp_path)
    size = sum(path.stat().st_size for path in tmp_path.rglob("trace.jsonl")) / 1e6
    answer = subprocess.run(
        [sys.executable, "-c", CODE, str(tmp_path)], check=True, capture_output=True, text=True,
        cwd=REPOSITORY,
    )  # fmt: skip
    runs, slots, notes, files, peak, spent, reference = map(float, answer.stdout.split())
    print(f"\n{runs:.0f} runs, {slots:.0f} records, {size:.0f} MB: {spent:.1f} s, {peak:.0f} MB, "
          f"{spent / reference:.2f} of parsing alone ({reference:.1f} s)")  # fmt: skip
    assert (runs, notes) == (RUNS, 0)
    assert 0.95 * ITERATIONS < slots < ITERATIONS
    assert files > 20
    assert peak < BUDGET_MB
    assert spent < RATIO * reference
