"""Cost of the harness around candidates that are functions: scaling laws and denoising.

``python -m pytest tests/speed -s --benchmark-enable`` prints times. Wall time is not asserted (a
busy machine would decide); the CPU time of the harness's own process and the memory of the metric
are.
"""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmark import evaluate
from tasks.scientific_algorithms.denoising.metric import losses

OVERHEAD_S = 0.5
CELLS, GENES = 10_000, 2_000

CHEAP_LAW = """
def fit_scaling_law(data_points, loss_values):
    return [loss_values.mean()]

def scaling_law_func(data_points, params):
    return data_points[:, 0] * 0 + params[0]
"""


@pytest.fixture
def cheap_law(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that itself takes next to no time."""
    monkeypatch.setenv("EVODUET_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("EVODUET_DATA_MIRROR", raising=False)
    program = tmp_path / "law.py"
    program.write_text(CHEAP_LAW, encoding="utf-8")
    return program


@pytest.mark.parametrize("task", ["parallel", "u_shape", "lr_bsz"])
def test_scaling_law_evaluation(task: str, cheap_law: Path, benchmark: BenchmarkFixture) -> None:
    """Three processes (fit, predict, single rows), their start and the transport of the arrays."""
    evaluate(task, cheap_law, variant="embedded")  # imports and digests are paid once
    before = time.process_time()
    evaluation = benchmark(evaluate, task, cheap_law, variant="embedded")
    assert evaluation.status == "valid", evaluation.reason
    if benchmark.disabled:  # one call only
        assert time.process_time() - before < OVERHEAD_S


def test_denoising_metric(benchmark: BenchmarkFixture) -> None:
    """10,000 cells x 2,000 genes, dense; the blocks add a small part of the input's memory."""
    random = np.random.default_rng(0)
    answer = random.random((CELLS, GENES))
    test = random.poisson(0.1, (CELLS, GENES)).astype(np.float64)
    tracemalloc.start()
    found = losses(answer, test, 1e6)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.1 * (answer.nbytes + test.nbytes)
    assert benchmark(losses, answer, test, 1e6) == found
