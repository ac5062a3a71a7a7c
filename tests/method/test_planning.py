"""The plan is an upper bound of what runs really do."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_task import clients, config

from method.journal import read_journal
from method.planning import plan
from method.runs import run


@pytest.mark.parametrize("method", ["none", "joint", "sequential", "evoduet"])
def test_a_run_stays_within_its_plan(tmp_path: Path, method: str) -> None:
    given = config(method=method, iterations=6, candidates=2, rounds=2, queries=2)
    bound = plan(given)
    run(given, tmp_path / "run", clients=clients())
    names = [event.name for event in read_journal(tmp_path / "run")]
    assert names.count("model_call") <= bound.model_calls
    assert names.count("search") <= bound.searches
    assert names.count("evaluation") <= bound.evaluations


def test_the_papers_numbers() -> None:
    bound = plan(config(method="evoduet", iterations=100, candidates=8))
    assert bound.searches == 300
    assert bound.model_calls == 100 * (8 + 3 * 8)
    assert bound.cost_usd(0.01, None) is None
    assert bound.cost_usd(0.01, 0.008) == pytest.approx(32 + 2.4)
    assert plan(config(method="none", iterations=None)).iterations == 100
    assert plan(config(task="labs_27", method="none", iterations=None)).iterations == 20
