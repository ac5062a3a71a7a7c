"""Scoring time of the step-function tasks beside direct O(n^2) sums, timed in the same run.

``python -m pytest tests/speed -s --benchmark-enable`` prints times and ratios. Nothing is asserted
about time; the values must agree.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pytest_benchmark.fixture import BenchmarkFixture
from shared_data import evaluator_for, typed_value

Heights = NDArray[np.float64]


def direct_c5(h: Heights) -> float:
    """All overlaps by numpy's direct correlation."""
    return 2.0 * float(np.correlate(h, 1.0 - h, mode="full").max()) / len(h)


def direct_c1(a: Heights) -> float:
    """The autoconvolution by numpy's direct convolution."""
    return 2.0 * len(a) * float(np.convolve(a, a).max()) / float(a.sum()) ** 2


def direct_c2(a: Heights) -> float:
    """The same, and the norms of a piecewise linear function."""
    c = np.convolve(a, a)
    squares = (2.0 * float(c @ c) + float(c[:-1] @ c[1:])) / 3.0
    return squares / float(c.sum() * c.max())


def direct_c3(a: Heights) -> float:
    """The same as for C1 with the absolute value."""
    return 2.0 * len(a) * float(np.abs(np.convolve(a, a)).max()) / float(a.sum()) ** 2


@pytest.mark.parametrize(
    ("task", "file", "direct"),
    [
        ("erdos", "data/erdos/ttt_600.npz:h", direct_c5),
        ("erdos", "data/erdos/released_4096.npz:h", direct_c5),
        ("ac1", "data/ac1/released_972.json", direct_c1),
        ("ac1", "data/ac1/ttt_30000.npz:f", direct_c1),
        ("ac2", "data/ac2/ttt_50000.npz:f", direct_c2),
        ("ac3", "data/ac3/released_400.json", direct_c3),
    ],
)
@pytest.mark.usefixtures("shared")
def test_scoring_time(
    task: str, file: str, direct: Callable[[Heights], float], benchmark: BenchmarkFixture
) -> None:
    heights: list[float] = typed_value({"file": file})
    array = np.array(heights)
    evaluator = evaluator_for(task)
    artifact = evaluator.convert((heights, None, len(heights)) if task == "erdos" else heights)

    found = benchmark(evaluator.score, artifact, "search")
    assert found.objective == pytest.approx(direct(array), rel=1e-11)

    ours_ms = best_ms(lambda: evaluator.score(artifact, "search"))
    direct_ms = best_ms(lambda: direct(array))
    benchmark.extra_info.update(
        cells=len(heights), ours_ms=ours_ms, direct_ms=direct_ms, ratio=direct_ms / ours_ms
    )
    print(
        f"\n{task} ({len(heights)} cells): {ours_ms:.3f} ms, "
        f"direct sums {direct_ms:.3f} ms, ratio {direct_ms / ours_ms:.1f}"
    )


def best_ms(function: Callable[[], Any]) -> float:
    """Best time of one call in ms; a slow function is called only once."""
    timer = timeit.Timer(function)
    once = timer.timeit(1)
    return 1000.0 * (once if once > 0.1 else min(timer.repeat(repeat=5, number=5)) / 5)
