"""Data settings of the denoising tests: simulated sets in a cache of their own, no mirror."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.catalogue import find_task
from benchmark.evaluation import load_evaluator
from benchmark.evaluator import Setup
from tasks.scientific_algorithms.denoising.datasets import Dataset, load
from tasks.scientific_algorithms.denoising.evaluator import Denoising


@pytest.fixture(autouse=True)
def no_mirror(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A fresh machine without a mirror; what one test made in the cache the next one finds."""
    monkeypatch.setenv("EVODUET_DATA", str(tmp_path_factory.getbasetemp() / "evoduet-data"))
    monkeypatch.delenv("EVODUET_DATA_MIRROR", raising=False)


@pytest.fixture
def denoising(no_mirror: None) -> Callable[..., Denoising]:
    """Makes the evaluator of the embedded variant with the given options."""

    def make(**options: str) -> Denoising:
        task = find_task("denoising")
        evaluator = load_evaluator(Setup(task, "embedded", task.options(options)))
        assert isinstance(evaluator, Denoising)
        return evaluator

    return make


@pytest.fixture
def simulated(denoising: Callable[..., Denoising]) -> Callable[[str], Dataset]:
    """Loads one of the simulated data sets."""
    return lambda name: load(denoising().setup, name)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a candidate and returns its path."""

    def program(source: str) -> Path:
        path = tmp_path / "candidate.py"
        path.write_text(source, encoding="utf-8")
        return path

    return program
