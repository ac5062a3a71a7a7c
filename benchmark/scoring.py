"""Scoring in a second, limited process, for evaluators that feed artifacts to heavy libraries.

A parser, an ODE solver or a chemistry kit can hang or explode on what a candidate made up. The
process runs trusted code on plain data, so it sees the machine as the harness does; only its time
and memory are bounded. It says when it is ready to score: breaking a bound after that makes the
artifact invalid, failing before it is the machine's fault.
"""

from __future__ import annotations

import os
import pickle
import resource
import select
import subprocess
import sys
import tempfile
import time

from benchmark.artifact import Artifact
from benchmark.evaluator import Evaluator, Failure, Invalid, Score, Setup, Stage

SCORER_WALL_S = 60.0
SCORER_MEMORY_MB = 2048
START_PATIENCE_S = 60.0
_READY = b"r"


def score_in_process(evaluator: Evaluator, artifact: Artifact, stage: Stage) -> Score:
    """``evaluator.score`` in a new process; raises what it raises, or :class:`Invalid`.

    Raises ``RuntimeError`` when the process fails before it starts to score.
    """
    # Pickles pass between two trusted processes of ours; the artifact in them is plain data.
    request = pickle.dumps((evaluator.setup, artifact, stage))
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stderr:
        stdin.write(request)
        stdin.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmark.scoring"],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,
        )
        try:
            if _read(process, 1, START_PATIENCE_S) != _READY:
                stderr.seek(0)
                said = stderr.read().decode(errors="replace").strip().splitlines()
                raise RuntimeError(f"the scorer does not start: {said[-1] if said else '?'}")
            return _verdict(_read(process, None, SCORER_WALL_S))
        finally:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


def _read(process: subprocess.Popen[bytes], size: int | None, patience_s: float) -> bytes | None:
    """``size`` bytes of the scorer's stdout, or all of it; ``None`` when it takes too long."""
    assert process.stdout is not None
    fd, content = process.stdout.fileno(), b""
    deadline = time.monotonic() + patience_s
    while size is None or len(content) < size:
        ready, _, _ = select.select([fd], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return None
        part = os.read(fd, 1 << 16 if size is None else size - len(content))
        if not part:
            break
        content += part
    return content


def _verdict(answer: bytes | None) -> Score:
    if answer is None:
        raise Invalid(f"scoring took more than {SCORER_WALL_S:g} s")
    if not answer:
        raise Invalid(f"scoring broke its process (limit {SCORER_MEMORY_MB} MB)")
    verdict = pickle.loads(answer)
    if isinstance(verdict, Score):
        return verdict
    raise verdict


def _serve() -> None:
    """Read one request from stdin, score it, write the answer to stdout."""
    from benchmark.evaluation import load_evaluator

    setup, artifact, stage = _request(sys.stdin.buffer.read())
    evaluator = load_evaluator(setup)
    out = os.dup(1)
    os.dup2(2, 1)  # what libraries print must not mix with the answer
    limit = (SCORER_MEMORY_MB << 20) + _mapped_bytes()
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    os.write(out, _READY)
    answer: Score | Exception
    try:
        answer = evaluator.score(artifact, stage)
    except MemoryError:
        answer = Invalid(f"scoring needs more than {SCORER_MEMORY_MB} MB")
    except Failure as failure:
        answer = failure
    except Exception as error:
        answer = RuntimeError(f"{type(error).__name__}: {error}")
    with os.fdopen(out, "wb") as file:
        file.write(pickle.dumps(answer))


def _request(content: bytes) -> tuple[Setup, Artifact, Stage]:
    setup, artifact, stage = pickle.loads(content)
    return setup, artifact, stage


def _mapped_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


if __name__ == "__main__":
    _serve()
