"""Every kind of task under attack: a hostile beginning is put before an honest program.

The programs are those of real tasks: a construction, a solver of a payload, fitted functions, a
denoiser, a tour, a router. What spies and leaves things changes nothing about the verdict; what
forges gains nothing.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
from hostile import HERE, SET_SUBREAPER, TOKEN, nothing_left

from benchmark import Evaluation, evaluate
from benchmark.catalogue import find_task
from benchmark.harness import Harness
from benchmark.sandbox.inside import landlock
from benchmark.sandbox.jail import SandboxBroken

PRELUDES = HERE / "preludes"

DENOISER = """\
import numpy as np


def magic_denoise(X, random_state=42, **options):
    counts = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=float)
    totals = counts.sum(axis=1, keepdims=True)
    profile = counts.sum(axis=0, keepdims=True) / counts.sum()
    return 0.5 * counts + 0.5 * totals * profile
"""

SOLVER_OF_LAWS = """\
import numpy as np


def scaling_law_func(data_points, params):
    rows = np.atleast_2d(np.asarray(data_points, dtype=float))
    return np.full(len(rows), float(np.ravel(params)[0]))


def fit_scaling_law(data_points, loss_values):
    return np.array([float(np.mean(loss_values))])
"""


@dataclass(frozen=True)
class Kind:
    """A task, how it is evaluated, and an honest program if the initial one takes too long."""

    task: str
    stage: str = "search"
    variant: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    program: str | None = None
    file: str | None = None

    @property
    def text(self) -> str:
        """The honest program."""
        task = find_task(self.task)
        if self.program is not None:
            return self.program
        path = task.folder / self.file if self.file else task.initial_program
        return path.read_text(encoding="utf-8")


KINDS = {
    "construction": Kind("cp26"),
    "payload": Kind("labs_27"),
    "functions": Kind("u_shape", "both", "embedded", {"row_check": "false"}, SOLVER_OF_LAWS),
    "denoiser": Kind("denoising", "search", "embedded", {}, DENOISER),
    "tour": Kind("cassini"),
    "router": Kind("swap_reduction", "search", "embedded", {"trials": "1x1"}, None, "initial.py"),
}


@pytest.fixture(scope="module", params=["bubblewrap", "process"])
def harness(request: pytest.FixtureRequest) -> Iterator[Harness]:
    if request.param == "process" and not landlock.abi():
        pytest.skip("not promised without namespaces and without Landlock")
    try:
        made = Harness(request.param)
    except SandboxBroken as reason:
        pytest.skip(str(reason))
    ctypes.CDLL(None).prctl(SET_SUBREAPER, 1, 0, 0, 0)
    with made:
        yield made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which another candidate and a secret lie about; a key is in the environment."""
    (tmp_path / "other_candidate.py").write_text(f"# {TOKEN}\nBEST = 1\n")
    (tmp_path / "task.toml").write_text(f'secret = "{TOKEN}"\n')
    monkeypatch.setenv("EVODUET_TEST_API_KEY", TOKEN)
    return tmp_path


def judged(kind: Kind, text: str, folder: Path, harness: Harness) -> Evaluation:
    program = folder / "candidate.py"
    program.write_text(text)
    return evaluate(
        kind.task, program, kind.stage, variant=kind.variant, options=kind.options, harness=harness
    )


@cache
def honest(name: str, isolation: str) -> Evaluation:
    """The verdict on the honest program, made once."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder, Harness(isolation) as harness:
        result = judged(KINDS[name], KINDS[name].text, Path(folder), harness)
    assert result.valid, result.reason
    return result


def behind(prelude: str, kind: Kind) -> str:
    """A prelude before a program; its docstring stays first."""
    return (PRELUDES / f"{prelude}.py").read_text() + "\n\n" + kind.text


def level(harness: Harness) -> str:
    return harness.isolation.partition("+")[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_spying_finds_nothing_and_leaves_nothing(name: str, folder: Path, harness: Harness) -> None:
    kind = KINDS[name]
    expected = honest(name, level(harness))
    with nothing_left(folder):
        result = judged(kind, behind("spying", kind), folder, harness)
    assert result.status == "valid", (result.reason, result.stderr_tail)
    assert result.search == expected.search
    assert result.objective == expected.objective
    assert result.artifact_sha256 == expected.artifact_sha256


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_forging_gains_nothing(name: str, folder: Path, harness: Harness) -> None:
    kind = KINDS[name]
    expected = honest(name, level(harness))
    with nothing_left(folder):
        result = judged(kind, behind("forging", kind), folder, harness)
    assert result.status in ("valid", "invalid", "crashed"), result.reason
    if result.valid:
        assert result.search == expected.search
        assert result.objective == expected.objective
    else:
        assert result.search is None
        assert result.ndg == 0.0
    assert not result.reason.startswith("infrastructure")
    assert not Path("/logs/verifier/reward.txt").exists()


def test_the_spy_would_find_what_is_there(folder: Path) -> None:
    """Outside of any sandbox it raises: the tests above can fail."""
    import subprocess
    import sys

    program = folder / "candidate.py"
    text = (PRELUDES / "spying.py").read_text().replace("_leave()\n", "")
    program.write_text(
        text.replace("def _leave():", "def _leave():\n    return\n\n\ndef _never():")
    )
    run = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, cwd=folder, check=False
    )
    assert run.returncode == 1
    assert "RuntimeError: found" in run.stderr
