"""Checking 150 contest outputs beside a plain Python check, timed in the same run.

``python -m pytest tests/speed -s --benchmark-enable`` prints times and ratios. Nothing is asserted
about time; the scores must agree.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmark.artifact import Artifact
from benchmark.evaluation import prepare
from tasks.algorithm_engineering.ahc039.evaluator import PurseSeineFishing
from tasks.algorithm_engineering.ahc039.generator import generate as generate_fish
from tasks.algorithm_engineering.ahc058.evaluator import AppleProduction
from tasks.algorithm_engineering.ahc058.generator import generate as generate_machines
from tasks.algorithm_engineering.contest import Contest
from tasks.algorithm_engineering.inputs import OFFICIAL_SEEDS

PLAIN_CASES = 10
"""The plain check of all 150 would take a minute; it is timed on these and scaled."""

Entries = list[dict[str, Any]]


@cache
def stairs(vertices: int) -> str:
    """A valid polygon among the fish: a staircase down on the right of a wall."""
    steps = vertices // 2 - 1
    low, high = 15_000, 85_000
    across = [low + (high - low) * k // steps for k in range(steps + 1)]
    path = [(low, low), (low, high)]
    for k in range(steps):
        path.append((across[k + 1], across[steps - k]))
        path.append((across[k + 1], across[steps - k - 1]))
    path = [*path[:-1], (high, low)]
    return f"{len(path)}\n" + "".join(f"{x} {y}\n" for x, y in path)


def catch_by_points(text: str, seed: int) -> int:
    """Pairs of edges, then every fish against every edge."""
    numbers = [int(word) for word in text.split()][1:]
    corners = list(zip(numbers[0::2], numbers[1::2], strict=True))
    edges = list(zip(corners, corners[1:] + corners[:1], strict=True))
    boxes = [(min(a, c), max(a, c), min(b, d), max(b, d)) for (a, b), (c, d) in edges]
    assert len(set(corners)) == len(corners)
    assert sum(x2 - x1 + y2 - y1 for x1, x2, y1, y2 in boxes) <= 400_000
    for i, (x1, x2, y1, y2) in enumerate(boxes):
        assert (x1 == x2) != (y1 == y2)
        for j in range(i - 1):
            u1, u2, v1, v2 = boxes[j]
            touching = x1 <= u2 and u1 <= x2 and y1 <= v2 and v1 <= y2
            assert not touching or (i, j) == (len(boxes) - 1, 0)
    fish = [tuple(map(int, line.split())) for line in generate_fish(seed).splitlines()[1:]]
    caught = [inside(boxes, x, y) for x, y in fish]
    return max(0, sum(caught[:5000]) - sum(caught[5000:]) + 1)


def inside(boxes: list[tuple[int, int, int, int]], x: int, y: int) -> bool:
    crossings = 0
    for x1, x2, y1, y2 in boxes:
        if x1 <= x <= x2 and y1 <= y <= y2:
            return True
        crossings += x1 == x2 < x and y1 <= y < y2
    return crossings % 2 == 1


def plan_text(seed: int) -> str:
    """A random plan that raises cheap machines of level 0 when it can."""
    generator = random.Random(seed)
    rows = [[int(word) for word in line.split()] for line in generate_machines(seed).splitlines()]
    capacity, cost, power, apples, lines = rows[1], rows[2], [0] * 10, 1, []
    for _ in range(500):
        affordable = [j for j in range(10) if cost[j] * (power[j] + 1) <= apples]
        if affordable and generator.random() < 0.7:
            chosen = generator.choice(affordable)
            apples -= cost[chosen] * (power[chosen] + 1)
            power[chosen] += 1
            lines.append(f"0 {chosen}")
        else:
            lines.append("-1")
        apples += sum(a * p for a, p in zip(capacity, power, strict=True))
    return "\n".join(lines) + "\n"


def harvest_by_loops(text: str, seed: int) -> int:
    """All machines in all turns, in Python integers."""
    rows = [[int(word) for word in line.split()] for line in generate_machines(seed).splitlines()]
    capacity, cost, apples = rows[1], rows[2:], 1
    count, power = [[1] * 10 for _ in range(4)], [[0] * 10 for _ in range(4)]
    for line in text.splitlines():
        words = line.split()
        if words != ["-1"]:
            level, number = map(int, words)
            power[level][number] += 1
            apples -= cost[level][number] * power[level][number]
            assert apples >= 0
        apples += sum(capacity[j] * count[0][j] * power[0][j] for j in range(10))
        for level in range(1, 4):
            for j in range(10):
                count[level - 1][j] += count[level][j] * power[level][j]
    return round(100_000 * math.log2(apples))


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "contest-cache"))


@pytest.mark.parametrize(
    ("contest", "name", "output", "plain"),
    [
        (PurseSeineFishing, "ahc039, 28 vertices", lambda seed: stairs(28), catch_by_points),
        (PurseSeineFishing, "ahc039, 1000 vertices", lambda seed: stairs(1000), catch_by_points),
        (AppleProduction, "ahc058", plan_text, harvest_by_loops),
    ],
)
def test_scoring_time(
    contest: type[Contest],
    name: str,
    output: Callable[[int], str],
    plain: Callable[[str, int], int],
    benchmark: BenchmarkFixture,
) -> None:
    evaluator = contest(prepare(name[:6]))
    entries: Entries = [{"seed": seed, "stdout": output(seed)} for seed in OFFICIAL_SEEDS]
    artifact = Artifact(entries)  # type: ignore[arg-type]
    cases = evaluator.case_scores(artifact)  # from now on the inputs are in the cache

    plain_cases = PLAIN_CASES if "1000" not in name else 1
    started = time.perf_counter()
    expected = [plain(output(seed), seed) for seed in range(plain_cases)]
    plain_s = (time.perf_counter() - started) / plain_cases * len(entries)
    assert [case.score for case in cases[:plain_cases]] == expected

    def fresh() -> float:
        """As in a new process: inputs are read from the cache, checked and parsed."""
        return float(contest(prepare(name[:6])).score(artifact, "search").objective or 0)

    total = benchmark.pedantic(fresh, rounds=3)
    assert total == sum(case.score or 0 for case in cases)
    ours_s = min(timed(fresh) for _ in range(3))
    benchmark.extra_info.update(ours_s=ours_s, plain_python_s=plain_s, ratio=plain_s / ours_s)
    print(
        f"\n{name}: 150 outputs in {ours_s:.3f} s, plain Python {plain_s:.1f} s, "
        f"ratio {plain_s / ours_s:.0f}"
    )


def timed(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def test_generating_time(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """All 300 inputs of both contests."""

    def generate() -> int:
        return sum(
            len(make(seed))
            for seed in OFFICIAL_SEEDS
            for make in (generate_fish, generate_machines)
        )

    size = benchmark.pedantic(generate, rounds=1)
    assert size > 150 * 100_000
