"""Soak: thousands of evaluations in one run while its workers and its driver are being killed.

    python tests/faults/soak.py --evaluations 2000 --out results/soak.json

A model writes programs that are valid, invalid, crash, hang, use up their memory or end themselves,
each marked with what should become of it. They are evaluated in the real sandbox. Meanwhile this
process kills sandboxed processes and, with SIGKILL, the whole driver, which is then resumed. In the
end the journal is the account: every candidate has exactly one verdict, and the right one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
for _path in (HERE.parent, HERE.parent / "method", HERE.parents[1]):
    if str(_path) not in sys.path:
        sys.path.insert(0, str(_path))

from faults.soak_programs import KINDS, Author  # noqa: E402
from toy_task import DECLARATION, write_toy_task  # noqa: E402

from benchmark.sandbox.inside import tree  # noqa: E402
from method.journal import Event, JournalError, read_journal  # noqa: E402

CANDIDATES = 8
WALL_S = 2.0
MEMORY_MB = 256
PAUSE_S = 2.0
"""Mean time between two kills."""

DRIVERS = 0.1
"""So many of the kills, and the first, are of the driver, the others of a process below it."""

COUNTED = ("drivers_killed", "workers_killed", "harness_failures", "driver_starts",
           "processes_left", "idle_starters_left")  # fmt: skip
HARNESS_FAILED = 3
PATIENCE = 5
"""So many ends in a row without a new verdict mean that the run cannot go on."""


def drive(folder: Path, task: Path, iterations: int) -> None:
    """The process that is killed: start the run, or go on with it."""
    from method.engine import EvaluatorUnavailable
    from method.runs import Clients

    clients = Clients(model=Author())
    try:
        _run_or_resume(folder, task, iterations, clients)
    except EvaluatorUnavailable as failure:  # a sandbox was killed while it started
        print(failure, file=sys.stderr)
        sys.exit(HARNESS_FAILED)


def _run_or_resume(folder: Path, task: Path, iterations: int, clients: Any) -> None:
    from method.config import make_config
    from method.runs import resume, run

    if (folder / "journal.jsonl").exists() and (folder / "journal.jsonl").stat().st_size:
        resume(folder, clients=clients)
        return
    (folder / "journal.jsonl").unlink(missing_ok=True)
    config = make_config(
        None, task=str(task), method="none", model="offline/perturb", edit="full", workers=2,
        candidates=CANDIDATES, iterations=iterations, seed=1,
    )  # fmt: skip
    run(config, folder, clients=clients)


class Soak:
    """Supervises one run to its end; what happened is in ``counts``."""

    def __init__(self, folder: Path, evaluations: int, seed: int) -> None:
        self.run = folder / "run"
        declaration = re.sub(
            r"limits = .*",
            f"limits = {{ wall_s = {WALL_S}, memory_mb = {MEMORY_MB}, processes = 16 }}",
            DECLARATION,
        )
        self.task = write_toy_task(folder, declaration=declaration)
        self.iterations = -(-evaluations // CANDIDATES)
        self.counts: Counter[str] = Counter()
        self._draw = random.Random(seed)

    def to_the_end(self) -> float:
        """Seconds that it took. Raises ``RuntimeError`` when the run cannot go on."""
        started, fruitless = time.monotonic(), 0
        while True:
            known = self._verdicts()
            driver = self._start()
            code = self._disturb(driver)
            if code == 0:
                return time.monotonic() - started
            if code == HARNESS_FAILED:
                self.counts["harness_failures"] += 1
                fruitless = 0 if self._verdicts() > known else fruitless + 1
            if code not in (-signal.SIGKILL, HARNESS_FAILED) or fruitless == PATIENCE:
                said = driver.stderr.read().decode() if driver.stderr else ""
                raise RuntimeError(f"the driver ended with {code}: {said[-2000:]}")

    def _verdicts(self) -> int:
        """How far the run is."""
        journal = self.run / "journal.jsonl"
        return journal.read_bytes().count(b'"event":"evaluation"') if journal.exists() else 0

    def _start(self) -> subprocess.Popen[bytes]:
        self.counts["driver_starts"] += 1
        words = [sys.executable, __file__, "--drive", self.run, self.task, self.iterations]
        return subprocess.Popen([str(word) for word in words], stderr=subprocess.PIPE)

    def _disturb(self, driver: subprocess.Popen[bytes]) -> int:
        """Kill workers, at last perhaps the driver; its exit code."""
        while True:
            try:
                return driver.wait(self._draw.expovariate(1 / PAUSE_S))
            except subprocess.TimeoutExpired:
                pass
            below = {pid: _started(pid) for pid in tree.descendants(driver.pid)}
            if not self.counts["drivers_killed"] or self._draw.random() < DRIVERS:
                driver.kill()
                self.counts["drivers_killed"] += 1
                code = driver.wait()
                self._count_left(below)
                return code
            if below:
                try:
                    os.kill(self._draw.choice(list(below)), signal.SIGKILL)
                    self.counts["workers_killed"] += 1
                except ProcessLookupError:
                    pass

    def _count_left(self, below: Mapping[int, str]) -> None:
        """A starter that was about to build a sandbox may wait for ever; it has started nothing."""
        for pid in _left(below):
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
            waits = b"bwrap" in command and not list(tree.descendants(pid))
            self.counts["idle_starters_left" if waits else "processes_left"] += 1
            os.kill(pid, signal.SIGKILL)


def _left(processes: Mapping[int, str], patience_s: float = 20.0) -> list[int]:
    """Those of these processes that outlive their driver; another may get the number of one."""
    deadline = time.monotonic() + patience_s
    while True:
        alive = [pid for pid, started in processes.items() if started and _started(pid) == started]
        if not alive or time.monotonic() > deadline:
            return alive
        time.sleep(0.05)


def _started(pid: int) -> str:
    """When a process began, as the kernel counts; empty for one that is gone or a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else fields[19]


def account(run: Path, iterations: int) -> dict[str, Any]:
    """What the journal of a finished run says: lost, duplicated and wrong verdicts must be 0."""
    events = read_journal(run)
    judged = [event for event in events if event.name == "evaluation"]
    verdicts = [e for e in judged if e.data["result"]["status"] != "unavailable"]
    places = Counter(tuple(event.data["key"][:3]) for event in verdicts)
    wanted = set(_candidates(events))
    outcomes: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    struck, wrong = 0, []
    for event in verdicts:
        kind = _kind(run, event)
        status, reason = event.data["result"]["status"], event.data["result"]["reason"]
        kinds[kind] += 1
        outcomes[status] += 1
        if kind in KINDS and status not in KINDS[kind][2].split():
            if status == "error" and "SIGKILL" in reason:
                struck += 1
            else:
                wrong.append(f"{kind}: {status}, {reason}")
    done = sum(event.name == "iteration_done" for event in events)
    return {
        "evaluations": len(verdicts),
        "lost": len(wanted - places.keys()) + (iterations - done),
        "duplicated": sum(count - 1 for count in places.values()),
        "wrong": len(wrong),
        "wrong_verdicts": wrong[:20],
        "killed_from_outside": struck,
        "evaluated_again_after_a_kill": sum(event.data["reruns"] for event in verdicts),
        "programs": dict(sorted(kinds.items())),
        "verdicts": dict(sorted(outcomes.items())),
        "finished": events[-1].name == "run_finished",
    }


def _candidates(events: Iterable[Event]) -> Iterable[tuple[int, int, int]]:
    """Where the run drew a program that it had to evaluate."""
    yield (0, 0, 0)
    for event in events:
        if event.name == "iteration_done":
            for candidate in event.data["candidates"]:
                if candidate["parse"] == "ok":
                    yield (event.data["t"], candidate["attempt"], candidate["slot"])


def _kind(run: Path, event: Event) -> str:
    name = event.data["key"][3]
    code = (run / "blobs" / name[:2] / name).read_text()
    found = re.match(r"# kind: (\w+)", code)
    return found.group(1) if found else "initial"


def soak(folder: Path, evaluations: int, seed: int = 1) -> dict[str, Any]:
    """Run everything in ``folder``; the figures."""
    made = Soak(folder, evaluations, seed)
    seconds = made.to_the_end()
    told = account(made.run, made.iterations)
    return {
        **told,
        **{name: made.counts[name] for name in COUNTED},
        "seconds": round(seconds, 1),
        "evaluations_per_s": round(told["evaluations"] / seconds, 2),
        "replay_identical": _replays(made.run),
    }


def _replays(run: Path) -> bool:
    from method.ports import Divergence, Incomplete
    from method.runs import replay

    try:
        replay(run)
    except (Divergence, Incomplete, JournalError):
        return False
    return True


def main() -> int:
    if sys.argv[1:2] == ["--drive"]:
        drive(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
        return 0
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--evaluations", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("results/soak.json"))
    given = parser.parse_args()
    from benchmark import provenance

    with tempfile.TemporaryDirectory(prefix="evoduet-soak-") as folder:
        figures = soak(Path(folder), given.evaluations, given.seed)
    figures |= {"machine": provenance.machine(), "versions": provenance.versions()}
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures, indent=1))
    good = not (figures["lost"] or figures["duplicated"] or figures["wrong"])
    return 0 if good and figures["replay_identical"] else 1


if __name__ == "__main__":
    sys.exit(main())
