"""The harness behind the engine's evaluator port (methods.md 2.7)."""

from __future__ import annotations

import asyncio
import hashlib
import math
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import Literal

from benchmark.evaluation import Evaluation, evaluate
from benchmark.evaluator import Setup
from benchmark.harness import Harness
from benchmark.provenance import evaluator_digest
from benchmark.task import SUFFIXES
from benchmark.verification.store import keep
from method.protocols import EvalResult

_STATUS: dict[str, Literal["ok", "invalid", "error", "timeout", "unavailable"]] = {
    "valid": "ok",
    "invalid": "invalid",
    "build_failed": "invalid",
    "crashed": "error",
    "out_of_memory": "error",
    "timeout": "timeout",
    "unavailable": "unavailable",
}


class HarnessEvaluator:
    """Evaluates programs of one task in the sandbox, each in a thread of its own."""

    def __init__(
        self,
        setup: Setup,
        harness: Harness,
        wall_s: float | None = None,
        artifacts: Path | None = None,
    ) -> None:
        """``wall_s`` replaces the task's limit of one evaluation at stage ``search``.

        Into the folder ``artifacts`` goes what each new best made, under its digest.
        """
        self._setup = setup
        self._harness = harness
        self._wall_s = wall_s
        self._artifacts = artifacts
        self._best = -math.inf
        self._keeping = Lock()
        options = sorted((name, str(value)) for name, value in setup.options.items())
        identity = f"{evaluator_digest(setup.task)}:{setup.variant}:{options}"
        if wall_s is not None:
            identity += f":{wall_s!r} s"
        self.version = hashlib.sha256(identity.encode()).hexdigest()[:16]
        self.held_out = setup.task.declared.held_out
        self.isolation = harness.isolation

    async def evaluate(self, code: str) -> EvalResult:
        """Evaluate at stage ``search``."""
        return await _in_thread(lambda: self._run(code, "search"))

    async def report(self, code: str) -> EvalResult:
        """Evaluate at stage ``report``."""
        return await _in_thread(lambda: self._run(code, "report"))

    def _run(self, code: str, stage: str) -> EvalResult:
        suffix = SUFFIXES[self._setup.task.declared.language]
        with tempfile.TemporaryDirectory(prefix="evoduet-run-") as folder:
            program = Path(folder) / f"candidate{suffix}"
            program.write_text(code, encoding="utf-8", errors="surrogatepass")
            options = {
                name: str(value) for name, value in self._setup.options.items() if value is not None
            }
            evaluation = evaluate(
                self._setup.task,
                program,
                stage,
                variant=self._setup.variant,
                options=options,
                wall_s=self._wall_s if stage == "search" else None,
                harness=self._harness,
            )
        if stage == "search":
            self._keep(evaluation)
        return _result(evaluation)

    def _keep(self, evaluation: Evaluation) -> None:
        artifact, search = evaluation.artifact, evaluation.search
        if self._artifacts is None or artifact is None or search is None or not evaluation.valid:
            return
        with self._keeping:
            if search > self._best:
                self._best = search
                keep(artifact, self._artifacts)


async def _in_thread(work: Callable[[], EvalResult]) -> EvalResult:
    """Do it in a thread that nobody waits for once the caller is cancelled.

    A run that is stopped must not last as long as its candidate may; the sandbox dies with us.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[EvalResult] = loop.create_future()

    def settle(value: EvalResult | BaseException) -> None:
        if future.done():
            return
        if isinstance(value, BaseException):
            future.set_exception(value)
        else:
            future.set_result(value)

    def run() -> None:
        value: EvalResult | BaseException
        try:
            value = work()
        except BaseException as error:
            value = error
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(settle, value)

    Thread(target=run, daemon=True, name="evaluation").start()
    return await future


def _result(evaluation: Evaluation) -> EvalResult:
    return EvalResult(
        status=_STATUS[evaluation.status],
        search_score=evaluation.search,
        objective=evaluation.objective,
        metrics=dict(evaluation.metrics),
        feedback=evaluation.feedback,
        attachments=dict(evaluation.attachments),
        reason=evaluation.reason,
        wall_s=evaluation.wall_s,
        cpu_s=evaluation.cpu_s,
        max_rss=evaluation.peak_mb,
        stdout_tail=evaluation.stdout_tail,
        stderr_tail=evaluation.stderr_tail,
        artifact_sha256=evaluation.artifact_sha256,
    )
