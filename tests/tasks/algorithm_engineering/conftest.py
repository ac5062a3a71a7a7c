"""A cache of their own for the contests' tests, and sandboxes with the contests' limits."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchmark.artifact import Artifact
from benchmark.evaluation import prepare
from benchmark.harness import default_harness
from benchmark.sandbox.session import Session
from tasks.algorithm_engineering.ahc039.evaluator import PurseSeineFishing
from tasks.algorithm_engineering.ahc058.evaluator import AppleProduction


@pytest.fixture(scope="session")
def cache_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shared by the tests of this folder, so that each program is built once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True, scope="module")
def own_cache(cache_home: Path) -> Iterator[None]:
    """Builds and inputs of the tests stay out of the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache_home))
        yield


@pytest.fixture
def need_compiler() -> None:
    """Skips a test where there is no compiler."""
    if shutil.which("g++") is None:
        pytest.skip("no g++ on the PATH: apt-get install g++")


# Made directly, since loading a task asks for its compiler, which scoring does not need.
def fishing_with(**options: str) -> PurseSeineFishing:
    return PurseSeineFishing(prepare("ahc039", options=options))


def apples_with(**options: str) -> AppleProduction:
    return AppleProduction(prepare("ahc058", options=options))


@pytest.fixture
def fishing() -> PurseSeineFishing:
    """The evaluator of ahc039."""
    return fishing_with()


@pytest.fixture
def apples() -> AppleProduction:
    """The evaluator of ahc058."""
    return apples_with()


@pytest.fixture
def sandbox(apples: AppleProduction) -> Session:
    """A sandbox as an evaluation of a contest gets it."""
    return default_harness().session(apples.setup.task.limits)


RunProgram = Callable[..., Artifact]


@pytest.fixture
def run_program(tmp_path: Path, need_compiler: None) -> RunProgram:
    """Runs C++ text on some seeds of ahc058 and brings back the artifact."""

    def run(
        source: str, seeds: Sequence[int] = (0,), *, idle_s: float = 5.0, **options: str
    ) -> Artifact:
        contest = apples_with(**options)
        program = tmp_path / "solver.cpp"
        program.write_text(source)
        limits = replace(contest.setup.task.limits, idle_s=idle_s)
        return contest.run(program, default_harness().session(limits), seeds)

    return run
