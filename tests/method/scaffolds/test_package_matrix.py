"""Both package scaffolds with every retriever, as whole runs that replay."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_task import LocalEvaluator, LocalModel, LocalSearch, clients, config
from scaffolds.scaffold_cases import BEST_FIRST, SETS, needs, strategy

from method.journal import FILE_NAME, read_journal
from method.protocols import Completion, Request
from method.runs import Clients, replay, resume, run
from method.trace import check_trace, read_trace

SCAFFOLDS = [
    pytest.param("openevolve-package", {"native_params": True}, marks=needs("openevolve", "0.4.")),
    pytest.param("evox", {"window": 6}, marks=needs("skydiscover", "0.1.0")),
]
RETRIEVERS = ("none", "oracle", "joint", "sequential", "evoduet")


class Strategist(LocalModel):
    """The scripted model, which can write strategies too: the first answer is of no use."""

    async def sample(self, request: Request) -> list[Completion]:
        if request.purpose != "strategy":
            return await super().sample(request)
        self.calls += len(request.slots)
        again = "Your last answer could not be used" in request.messages[-1]["content"]
        text = strategy(sample=SETS) if again else strategy(head="raise ValueError\n")
        return [Completion(f"```python\n{text}\n```", cost_usd=0.01) for _ in request.slots]


def local() -> Clients:
    return Clients(Strategist(), LocalSearch(), LocalEvaluator())


@pytest.mark.parametrize("retriever", RETRIEVERS)
@pytest.mark.parametrize(("scaffold", "options"), SCAFFOLDS)
def test_matrix(tmp_path: Path, scaffold: str, options: dict[str, Any], retriever: str) -> None:
    for candidates, rules in ((1, "official"), (3, "robust")):
        folder = tmp_path / str(candidates)
        given = config(
            method=f"{scaffold}+{retriever}",
            scaffold_options=options,
            rules=rules,
            candidates=candidates,
            iterations=12,
        )
        result = run(given, folder, clients=local())
        assert result.summary["done"] == 12
        assert replay(folder).summary == result.summary
        records = read_trace(folder)
        check_trace(records)
        for record in records:
            assert len(record["candidates"]) <= 3 * record["n_planned"]
            assert record["child"] is None or record["selected_slot"] is not None
            assert record["child"] is None or record["child"]["admitted"]
        if retriever == "oracle":
            assert all(record["prompt_docs"] for record in records)
        purposes = result.summary["usage"].keys()
        assert ("guide" in purposes) == (scaffold == "evox")


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
