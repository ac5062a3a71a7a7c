"""Scoring in a second, limited process, for evaluators that feed artifacts to heavy libraries.

A parser, an ODE solver or a chemistry kit can hang or explode on what a candidate made up. The
process is trusted code, so it sees the machine as the harness does; only its time and memory are
bounded. Breaking those bounds makes the artifact invalid.
"""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import resource

from benchmark.artifact import Artifact
from benchmark.evaluator import Evaluator, Failure, Invalid, Score, Setup, Stage

SCORER_WALL_S = 60.0
SCORER_MEMORY_MB = 2048
_FRESH_MB = 512  # what a new interpreter with its libraries may map before it scores anything


def score_in_process(evaluator: Evaluator, artifact: Artifact, stage: Stage) -> Score:
    """``evaluator.score`` in a new process; raises what it raises, or :class:`Invalid`."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_score, args=(theirs, evaluator.setup, artifact, stage))
    process.start()
    theirs.close()
    try:
        if not ours.poll(SCORER_WALL_S):
            raise Invalid(f"scoring took more than {SCORER_WALL_S:g} s")
        answer = ours.recv()
    except EOFError:
        process.join()
        raise Invalid(
            f"scoring ended with status {process.exitcode} (limit {SCORER_MEMORY_MB} MB)"
        ) from None
    finally:
        process.kill()
        process.join()
        ours.close()
    if isinstance(answer, Score):
        return answer
    if isinstance(answer, Exception):
        raise answer
    raise TypeError(f"the scorer answered {type(answer).__name__}")


def _score(
    pipe: multiprocessing.connection.Connection,
    setup: Setup,
    artifact: Artifact,
    stage: Stage,
) -> None:
    from benchmark.evaluation import load_evaluator  # the cycle is broken in the child alone

    limit = (SCORER_MEMORY_MB + _FRESH_MB) << 20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        pipe.send(load_evaluator(setup).score(artifact, stage))
    except MemoryError:
        pipe.send(Invalid(f"scoring needs more than {SCORER_MEMORY_MB} MB"))
    except Failure as failure:
        pipe.send(failure)
    except Exception as error:
        pipe.send(RuntimeError(f"{type(error).__name__}: {error}"))
