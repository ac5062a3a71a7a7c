"""Hostile programs that look for what they must not know, or keep what they must forget."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmark import evaluate
from benchmark.catalogue import find_task
from benchmark.harness import default_harness
from tasks.ai_foundations.scaling_law import ScalingLaw

Write = Callable[[str], Path]
MakeLaw = Callable[..., ScalingLaw]

# Looks for byte patterns in all memory that the process can read. A pattern is given backwards and
# compared byte by byte behind its first half, so that the search does not find itself.
SCANNER = """
from functools import cache
import numpy as np

@cache
def occurrences(backwards):
    first, rest = backwards[:3:-1], list(backwards[3::-1])
    found = 0
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            span, mode = line.split()[:2]
            start, end = (int(part, 16) for part in span.split("-"))
            if "rw" not in mode or end - start > 1 << 28:
                continue
            try:
                memory.seek(start)
                content = memory.read(end - start)
            except (OSError, ValueError, OverflowError):
                continue
            place = content.find(first)
            while place >= 0:
                behind = content[place + len(first):place + len(first) + len(rest)]
                found += list(behind) == rest
                place = content.find(first, place + 1)
    return found
"""


def backwards(pattern: bytes) -> bytes:
    return pattern[::-1]


def double(value: float) -> bytes:
    return struct.pack("<d", value)


def test_memory_of_the_processes_holds_no_secret(law: MakeLaw, write: Write) -> None:
    """Fitting knows no held-out row and no group; predicting knows no target at all."""
    evaluator = law("u_shape", "embedded", row_check="false")
    train, test = evaluator.table("train"), evaluator.table("test")
    group = "hindu_knowledge"
    secrets = [
        double(train[group].features[3, 0]),
        double(train[group].targets[3, 0]),
        double(test[group].features[5, 0]),
        double(test[group].targets[5, 0]),
        group.encode(),
    ]
    source = f"""{SCANNER}
SECRETS = {[backwards(secret) for secret in secrets]}
def fit_scaling_law(X, y):
    return [occurrences(secret) for secret in SECRETS]
def scaling_law_func(X, params):
    return [sum(10**i * (occurrences(secret) > 0) for i, secret in enumerate(SECRETS))] * len(X)
"""
    session = default_harness().session(find_task("u_shape").limits)
    program = write(source)
    params = evaluator.fit(program, session)
    for seen in params.values():
        features, targets, held_out_features, held_out_targets, names = (int(n) for n in seen)
        assert features > 0, "the scanner does not work"
        assert targets > 0
        assert (held_out_features, held_out_targets, names) == (0, 0, 0)
    answers = evaluator.predict(program, session, test, params)
    assert {int(value) for values in answers.values() for value in values.ravel()} == {100}


def test_files_of_the_benchmark_do_not_exist(law: MakeLaw, write: Write, mirror: Path) -> None:
    evaluator = law("parallel", "official", row_check="false")
    folder = Path(__file__).resolve().parents[3]
    table = mirror / "scaling_laws" / "parallel_test.csv"
    assert table.is_file()
    source = f"""
import os
NAMES = {{"parallel_test.csv", "test.csv", "task.toml", "anchors_reconciled.csv"}}
def fit_scaling_law(X, y):
    found = [0.0, 0.0, 0.0]
    for path in {[str(table), str(folder / "tasks"), str(folder / "benchmark")]!r}:
        found[0] += os.path.exists(path)
    for folder, folders, files in os.walk("/"):
        folders[:] = [name for name in folders if (folder, name) != ("/", "proc")]
        found[1] += sum(name in NAMES for name in files if "site-packages" not in folder)
    try:
        import tasks.ai_foundations.scaling_law
        found[2] = 1.0
    except ImportError:
        pass
    return found
def scaling_law_func(X, params):
    return [0.0] * len(X)
"""
    params = evaluator.fit(write(source), default_harness().session(find_task("parallel").limits))
    assert all(not seen.any() for seen in params.values())


STATE = """
import builtins, os, sys, tempfile
import numpy as np
PLACES = ["left.npy", "/tmp/left.npy", "/dev/shm/left.npy", "/var/tmp/left.npy",
          os.path.expanduser("~/left.npy"), os.path.join(tempfile.gettempdir(), "left.npy")]
KEPT = []
def fit_scaling_law(X, y):
    KEPT.append(y)
    builtins.left = y
    os.environ["LEFT"] = "y"
    sys.modules["left"] = builtins
    scaling_law_func.left = y
    for place in PLACES:
        try:
            np.save(place, y)
        except OSError:
            pass
    return [1.0]
def scaling_law_func(X, params):
    found = [bool(KEPT), hasattr(builtins, "left"), "LEFT" in os.environ, "left" in sys.modules,
             hasattr(scaling_law_func, "left"), *map(os.path.exists, PLACES)]
    return [float(sum(found))] * len(X)
"""


def test_nothing_survives_from_fitting_to_predicting(law: MakeLaw, write: Write) -> None:
    evaluator = law("parallel", "embedded")
    session = default_harness().session(find_task("parallel").limits)
    program = write(STATE)
    params = evaluator.fit(program, session)
    for split in ("train", "test"):
        answers = evaluator.predict(program, session, evaluator.table(split), params)
        assert all(not values.any() for values in answers.values())


REMEMBERED = """
import numpy as np
SEEN = {}
def fit_scaling_law(X, y):
    return [y.mean()]
def scaling_law_func(X, params):
    new = [row for row in X if row.tobytes() not in SEEN]
    if new:
        centre = np.mean(X[:, 0])
        SEEN.update({row.tobytes(): params[0] + 1e-3 * row[0] / centre for row in X})
    return np.array([SEEN[row.tobytes()] for row in X])
"""

PEEKED = """
import sys
import numpy as np
def fit_scaling_law(X, y):
    return [y.mean()]
def whole_request():
    frame = sys._getframe()
    while frame is not None:
        if "request" in frame.f_locals:
            return frame.f_locals["request"]["calls"]
        frame = frame.f_back
def scaling_law_func(X, params):
    rows = np.concatenate([arguments[0] for _, arguments in whole_request()])
    return params[0] + 1e-3 * X[:, 0] / rows[:, 0].mean()
"""

FIRST_CALLS = """
import numpy as np
CALLS = []
def fit_scaling_law(X, y):
    return [y.mean()]
def scaling_law_func(X, params):
    CALLS.append(len(X))
    return np.full(len(X), params[0] + 1e-6 * (max(CALLS) > 1))
"""


@pytest.mark.parametrize(
    "source", [REMEMBERED, PEEKED, FIRST_CALLS], ids=["remembered", "peeked", "first calls"]
)
def test_hidden_batch_statistics_are_found(source: str, write: Write) -> None:
    """A batch that is remembered, or read from the process, is not there in the second process."""
    for stage in ("search", "report"):
        evaluation = evaluate("parallel", write(source), stage, variant="embedded")
        assert evaluation.status == "invalid", stage
        assert "its own row" in evaluation.reason
        assert evaluation.search is None
        assert evaluation.objective is None


def test_arguments_changed_in_place_change_nothing(write: Write) -> None:
    honest = """
import numpy as np
def fit_scaling_law(X, y):
    return [y.mean(), 0.0]
def scaling_law_func(X, params):
    return np.full(len(X), params[0])
"""
    spoiling = honest.replace(
        "    return np.full(len(X), params[0])\n",
        "    value = np.full(len(X), params[0])\n    X[:], params[:] = 7, 9\n    return value\n",
    )
    scores = [
        evaluate("parallel", write(source), variant="embedded").search
        for source in (honest, spoiling)
    ]
    assert scores[0] is not None
    assert np.isclose(scores[0], scores[1])
