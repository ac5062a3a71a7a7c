"""One call of a candidate on one data set, in a sandbox that holds the training counts alone."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchmark.evaluator import Completed, Crashed, Failure, Invalid, OutOfMemory, Sandbox
from benchmark.sandbox import policy
from benchmark.sandbox.session import read_source
from tasks.scientific_algorithms.denoising.metric import Counts, Matrix

DRIVER = Path(__file__).with_name("inside.py")
ANSWER, FAILED = "denoised.npy", "failed.json"

_FAILURES: Mapping[str, type[Failure]] = {
    "invalid": Invalid,
    "out_of_memory": OutOfMemory,
    "raised": Crashed,
}


def denoise(
    program: Path, sandbox: Sandbox, train: Counts, *, wall_s: float | None = None
) -> Matrix:
    """What ``magic_denoise(train, random_state=42)`` returned; raises a :class:`Failure`.

    The matrix may still break the rules on shape and values: scoring checks them. It goes through
    files, because the largest data set is beyond what a call of the sandbox can carry.
    """
    completed = sandbox.run(
        [str(policy.visible().interpreter), "-B", DRIVER.name],
        stdin=_npz(train),
        files={DRIVER.name: DRIVER.read_bytes(), "candidate.py": read_source(program).encode()},
        outputs=[ANSWER, FAILED],
        wall_s=wall_s,
    )
    if FAILED in completed.outputs:
        raise _failure(completed.outputs[FAILED])
    if ANSWER not in completed.outputs:
        raise Crashed(_ending(completed))
    return read_array(completed.outputs[ANSWER])


def _npz(train: Counts) -> bytes:
    content = io.BytesIO()
    shape = np.array(train.shape)
    np.savez(content, data=train.data, indices=train.indices, indptr=train.indptr, shape=shape)
    return content.getvalue()


def _failure(content: bytes) -> Failure:
    """What the driver, or a candidate in its place, says about the failure."""
    try:
        report = json.loads(content[:4096])
        reason = str(report["reason"])[:400]
        printable = "".join(letter if letter.isprintable() else " " for letter in reason)
        return _FAILURES[report["status"]](printable)
    except (ValueError, KeyError, TypeError, RecursionError):
        return Invalid("the program wrote something else than its answer")


def _ending(completed: Completed) -> str:
    if completed.returncode < 0:
        return f"killed by signal {-completed.returncode} before it returned"
    return f"exited with status {completed.returncode} before it returned"


def read_array(content: bytes) -> Matrix:
    """The numeric array in an ``.npy`` file, without copying it; raises :class:`Invalid`."""
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)
        if version == (1, 0):
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
        else:
            shape, fortran, dtype = np.lib.format.read_array_header_2_0(stream)
        if dtype.kind not in "biuf":
            raise Invalid(f"the answer has dtype {dtype}; it must hold real numbers")
        if min(shape, default=0) < 0:
            raise ValueError("a negative number of entries")
        flat = np.frombuffer(content, dtype, math.prod(shape), stream.tell())
        return flat.reshape(shape, order="F" if fortran else "C")
    except (ValueError, TypeError, OverflowError):
        raise Invalid("the program wrote something else than its answer") from None
