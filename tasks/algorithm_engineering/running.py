"""Running a built contest program on many inputs, within the contest's limits.

Each case has a sandbox of its own. The verdict on time comes from the account that the kernel gives
the harness when the sandbox is over (``wait4``): CPU time of all its processes, from which the
harness has taken what the sandbox had used before the program could start. What the rest of the
start costs stays in (5 to 10 ms, measured) and is covered by ``TOLERANCE_S``.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from benchmark.evaluator import Completed, Crashed, Failure, OutOfMemory, Sandbox, TimedOut

TIME_LIMIT_S = 2.0
MEMORY_LIMIT_MB = 1024
TOLERANCE_S = 0.1
"""CPU time that a program may take beyond its limit, for the start of sandbox and program."""

MAX_FAILED_CASES = 10
"""The run's total is 0 after the first failure; after so many the other cases are not run."""

MAX_OUTPUT_MB = 200
"""Of all cases together: what an artifact can hold."""


@dataclass(frozen=True)
class Profile:
    """Limits of one case. ``shim``: the program's clocks show its CPU time."""

    cpu_s: float
    wall_s: float
    memory_mb: int | None
    exit_status_counts: bool
    shim: bool

    @classmethod
    def choose(cls, limits: str, clock: str) -> Profile:
        """``official``: the contest's limits. ``compat``: what the public reference enforces.

        Under the CPU clock the wall time says how busy the machine is, so its limit is generous.
        """
        shim = clock == "cpu"
        if limits == "compat":
            return cls(3.0, 60.0 if shim else 4.5, None, False, shim)
        wall_s = 60.0 if shim else 10.0
        return cls(TIME_LIMIT_S + TOLERANCE_S, wall_s, MEMORY_LIMIT_MB, True, shim)

    def workers(self, cores: int) -> int:
        """Cases at a time: under the real clock one core is left for everything else."""
        return cores if self.shim else max(1, cores - 1)


@dataclass(frozen=True)
class CaseRun:
    """What one case did, as the parent measured it. ``stdout`` is ``None`` when it failed.

    ``verdict``: ``OK`` (it answered), ``TLE``, ``MLE``, ``RE``, or ``--`` (not run).
    """

    seed: int
    verdict: str
    stdout: bytes | None = None
    reason: str = ""
    cpu_s: float = 0.0
    wall_s: float = 0.0
    peak_mb: float = 0.0

    def facts(self) -> dict[str, Any]:
        """Everything but the output."""
        return {name: value for name, value in asdict(self).items() if name != "stdout"}


@dataclass(frozen=True)
class Contestant:
    """A built program with what starts it: ``starter`` sets limits, ``shim`` is the CPU clock."""

    executable: Path
    starter: Path
    shim: Path | None

    def run(self, seed: int, stdin: bytes, sandbox: Sandbox, profile: Profile) -> CaseRun:
        """Run one case; raises nothing that the program is to blame for."""
        preload = [self.shim] if self.shim else []
        backstop_s = int(profile.cpu_s) + 1
        try:
            done = sandbox.run(
                [
                    str(self.starter),
                    str(backstop_s),
                    str(self.shim or ""),
                    str(self.executable),
                    str(TIME_LIMIT_S),
                ],
                stdin=stdin,
                visible=[self.starter, *preload, self.executable],
                cpu_s=profile.cpu_s,
                wall_s=profile.wall_s,
            )
        except (TimedOut, OutOfMemory, Crashed) as failure:
            return CaseRun(seed, _VERDICTS[type(failure)], reason=str(failure))
        verdict, reason = _judge(done, profile)
        return CaseRun(
            seed=seed,
            verdict=verdict,
            stdout=done.stdout if verdict == "OK" else None,
            reason=reason,
            cpu_s=done.cpu_s,
            wall_s=done.wall_s,
            peak_mb=done.peak_mb,
        )


_VERDICTS: dict[type[Failure], str] = {TimedOut: "TLE", OutOfMemory: "MLE", Crashed: "RE"}


def _judge(done: Completed, profile: Profile) -> tuple[str, str]:
    if done.cpu_s > profile.cpu_s:
        return "TLE", f"used more than {profile.cpu_s:g} s of CPU time"
    if profile.memory_mb is not None and done.peak_mb > profile.memory_mb:
        return "MLE", f"used more than {profile.memory_mb} MB"
    if profile.exit_status_counts and done.returncode:
        return "RE", _ending(done.returncode)
    return "OK", ""


def _ending(returncode: int) -> str:
    if returncode > 0:
        return f"exited with status {returncode}"
    try:
        return f"killed by {signal.Signals(-returncode).name}"
    except ValueError:
        return f"killed by signal {-returncode}"


def run_all(
    run: Callable[[int], CaseRun], seeds: Sequence[int], cores: Sequence[int]
) -> list[CaseRun]:
    """``run`` for each seed, one case at a time on each of ``cores``; results by seed order.

    Which cases are run does not depend on timing: those behind ``MAX_FAILED_CASES`` failures in the
    order of ``seeds`` are not. Raises what ``run`` raises, after the cases under way have ended.
    """
    failed = _Failures()
    free: SimpleQueue[int] = SimpleQueue()
    for core in cores:
        free.put(core)

    def attempt(index: int) -> CaseRun:
        if failed.before(index) >= MAX_FAILED_CASES:
            return _not_run(seeds[index])
        result = run(seeds[index])
        if result.stdout is None:
            failed.add(index)
        return result

    with ThreadPoolExecutor(len(cores), initializer=lambda: _pin(free.get())) as executor:
        futures = [executor.submit(attempt, index) for index in range(len(seeds))]
        try:
            results = [future.result() for future in futures]
        finally:
            for future in futures:
                future.cancel()
    return [
        _not_run(result.seed) if failed.before(index) >= MAX_FAILED_CASES else result
        for index, result in enumerate(results)
    ]


class _Failures:
    """Indices of failed cases, from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._indices: list[int] = []

    def add(self, index: int) -> None:
        with self._lock:
            self._indices.append(index)

    def before(self, index: int) -> int:
        with self._lock:
            return sum(failed < index for failed in self._indices)


def _not_run(seed: int) -> CaseRun:
    return CaseRun(seed, "--", reason=f"not run after {MAX_FAILED_CASES} failed cases")


def _pin(core: int) -> None:
    """Keep this thread, and the sandboxes that it starts, on one core."""
    try:
        os.sched_setaffinity(0, {core})
    except OSError:  # a machine that does not allow it: the scheduler will do
        pass
