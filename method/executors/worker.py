"""A child process that does jobs: ``python -m method.executors.worker``.

One line of JSON on stdin is a job, one on stdout its outcome. The open stdin is also the lifeline:
when it ends, however the parent ended, a run is interrupted as by SIGTERM (calls in flight are
finished and journalled) and the process leaves.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import time
from typing import IO

from method.executors.cores import claimed
from method.executors.jobs import Job, Outcome
from method.executors.work import work
from method.runs import GRACE_S


class Lifeline:
    """Reads jobs from the parent; ``busy`` is true while one is being done."""

    def __init__(self, source: IO[str]) -> None:
        self.jobs: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.busy = False
        self._source = source
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._source:
            self.jobs.put(line)
        self.jobs.put(None)
        if self.busy:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(GRACE_S + 5)
            os.kill(os.getpid(), signal.SIGKILL)  # its sandboxes die with it


def main() -> None:
    """Do jobs until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no answer
    lifeline = Lifeline(sys.stdin)
    for line in iter(lifeline.jobs.get, None):
        lifeline.busy = True
        # Until a run installs its own handler, and for evaluations, SIGTERM unwinds.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        outcome = _do(Job.from_json(json.loads(line)))
        lifeline.busy = False
        answers.write(json.dumps(outcome.to_json(), ensure_ascii=True, allow_nan=False) + "\n")
        answers.flush()


def _do(job: Job) -> Outcome:
    with claimed(job.resources.cores):
        return work(job)


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(75)
