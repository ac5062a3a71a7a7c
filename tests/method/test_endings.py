"""How runs end: what is written, what the summary says, and that nobody waits for a candidate."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fake_task import LocalEvaluator, clients, config
from steady_traces import steady_trace

from method import run as run_method
from method.config import make_config
from method.engine import EvaluatorUnavailable, InvalidSeed
from method.journal import FILE_NAME, read_journal
from method.llm.scripted import ScriptedModel
from method.ports import Paused
from method.protocols import Completion, EvalResult, Request
from method.runs import Clients, resume, run, summarise
from method.trace import check_trace, read_written

SLEEPER = """
generation:
  - |
    ```python
    import time

    def run_code():
        time.sleep(300)
    ```
"""


class Down:
    """A provider without quota."""

    name = "down"

    async def sample(self, request: Request) -> list[Completion]:
        return [Completion("", error="no credit", error_kind="quota") for _ in request.slots]


class Broken(LocalEvaluator):
    """An evaluator that breaks after the initial program."""

    async def evaluate(self, code: str) -> EvalResult:
        if self.evaluated:
            return EvalResult("unavailable", None, reason="infrastructure: no sandbox")
        return await super().evaluate(code)


def written(folder: Path) -> dict[str, object]:
    """The summary file, which is what the journal says; the trace beside it is valid."""
    summary: dict[str, object] = json.loads((folder / "summary.json").read_text())
    assert summary == json.loads(json.dumps(summarise(folder)))
    assert len(read_written(folder)) == summary["done"]
    assert (folder / "documents.jsonl").is_file()
    return summary


def test_a_pause_writes_what_a_run_writes(tmp_path: Path) -> None:
    healthy = clients()
    with pytest.raises(Paused):
        run(config(), tmp_path / "run", clients=Clients(Down(), healthy.search, healthy.evaluator))
    assert written(tmp_path / "run")["status"] == "interrupted:external"
    with pytest.raises(EvaluatorUnavailable):
        run(config(), tmp_path / "other", clients=clients(Broken()))
    assert written(tmp_path / "other")["status"] == "interrupted:external"
    assert resume(tmp_path / "other", iterations=101, clients=clients()).status == "finished"


def test_a_seed_without_a_score_has_failed(tmp_path: Path) -> None:
    for again in (run, run):
        with pytest.raises(InvalidSeed):
            again(config(), tmp_path / "run", clients=clients(LocalEvaluator(x0_valid=False)))
        summary = written(tmp_path / "run")
        assert (summary["status"], summary["ndg"]) == ("failed", None)
        assert read_journal(tmp_path / "run")[-1].name == "run_finished"
        (tmp_path / "run" / FILE_NAME).write_bytes(b'{"seq":0,')  # killed in its first event


def test_every_sample_is_journalled_before_it_is_evaluated(tmp_path: Path) -> None:
    run(config(iterations=4), tmp_path / "run", clients=clients())
    read: dict[tuple[int, ...], str] = {}
    for event in read_journal(tmp_path / "run"):
        if event.name == "sample":
            read[tuple(event.data["key"])] = event.data["code_sha256"]
        elif event.name == "evaluation_started" and event.data["t"]:
            *place, code, _ = event.data["key"]
            assert read[tuple(place)] == code
    told = [
        (record["t"], candidate["attempt"], candidate["slot"])
        for record in read_written(tmp_path / "run")
        for candidate in record["candidates"]
    ]
    assert list(read) == told


def test_going_on_with_a_finished_run_writes_no_event(tmp_path: Path) -> None:
    run(config(iterations=2), tmp_path / "run", clients=clients())
    before = (tmp_path / "run" / FILE_NAME).read_bytes()
    assert resume(tmp_path / "run", clients=clients()).status == "finished"
    assert (tmp_path / "run" / FILE_NAME).read_bytes() == before


def test_a_result_has_the_fields_of_the_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run_method("cp26", "topk+none", "offline/perturb", iterations=1, candidates=1)
    assert Path(result.out).parent == Path("results/runs")
    assert (result.T, result.done, result.cost_usd) == (1, 1, 0.0)
    assert result.best["search_score"] >= result.x0["search_score"]
    with pytest.raises(AttributeError, match="no 'worst'"):
        _ = result.worst
    events = read_journal(tmp_path / result.out)
    assert {"revision", "versions", "prompts", "prices"} <= events[0].data.keys()


def test_a_script_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """A list of answers is used up over the whole run, whoever was killed in between."""
    numbers = [f"A number.\n```python\nVALUE = 0.{n}\n```" for n in range(1, 8)]
    script = tmp_path / "script.toml"
    script.write_text(f"generation = {json.dumps(numbers)}")
    given = make_config(None, task="cp26", method="none", model=f"scripted:{script}", edit="full",
                        candidates=1, iterations=5, isolation="process")  # fmt: skip
    model = ScriptedModel.from_file(script)
    local = Clients(None, None, LocalEvaluator())
    run(given, tmp_path / "whole", clients=Clients(model, None, LocalEvaluator()))
    run(given.model_copy(update={"iterations": 2}), tmp_path / "parts", clients=local)
    resume(tmp_path / "parts", iterations=5, clients=local)
    children = [
        [record["child"]["search_score"] for record in steady_trace(tmp_path / name)]
        for name in ("whole", "parts")
    ]
    assert children[0] == children[1] == [0.1, 0.2, 0.3, 0.4, 0.5]


def test_a_spec_shaped_record_is_valid(tmp_path: Path) -> None:
    """Fields beyond those of methods.md section 3 may be missing."""
    run(config(iterations=6, gate="always"), tmp_path / "run", clients=clients())
    for record in read_written(tmp_path / "run"):
        for name in ("flags", "prompt_version"):
            del record[name]
        for candidate in record["candidates"]:
            for name in ("flags", "blocks", "error"):
                del candidate[name]
            if candidate["eval"] is not None:
                del candidate["eval"]["reason"]
        for entry in record["rounds"]:
            for search in entry["searches"]:
                del search["blocked"]
        check_trace([record])


@pytest.mark.slow
def test_two_interrupts_do_not_wait_for_a_candidate(tmp_path: Path) -> None:
    (tmp_path / "script.yaml").write_text(SLEEPER)
    folder = tmp_path / "run"
    running = subprocess.Popen(
        [sys.executable, "-m", "benchmark.cli", "run", "--task", "cp26", "--method", "none",
         "--model", f"scripted:{tmp_path / 'script.yaml'}", "--edit", "full", "-N", "1", "-T", "1",
         "--out", str(folder), "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        journal = folder / FILE_NAME
        while not journal.exists() or journal.read_text().count('"evaluation_started"') < 2:
            assert running.poll() is None
            time.sleep(0.05)
        for _ in range(2):
            os.kill(running.pid, signal.SIGINT)
            time.sleep(0.5)
        said, complaint = running.communicate(timeout=100)
    finally:
        running.kill()
    assert running.returncode == 75, complaint
    assert "evoduet resume" in complaint
    assert json.loads(said)["status"] == "interrupted"
    assert written(folder)["status"] == "interrupted"
