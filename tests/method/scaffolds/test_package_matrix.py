"""The package scaffolds in whole runs: what is journalled of them, and what is imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fake_task import LocalEvaluator, LocalSearch, clients, config
from scaffolds.scaffold_cases import BEST_FIRST, Strategist, misbehaving, needs

from method.journal import FILE_NAME, read_journal
from method.protocols import Completion, Request
from method.runs import Clients, replay, resume, run
from method.trace import read_trace


def local() -> Clients:
    return Clients(Strategist(), LocalSearch(), LocalEvaluator())


@needs("skydiscover", "0.1.0")
def test_strategies_come_from_the_journal_when_a_run_goes_on(tmp_path: Path) -> None:
    given = config(method="evox+none", scaffold_options={"window": 2}, iterations=8, seed=5)
    whole = tmp_path / "whole"
    run(given, whole, clients=local())
    events = [e.data for e in read_journal(whole) if e.name == "scaffold_event"]
    assert {event["what"] for event in events} >= {"scored", "refused", "taken"}
    lines = (whole / FILE_NAME).read_bytes().splitlines(keepends=True)
    names = [event.name for event in read_journal(whole)]
    last = len(names) - 1 - names[::-1].index("scaffold_event")
    for kept in (last - 3, last, last + 1):
        folder = tmp_path / str(kept)
        folder.mkdir()
        (folder / FILE_NAME).write_bytes(b"".join(lines[:kept]))
        (folder / "blobs").symlink_to(whole / "blobs")
        again = local()
        resume(folder, clients=again)
        children = [record["child"] for record in read_trace(folder)]
        assert children == [record["child"] for record in read_trace(whole)]
        assert again.model is not None
        assert again.model.calls == names[kept:].count("model_call")  # type: ignore[attr-defined]


class _Halting(Strategist):
    """Stands still for some iterations, then gains in each, so that a strategy stays in force; the
    strategies that it writes work until they see a program of iteration 12."""

    def __init__(self, act: str) -> None:
        super().__init__()
        self._strategy = misbehaving(act, since=12)
        self._generated = 0

    async def sample(self, request: Request) -> list[Completion]:
        if request.purpose == "strategy":
            return [Completion(f"```python\n{self._strategy}\n```")]
        if request.purpose != "generation":
            return await super().sample(request)
        self._generated += 1
        value = 0.1 + 0.02 * max(0, self._generated - 4)
        return [Completion(f"```python\nVALUE = {value:.2f}  # {self._generated}\n```")]


@pytest.mark.slow
@needs("skydiscover", "0.1.0")
@pytest.mark.parametrize(
    ("act", "why"),
    [
        ("while True:\n    pass", "took too long"),
        ("open('note.txt', 'w')", "tried to write a file"),
        ("ranked[0].metrics['combined_score'] = 9.0", "changed the metrics"),
    ],
)
def test_a_strategy_that_turns_bad_does_not_spoil_a_run(tmp_path: Path, act: str, why: str) -> None:
    folder = tmp_path / "run"
    options = {"window": 3, "guides": "default"}
    given = config(method="evox+none", iterations=14, candidates=1, scaffold_options=options)
    given_clients = Clients(_Halting(act), LocalSearch(), LocalEvaluator())
    result = run(given, folder, clients=given_clients)
    assert (result.status, result.summary["done"]) == ("finished", 14)
    records = read_trace(folder)
    events = [event for record in records for event in record["scaffold_events"]]
    back = [event for event in events if event["what"] == "rolled_back"]
    assert back
    assert all(why in event["reason"] for event in back)
    assert any(event["what"] == "taken" for event in events)
    scores = {r["child"]["id"]: r["child"]["search_score"] for r in records if r["child"]}
    for record in records:
        parent = record["parent"]
        assert parent["score"] == scores.get(parent["id"], result.summary["x0"]["search_score"])
    assert replay(folder).summary == result.summary


def test_importing_the_scaffolds_loads_no_package() -> None:
    lines = [
        "import method, method.registry, method.runs, method.scaffolds.evox_world, sys",
        "import method.scaffolds.openevolve_package, method.scaffolds.evox",
        "print([name for name in ('openevolve', 'skydiscover', 'openai') if name in sys.modules])",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_stand_in_without_strategies_keeps_the_first(tmp_path: Path) -> None:
    pytest.importorskip("skydiscover")
    given = config(method="evox+none", scaffold_options={"window": 1}, iterations=6)
    run(given, tmp_path / "run", clients=clients())
    events = [
        event for record in read_trace(tmp_path / "run") for event in record["scaffold_events"]
    ]
    assert events
    assert {event["what"] for event in events} <= {"scored", "unreadable"}
    assert BEST_FIRST not in repr(events)
