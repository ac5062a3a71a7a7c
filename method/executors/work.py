"""Doing one job in this process: the same for every executor.

The ``spec`` of a run: ``config`` (fields of :class:`~method.config.RunConfig`) and ``folder``.
A folder that holds a journal is resumed, so that a job can be given out again at any time. That of
an evaluation: ``task``, ``program`` (its text), ``suffix``, and the arguments ``stage``,
``variant``, ``options``, ``repeats`` and ``isolation`` of :func:`benchmark.evaluate`.
"""

from __future__ import annotations

import platform
import tempfile
import traceback
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from benchmark.evaluation import evaluate
from benchmark.evaluator import Unavailable
from benchmark.harness import Harness
from benchmark.sandbox.jail import SandboxBroken
from method.config import ConfigProblem, MissingProblem, RunConfig
from method.engine import EvaluatorUnavailable, InvalidSeed, Stopped
from method.executors.jobs import Job, Outcome, State
from method.journal import FILE_NAME, JournalError, read_journal
from method.ports import Paused
from method.preflight import PreflightProblem
from method.runs import RunResult, resume, run
from method.summary import summarise

LOCK_WAIT_S = 60.0
"""How long a run's last writer may take to let go: its grace period, and some."""
_TEXT = 4000


def work(job: Job) -> Outcome:
    """Do a job; every way to end is an outcome. ``KeyboardInterrupt`` is one, too."""
    try:
        return _run(job) if job.kind == "run" else _evaluate(job)
    except KeyboardInterrupt:
        return _outcome(job, "interrupted", "stopped on request")


def _run(job: Job) -> Outcome:
    folder = Path(job.spec["folder"])
    try:
        result = _start_or_resume(job, folder)
    except Exception as error:
        return _outcome(job, *_verdict(error), {**numbers(folder), **_trace_of(error)})
    state: State = "budget" if result.status == "budget" else "done"
    return _outcome(job, state, "", _numbers(result.summary))


def _start_or_resume(job: Job, folder: Path) -> RunResult:
    _wait_for_last_writer(folder)
    if (folder / FILE_NAME).exists() and read_journal(folder):
        return resume(folder)
    return run(RunConfig.model_validate(job.spec["config"]), folder)


def _wait_for_last_writer(folder: Path) -> None:
    """A driver that was killed leaves runs that finish their calls in flight first."""
    if not folder.is_dir():
        return
    try:
        with FileLock(folder / ".lock", timeout=LOCK_WAIT_S):
            pass
    except Timeout:
        raise Stopped(f"{folder}: another process writes this run") from None


def _verdict(error: Exception) -> tuple[State, str]:
    text = f"{error}"[:_TEXT]
    if isinstance(error, Paused | Stopped):
        return "interrupted", text
    if isinstance(error, PreflightProblem):
        return ("blocked" if error.waiting else "failed"), text
    if isinstance(error, Unavailable | SandboxBroken | EvaluatorUnavailable):
        return ("failed" if text.startswith("infrastructure") else "blocked"), text
    if isinstance(error, MissingProblem):
        return "blocked", text
    if isinstance(error, InvalidSeed | ConfigProblem | JournalError):
        return "failed", text
    return "failed", f"{type(error).__name__}: {text}"


def _trace_of(error: Exception) -> dict[str, str]:
    known = (Paused, Stopped, ConfigProblem, Unavailable, EvaluatorUnavailable, InvalidSeed)
    if isinstance(error, known):
        return {}
    return {"traceback": "".join(traceback.format_exception(error))[-_TEXT:]}


def numbers(folder: Path) -> dict[str, Any]:
    """What a run has reached and cost so far; empty when it has not begun."""
    with suppress(JournalError, OSError):
        return _numbers(summarise(folder))
    return {}


def _numbers(summary: Mapping[str, Any]) -> dict[str, Any]:
    names = ("status", "T", "done", "best", "ndg", "cost_usd", "unpriced_calls")
    return {name: summary[name] for name in names}


def _evaluate(job: Job) -> Outcome:
    spec = job.spec
    with tempfile.TemporaryDirectory(prefix="evoduet-job-") as folder:
        program = Path(folder) / f"{spec['name']}{spec['suffix']}"
        program.write_text(spec["program"], encoding="utf-8", errors="surrogateescape")
        try:
            evaluation = evaluate(
                spec["task"], program, spec["stage"], variant=spec["variant"],
                options=spec["options"], repeats=spec["repeats"],
                harness=_harness(spec["isolation"], job.resources.cores),
            )  # fmt: skip
        except Exception as error:
            return _outcome(job, *_verdict(error), _trace_of(error))
    record = evaluation.to_json() | {"program": spec["path"]}
    if evaluation.status != "unavailable":
        return _outcome(job, "done", "", record)
    broken = evaluation.reason.startswith("infrastructure")
    return _outcome(job, "failed" if broken else "blocked", evaluation.reason, record)


@cache
def _harness(isolation: str, cores: int) -> Harness:
    """One for each size of jobs; made within a claim, so that it counts the job's own cores."""
    return Harness(isolation)


def _outcome(
    job: Job, state: State, reason: str = "", data: Mapping[str, Any] | None = None
) -> Outcome:
    return Outcome(job.id, state, reason, data or {}, platform.node())
