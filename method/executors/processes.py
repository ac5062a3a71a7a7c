"""The parent's side of a worker process."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from method.executors.jobs import Job, Outcome

_TAIL = 300


class WorkerProcess:
    """A child in a process group of its own that does one job after another."""

    def __init__(self, cwd: Path | None = None) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(
            [sys.executable, "-m", "method.executors.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
            cwd=cwd,
            text=True,
            encoding="utf-8",
        )

    @property
    def pid(self) -> int:
        """Of the child, and of its process group."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can take another job."""
        return self._process.poll() is None

    def perform(self, job: Job) -> Outcome:
        """Have a job done and wait for it; a child that vanishes is an outcome, too."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(job.to_json()) + "\n")
            self._process.stdin.flush()
        return self.outcome(job)

    def outcome(self, job: Job) -> Outcome:
        """Wait for the answer to a job that was handed over."""
        assert self._process.stdout is not None
        answer = self._process.stdout.readline()
        if answer.endswith("\n"):
            return Outcome(**json.loads(answer))
        return Outcome(job.id, "interrupted", self._obituary(), host=platform.node(), lost=True)

    def _obituary(self) -> str:
        code = self._process.wait()
        how = f"ended with exit code {code}"
        if code < 0:
            with suppress(ValueError):
                how = f"was killed by {signal.Signals(-code).name}"
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _TAIL))
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"the worker {how}" + (f" ({lines[-1]})" if lines else "")

    def interrupt(self) -> None:
        """Ask it to stop what it does; a run journals and can be resumed."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """End it and what it started; whoever waits in :meth:`perform` then closes it."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Let an idle one leave; waits for it."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        self._process.wait()
        self._errors.close()
