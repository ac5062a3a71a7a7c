"""Scoring time of the tours and call times of the candidates' tools.

``python -m pytest tests/speed/test_speed_astrodynamics.py --benchmark-enable`` measures and holds
the times against the goals of the benchmark; without the option everything runs once, untimed.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from shared_data import evaluator_for, read_case, require_shared

from benchmark.artifact import Artifact
from tasks.astrodynamics.kernels import SHIPPED
from tasks.astrodynamics.tools.orbits.constants import AU_KM, DAY_S, MU_SUN
from tasks.astrodynamics.tools.orbits.ephemeris import Ephemeris
from tasks.astrodynamics.tools.orbits.kepler import propagate
from tasks.astrodynamics.tools.orbits.kepler_batch import propagate_batch
from tasks.astrodynamics.tools.orbits.lambert import lambert
from tasks.astrodynamics.tools.orbits.lambert_batch import lambert_batch

SCORE_S, LAMBERT_S, EPHEMERIS_S, BATCH_GAIN = 5e-3, 60e-6, 40e-6, 10.0
ARCS = 20_000


def fastest(benchmark: BenchmarkFixture) -> float | None:
    """Seconds of the fastest round, which a busy machine disturbs least; ``None`` untimed."""
    return None if benchmark.stats is None else float(benchmark.stats.stats.min)


@pytest.fixture(scope="module")
def arcs() -> tuple[Any, Any, Any, Any]:
    """Transfers between 0.7 and 10 AU as a search for tours asks for them, and their speeds."""
    rng = np.random.default_rng(1977)
    r0, r1 = rng.normal(size=(2, ARCS, 3))
    for r in (r0, r1):
        r *= (rng.uniform(0.7, 10.0, ARCS) * AU_KM / np.linalg.norm(r, axis=1))[:, None]
    tof = rng.uniform(60.0, 3000.0, ARCS) * DAY_S
    v0, _ = lambert_batch(r0, r1, tof, MU_SUN)
    return r0, r1, tof, v0


@pytest.mark.parametrize("case", ["voyager_2_published_sota", "rosetta_published_sota"])
def test_scoring(benchmark: BenchmarkFixture, case: str) -> None:
    content = read_case(require_shared() / "parity" / "astrodynamics" / f"{case}.json")
    evaluator = evaluator_for(content["task"])
    artifact = Artifact(content["input"]["trajectory"])
    score = benchmark(evaluator.score, artifact, "search")
    assert score.objective == pytest.approx(content["expected"]["total_dv"], abs=1e-6)
    seconds = fastest(benchmark)
    assert seconds is None or seconds < SCORE_S


def test_one_lambert_arc(benchmark: BenchmarkFixture, arcs: Any) -> None:
    r0, r1, tof, v0 = arcs
    found, _ = benchmark(lambert, r0[0], r1[0], tof[0], MU_SUN)
    assert found == pytest.approx(v0[0])
    seconds = fastest(benchmark)
    assert seconds is None or seconds < LAMBERT_S


def test_one_planet_state(benchmark: BenchmarkFixture) -> None:
    ephemeris = Ephemeris(SHIPPED)
    r, _ = benchmark(ephemeris.state, "1", 50000.25)
    assert 0.3 < np.linalg.norm(r) / AU_KM < 0.5
    seconds = fastest(benchmark)
    assert seconds is None or seconds < EPHEMERIS_S


def test_batch_of_lambert_arcs(benchmark: BenchmarkFixture, arcs: Any) -> None:
    r0, r1, tof, _ = arcs
    v0, _ = benchmark(lambert_batch, r0, r1, tof, MU_SUN)
    assert np.isfinite(v0).all()
    assert_gain(benchmark, lambda k: lambert(r0[k], r1[k], tof[k], MU_SUN))


def test_batch_of_propagations(benchmark: BenchmarkFixture, arcs: Any) -> None:
    r0, r1, tof, v0 = arcs
    r, _ = benchmark(propagate_batch, r0, v0, tof, MU_SUN)
    assert np.abs(r - r1).max() < 1.0
    assert_gain(benchmark, lambda k: propagate(r0[k], v0[k], tof[k], MU_SUN))


def assert_gain(benchmark: BenchmarkFixture, scalar: Callable[[int], Any]) -> None:
    """The batch takes at most a tenth of the scalar routine's time for each row."""
    seconds = fastest(benchmark)
    if seconds is None:
        return
    sample = range(0, ARCS, 20)
    alone = min(timeit.repeat(lambda: [scalar(k) for k in sample], number=1, repeat=5))
    gain = (alone / len(sample)) / (seconds / ARCS)
    benchmark.extra_info["gain over scalar"] = round(gain, 1)
    print(f"\n{seconds / ARCS * 1e6:.3f} us a row, {gain:.1f} times the scalar rate")
    assert gain > BATCH_GAIN
