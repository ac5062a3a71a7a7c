"""Whole runs: they can be stopped anywhere, resumed, replayed and paid for once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fake_task import LocalEvaluator, clients, config
from steady_traces import steady, steady_trace

from method.config import ConfigProblem, make_config
from method.engine import InvalidSeed
from method.journal import FILE_NAME, read_journal
from method.ports import Divergence, Incomplete, Paused
from method.protocols import Completion, Request
from method.runs import Clients, best_program, replay, resume, run, summarise
from method.trace import TraceProblem, check_trace, read_trace


def test_a_run_writes_journal_trace_and_summary(tmp_path: Path) -> None:
    result = run(config(iterations=8), tmp_path / "run", clients=clients())
    assert result.status == "finished"
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary == json.loads(json.dumps(result.summary))
    assert summary["done"] == 8
    assert summary["best"]["search_score"] > summary["x0"]["search_score"]
    lines = (tmp_path / "run" / "trace.jsonl").read_text().splitlines()
    assert [json.loads(line)["t"] for line in lines] == list(range(1, 9))
    code, _ = best_program(tmp_path / "run")
    assert f"VALUE = {summary['best']['search_score']:.4f}" in code
    with pytest.raises(ConfigProblem, match="holds a run already"):
        run(config(iterations=8), tmp_path / "run", clients=clients())


def test_replay_needs_no_client_and_notices_differences(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    run(config(iterations=5), folder, clients=clients())
    records = read_trace(folder)
    check_trace(records)
    records[2]["parent"]["score"] = "high"
    with pytest.raises(TraceProblem, match="iteration 3: parent/score"):
        check_trace(records)
    before = (folder / FILE_NAME).read_bytes()
    assert replay(folder).summary == summarise(folder)
    assert (folder / FILE_NAME).read_bytes() == before
    events = before.splitlines(keepends=True)
    cut = tmp_path / "cut"
    cut.mkdir()
    (cut / "blobs").symlink_to(folder / "blobs")
    (cut / FILE_NAME).write_bytes(b"".join(events[: len(events) // 2]))
    with pytest.raises(Incomplete):
        replay(cut)


def test_other_code_on_resume_is_a_divergence_not_a_mixture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    run(config(iterations=4), folder, clients=clients())
    monkeypatch.setattr("method.scaffolds.native_population.ISLANDS", 2)
    with pytest.raises(Divergence, match="replay divergence at"):
        replay(folder)


@pytest.mark.parametrize("method", ["openevolve-native+evoduet", "topk+joint", "sequential"])
def test_two_processes_with_other_hash_seeds_agree(tmp_path: Path, method: str) -> None:
    """Byte for byte: keys stand in the same order, numbers are written the same way."""
    code = (
        "import sys; sys.path[:0] = sys.argv[3:]\n"
        "from pathlib import Path\n"
        "from fake_task import clients, config\nfrom method.runs import run\n"
        "given = config(iterations=5, method=sys.argv[2], rules='robust')\n"
        "run(given, Path(sys.argv[1]), clients=clients())\n"
    )
    here = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
    for seed in ("1", "2"):
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / seed), method, *here],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
    traces = [
        [
            json.dumps(steady(json.loads(line)))
            for line in (tmp_path / seed / "trace.jsonl").read_text().splitlines()
        ]
        for seed in ("1", "2")
    ]
    assert len(traces[0]) == 5
    assert traces[0] == traces[1]


def test_an_invalid_seed_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(InvalidSeed, match="no number"):
        run(config(iterations=3), tmp_path / "run", clients=clients(LocalEvaluator(x0_valid=False)))


def test_a_budget_finishes_the_iteration_and_says_so(tmp_path: Path) -> None:
    result = run(config(iterations=50, max_cost=0.2), tmp_path / "run", clients=clients())
    assert result.status == "budget"
    assert 0 < result.summary["done"] < 50
    assert result.summary["cost_usd"] >= 0.2
    events = [event.name for event in read_journal(tmp_path / "run")]
    assert events[-2:] == ["iteration_done", "run_finished"]


class Failing:
    """A provider that is down after some calls."""

    name = "failing"

    def __init__(self, good: int) -> None:
        self.good = good
        self.inner = clients().model

    async def sample(self, request: Request) -> list[Completion]:
        assert self.inner is not None
        self.good -= len(request.slots)
        if self.good >= 0:
            return await self.inner.sample(request)
        down = Completion(text="", error="connection refused", error_kind="transport")
        return [down for _ in request.slots]


def test_an_outage_pauses_and_the_resumed_run_is_the_uninterrupted_one(tmp_path: Path) -> None:
    run(config(iterations=6), tmp_path / "whole", clients=clients())
    healthy = clients()
    broken = Clients(Failing(12), healthy.search, healthy.evaluator)
    with pytest.raises(Paused, match="calls in a row failed"):
        run(config(iterations=6), tmp_path / "run", clients=broken)
    assert summarise(tmp_path / "run")["status"] == "interrupted:external"
    result = resume(tmp_path / "run", clients=clients())
    assert result.status == "finished"
    children = [
        [record["child"] for record in steady_trace(tmp_path / name)] for name in ("run", "whole")
    ]
    assert children[0] == children[1]


def test_held_out_values_never_enter_a_prompt(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    given = config(iterations=8, report_iterations=(2, 4))
    result = run(given, folder, clients=clients(LocalEvaluator(held_out=True)))
    assert result.summary["best"]["reporting"] > 1234
    reports = [record["report"] for record in read_trace(folder) if record["report"]]
    assert len(reports) == 3  # the chosen ones and the last
    blobs = [path.read_text() for path in (folder / "blobs").rglob("*") if path.is_file()]
    assert not any("1234.5678" in text or "held_out" in text for text in blobs)
    for record in read_trace(folder):
        for candidate in record["candidates"]:
            if candidate["eval"] is not None:
                assert candidate["eval"]["objective"] is None


def test_configuration_fails_on_typos_and_agrees_with_files(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text('task = "cp26"\nmodel = "offline/perturb"\ninner_rounds = 2\nseed = 7\n')
    by_options = make_config(None, task="cp26", model="offline/perturb", rounds=2, seed=7)
    assert make_config(file) == by_options
    assert make_config(file, seed=8).seed == 8
    file.write_text('task = "cp26"\nmodel = "m"\nroundz = 2\n')
    with pytest.raises(ConfigProblem, match=r"run\.toml: roundz: unknown key"):
        make_config(file)
    with pytest.raises(ConfigProblem, match=r"method: .*SCAFFOLD\+"):
        make_config(None, task="cp26", model="m", method="magic")
    with pytest.raises(ConfigProblem, match="iterations"):
        make_config(None, task="cp26", model="m", iterations=-1)
