"""Data settings of the scaling-law tests: a cache of their own, with or without the mirror."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from shared_data import require_shared

from benchmark.catalogue import find_task
from benchmark.evaluation import load_evaluator
from benchmark.evaluator import Setup
from tasks.ai_foundations.scaling_law import ScalingLaw


@pytest.fixture(autouse=True)
def no_mirror(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A fresh machine: an empty cache and no mirror."""
    monkeypatch.setenv("EVODUET_DATA", str(tmp_path_factory.getbasetemp() / "evoduet-data"))
    monkeypatch.delenv("EVODUET_DATA_MIRROR", raising=False)


@pytest.fixture
def mirror(no_mirror: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The measured tables; skips the test where they are not there."""
    folder = require_shared() / "data"
    if not (folder / "scaling_laws").is_dir():
        pytest.skip(f"{folder} holds no scaling-law tables")
    monkeypatch.setenv("EVODUET_DATA_MIRROR", str(folder))
    return folder


@pytest.fixture
def law() -> Callable[..., ScalingLaw]:
    """Makes the evaluator of a task by name, for one data variant."""

    def make(name: str, variant: str, **options: str) -> ScalingLaw:
        task = find_task(f"ai_foundations/{name}")
        evaluator = load_evaluator(Setup(task, variant, task.options(options)))
        assert isinstance(evaluator, ScalingLaw)
        return evaluator

    return make


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a candidate and returns its path."""

    def program(source: str) -> Path:
        path = tmp_path / "candidate.py"
        path.write_text(source, encoding="utf-8")
        return path

    return program
