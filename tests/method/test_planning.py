"""The plan is an upper bound of what runs really do."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_task import clients, config

from method.config import make_config
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


@pytest.mark.parametrize("guides", ["generated", "default"])
@pytest.mark.parametrize("count_attempts", [False, True])
def test_strategies_of_evox_are_planned(tmp_path: Path, guides: str, count_attempts: bool) -> None:
    pytest.importorskip("skydiscover")
    options = {"window": 2, "guides": guides, "count_attempts": count_attempts}
    given = config(
        method="evox+none", iterations=9, candidates=1, scaffold_options=options, max_attempts=2
    )
    bound = plan(given)
    assert bound.model_calls == 9 * 2 + (guides == "generated") + 1 + 5 * 4
    run(given, tmp_path / "run", clients=clients())
    calls = [e.data["purpose"] for e in read_journal(tmp_path / "run") if e.name == "model_call"]
    assert calls.count("strategy") > 0
    assert len(calls) - calls.count("generation") <= bound.model_calls - 18
    assert len(calls) <= bound.model_calls


def test_a_method_of_its_own_is_planned_by_its_evaluations() -> None:
    bound = plan(make_config(None, task="cp26", command="python x.py", iterations=30))
    assert (bound.model_calls, bound.searches, bound.evaluations) == (0, 0, 31)
    assert bound.cost_usd(None, None) == 0


def test_the_papers_numbers() -> None:
    bound = plan(config(method="evoduet", iterations=100, candidates=8))
    assert bound.searches == 300
    assert bound.model_calls == 100 * (8 + 3 * 8)
    assert bound.cost_usd(0.01, None) is None
    assert bound.cost_usd(0.01, 0.008) == pytest.approx(32 + 2.4)
    assert plan(config(method="none", iterations=None)).iterations == 100
    assert plan(config(task="labs_27", method="none", iterations=None)).iterations == 20
