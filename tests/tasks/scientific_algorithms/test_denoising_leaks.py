"""Hostile programs that look for the test counts, or attack the process that reads their answer."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmark import evaluate
from benchmark.catalogue import find_task
from benchmark.data import data_store
from benchmark.evaluator import Invalid
from benchmark.harness import default_harness
from tasks.scientific_algorithms.denoising import sandboxed
from tasks.scientific_algorithms.denoising.datasets import Dataset
from tasks.scientific_algorithms.denoising.sandboxed import read_array

Write = Callable[[str], Path]
Load = Callable[[str], Dataset]

SEARCHING = """
import os, socket, sys
import numpy as np
PATHS = {paths!r}
def magic_denoise(X, **kwargs):
    found = np.zeros_like(X)
    found[0, 0] = sum(map(os.path.exists, PATHS))
    names = ("sim_search", "pancreas", "scientific_algorithms", "tiny_a")
    for folder, folders, files in os.walk("/"):
        folders[:] = [name for name in folders if folder + name not in ("/proc", "/sys")]
        found[0, 1] += sum(name.split(".")[0] in names for name in files + folders)
    for name in ("tasks.scientific_algorithms.denoising.simulate", "benchmark"):
        try:
            __import__(name, fromlist=["x"]).__file__.upper()
            found[0, 2] += 1
        except (ImportError, AttributeError):
            pass
    try:
        socket.create_connection(("1.1.1.1", 53), timeout=1)
        found[0, 3] = 1
    except OSError:
        pass
    matrices = [value for module in list(sys.modules.values()) for value in vars(module).values()
                if isinstance(value, np.ndarray) and value.size > 1000]
    frame = sys._getframe()
    while frame is not None:
        matrices += [value for value in frame.f_locals.values()
                     if isinstance(value, np.ndarray) and value.size > 1000]
        frame = frame.f_back
    found[0, 4] = sum(not np.array_equal(value, X) for value in matrices if value is not found)
    return found
"""


def test_nothing_but_the_training_counts_is_there(write: Write, simulated: Load) -> None:
    dataset = simulated("sim_search")
    task = find_task("denoising")
    cached = data_store().path(task, "sim_search.npz")
    assert cached.is_file()
    paths = [str(cached), str(cached.parent), str(task.folder), str(Path(__file__))]
    program = write(SEARCHING.format(paths=paths))
    answer = sandboxed.denoise(program, default_harness().session(task.limits), dataset.train)
    assert answer.shape == dataset.train.shape
    assert answer[0, :5].tolist() == [0, 0, 0, 0, 0]


def test_input_is_exactly_the_training_matrix(write: Write, simulated: Load) -> None:
    dataset = simulated("sim_heldout_a")
    program = write("def magic_denoise(X, **kwargs):\n    return X\n")
    session = default_harness().session(find_task("denoising").limits)
    answer = sandboxed.denoise(program, session, dataset.train)
    assert answer.dtype == np.float64
    np.testing.assert_array_equal(answer, dataset.train.toarray())


class _Payload:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (exec, ("raise SystemError('executed')",))


def _forged(kind: str) -> bytes:
    buffer = io.BytesIO()
    if kind == "object array":
        np.save(buffer, np.array([_Payload()], dtype=object), allow_pickle=True)
    elif kind == "pickle":
        buffer.write(pickle.dumps(_Payload()))
    elif kind == "npz":
        np.savez(buffer, x=np.ones(3))
    elif kind == "huge":
        np.lib.format.write_array_header_1_0(
            buffer, {"descr": "<f8", "fortran_order": False, "shape": (1 << 40, 1 << 20)}
        )
    elif kind == "negative":
        np.lib.format.write_array_header_1_0(
            buffer, {"descr": "<f8", "fortran_order": False, "shape": (-2, 3)}
        )
        buffer.write(bytes(48))
    elif kind == "structured":
        np.save(buffer, np.zeros(3, dtype=[("a", "f8"), ("b", "i4")]))
    elif kind == "code in header":
        np.save(buffer, np.zeros(3))
        content = buffer.getvalue()
        return content.replace(b"'<f8'", b"exit()")
    elif kind == "deep header":
        header = b"(" * 60000
        return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    return buffer.getvalue()


FORGERIES = ["object array", "pickle", "npz", "huge", "negative", "structured", "code in header",
             "deep header", "empty"]  # fmt: skip


@pytest.mark.parametrize("kind", FORGERIES)
def test_forged_answers_are_refused_and_not_executed(kind: str) -> None:
    with pytest.raises(Invalid):
        read_array(_forged(kind))


@pytest.mark.parametrize("kind", ["object array", "npz", "empty"])
def test_forged_answers_from_a_program(kind: str, write: Write) -> None:
    source = f"""
import os
def magic_denoise(X, **kwargs):
    with open("denoised.npy", "wb") as file:
        file.write({_forged(kind)!r})
    os._exit(0)
"""
    evaluation = evaluate("denoising", write(source), variant="embedded")
    assert evaluation.status == "invalid", evaluation.reason


def test_forged_failures_say_nothing_wild(write: Write) -> None:
    source = """
import os
def magic_denoise(X, **kwargs):
    with open("failed.json", "w") as file:
        file.write('{{"status": {status}, "reason": "\\\\u001b[2J" }}')
    os._exit(0)
"""
    for status, expected in (('"raised"', "crashed"), ('"valid"', "invalid"), ("[]", "invalid")):
        evaluation = evaluate("denoising", write(source.format(status=status)), variant="embedded")
        assert evaluation.status == expected
        assert "\x1b" not in evaluation.reason


def test_children_end_with_the_time_limit(write: Write) -> None:
    source = """
import subprocess, sys, time
def magic_denoise(X, **kwargs):
    for _ in range(3):
        subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
    time.sleep(60)
"""
    evaluation = evaluate("denoising", write(source), variant="embedded", wall_s=3)
    assert evaluation.status == "timeout"
    assert evaluation.wall_s < 20


def test_memory_limit(write: Write) -> None:
    source = """
import numpy as np
def magic_denoise(X, **kwargs):
    kept = [np.ones(1 << 26) for _ in range(64)]
    return X
"""
    evaluation = evaluate("denoising", write(source), variant="embedded", memory_mb=1024)
    assert evaluation.status == "out_of_memory"
