"""Hostile contest programs, built and run as an evaluation does it: their real verdicts."""

from __future__ import annotations

import ctypes
import hashlib
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hostile import HERE, SET_SUBREAPER, TOKEN, nothing_left

from benchmark.evaluation import prepare
from benchmark.evaluator import BuildFailed
from benchmark.harness import Harness
from benchmark.sandbox.inside import landlock
from benchmark.sandbox.jail import SandboxBroken
from tasks.algorithm_engineering.ahc058.evaluator import AppleProduction
from tasks.algorithm_engineering.caching import cache_folder

PROGRAMS = HERE / "contest"
SCORE = 896578
"""Of an answer that does nothing but one thing, on the input of seed 0."""

HONEST = """\
#include <cstdio>
int main() {
    std::puts("0 0");
    for (int i = 1; i < 500; i++) std::puts("-1");
}
"""

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ on the PATH")


@pytest.fixture(params=["bubblewrap", "process"])
def harness(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Harness]:
    if request.param == "process" and not landlock.abi():
        pytest.skip("not promised without namespaces and without Landlock")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    try:
        made = Harness(request.param)
    except SandboxBroken as reason:
        pytest.skip(str(reason))
    ctypes.CDLL(None).prctl(SET_SUBREAPER, 1, 0, 0, 0)
    with made:
        yield made


def judged(source: str, folder: Path, harness: Harness, seeds: tuple[int, ...] = (0, 1)) -> Any:
    """Verdict, reason and score of each case."""
    contest = AppleProduction(prepare("ahc058"))
    program = folder / "candidate.cpp"
    program.write_text(source)
    limits = replace(contest.setup.task.limits, idle_s=5.0)
    artifact = contest.run(program, harness.session(limits), seeds)
    facts = artifact.facts["cases"]
    scores = [case.score for case in contest.case_scores(artifact)]
    return [(f["verdict"], s) for f, s in zip(facts, scores, strict=True)]


def builds() -> dict[str, str]:
    """Digest of everything in the cache of builds."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in cache_folder("builds").iterdir()
        if path.is_file()
    }


def test_an_honest_program(tmp_path: Path, harness: Harness) -> None:
    (first, second) = judged(HONEST, tmp_path, harness)
    assert first == ("OK", SCORE)
    assert second[0] == "OK"


def test_there_is_nothing_to_find_and_nothing_is_kept(
    tmp_path: Path, harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVODUET_TEST_API_KEY", TOKEN)
    (tmp_path / "other_candidate.cpp").write_text(f"// {TOKEN}\n")
    expected = judged(HONEST, tmp_path, harness)
    with nothing_left(tmp_path):
        assert judged((PROGRAMS / "spying.cpp").read_text(), tmp_path, harness) == expected


@pytest.mark.parametrize(
    "path",
    [
        str(HERE.parents[1] / "tasks/algorithm_engineering/contest.py"),
        "/etc/shadow",
        "/root/.bashrc",
        "../task.toml",
        "/proc/1/environ",
        "/proc/self/environ",
    ],
)
def test_the_compiler_gives_no_file_of_this_machine(
    path: str, tmp_path: Path, harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says that there is none or that it may not read it; neither tells what is in it."""
    monkeypatch.setenv("EVODUET_TEST_API_KEY", TOKEN)
    for line in (f'#include "{path}"', f'asm(".incbin \\"{path}\\"");'):
        told = ""
        try:
            judged(f"{line}\n{HONEST}", tmp_path, harness)
        except BuildFailed as failure:
            told = str(failure) + "".join(failure.attachments.values())
        else:  # the compiler may read its own environment, in which nothing is
            assert path == "/proc/self/environ"
        assert TOKEN not in told
        assert not re.search("root:|PATH=|class Contest", told)
        built = [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]
        assert not any(TOKEN.encode() in file.read_bytes() for file in built)


def test_forged_verdicts_count_nothing_and_the_builds_stay_whole(
    tmp_path: Path, harness: Harness
) -> None:
    expected = judged(HONEST, tmp_path, harness)
    source = (PROGRAMS / "forging.cpp").read_text()
    before = builds()
    assert before
    with nothing_left(tmp_path):
        assert judged(source, tmp_path, harness) == expected
    after = builds()
    assert {name: after.get(name) for name in before} == before
    assert len(after) == len(before) + 1
    assert judged(HONEST, tmp_path, harness) == expected
    assert judged(source, tmp_path, harness) == expected  # its own build is whole as well


def test_the_limits_are_not_the_program_s_to_change(tmp_path: Path, harness: Harness) -> None:
    source = (PROGRAMS / "escaping_the_clock.cpp").read_text()
    with nothing_left(tmp_path):
        ((verdict, score),) = judged(source, tmp_path, harness, (0,))
    assert verdict in ("TLE", "RE")
    assert score is None
