"""Scoring time of the combinatorial tasks beside a plain Python reference, timed in the same run.

``python -m pytest tests/speed -s --benchmark-enable`` prints times and ratios. Nothing is asserted
about time; the values must agree.
"""

from __future__ import annotations

import json
import math
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from shared_data import evaluator_for

from tasks.mathematics.determinant import bareiss_determinant


def packing_by_loops(circles: list[list[float]]) -> float:
    """Check walls and pairs one by one on an array, and add up the radii; no strict total."""
    table = np.array(circles)
    for x, y, r in table:
        assert r >= 0
        assert min(x, y) - r >= -1e-12
        assert max(x, y) + r <= 1 + 1e-12
    for i in range(len(table)):
        for j in range(i + 1, len(table)):
            dx, dy = table[i, 0] - table[j, 0], table[i, 1] - table[j, 1]
            assert math.sqrt(dx**2 + dy**2) >= table[i, 2] + table[j, 2] - 1e-12
    return float(sum(table[:, 2]))


def ratio_by_elimination(matrix: list[list[int]]) -> float:
    """Fraction-free elimination in Python integers."""
    return abs(bareiss_determinant(matrix)) / 1270698346568170340352


def c_value_by_listing(elements: list[int]) -> float:
    """List all sums and all differences."""
    sums = {a + b for a in elements for b in elements}
    differences = {a - b for a in elements for b in elements}
    return math.log(len(sums) / len(elements)) / math.log(len(differences) / len(elements))


def spread_set() -> list[int]:
    """512 elements over the whole range."""
    generator = np.random.default_rng(512)
    inner = generator.choice(1_999_999, size=510, replace=False) - 999_999
    return sorted([-1_000_000, 1_000_000, *inner.tolist()])


@pytest.mark.parametrize(
    ("task", "name", "reference"),
    [
        ("cp26", "released.json", packing_by_loops),
        ("cp32", "released.json", packing_by_loops),
        ("hadamard29", "released.json", ratio_by_elimination),
        ("sums_diffs", "released_506.json", c_value_by_listing),
        ("sums_diffs", None, c_value_by_listing),
    ],
)
def test_scoring_time(
    task: str,
    name: str | None,
    reference: Callable[[Any], float],
    benchmark: BenchmarkFixture,
    shared: Path,
) -> None:
    construction = json.loads((shared / "data" / task / name).read_text()) if name else spread_set()
    evaluator = evaluator_for(task)
    artifact = evaluator.convert(construction)

    found = benchmark(evaluator.score, artifact, "search")
    assert found.objective == pytest.approx(reference(construction), rel=1e-12)

    ours_ms = best_ms(lambda: evaluator.score(artifact, "search"))
    plain_ms = best_ms(lambda: reference(construction))
    benchmark.extra_info.update(ours_ms=ours_ms, plain_python_ms=plain_ms, ratio=plain_ms / ours_ms)
    print(
        f"\n{task} ({name or '512 spread elements'}): {ours_ms:.3f} ms, "
        f"plain Python {plain_ms:.3f} ms, ratio {plain_ms / ours_ms:.1f}"
    )


def best_ms(function: Callable[[], object]) -> float:
    """Best time of one call in ms."""
    timer = timeit.Timer(function)
    return 1000.0 * min(timer.repeat(repeat=5, number=4)) / 4
