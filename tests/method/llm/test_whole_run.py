"""A whole run over HTTP: task, sandbox, litellm, Tavily's client, cassette."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stub_server import Reply, Seen, StubServer, chat, failure

from benchmark.cli import main
from method.config import RunConfig, make_config
from method.journal import read_journal
from method.runs import replay, run
from method.trace import read_trace

MODEL_KEY, SEARCH_KEY = "sk-whole-run-0123456789", "tvly-whole-run-0123456789"
PROGRAM = """A set from the literature.
```python
import math


def run_code():
    values = {values}
    sums = {{a + b for a in values for b in values}}
    differences = {{a - b for a in values for b in values}}
    size = len(values)
    return values, math.log(len(sums) / size) / math.log(len(differences) / size)
```
"""
SETS = ([0, 2, 3, 4, 7, 11, 12, 14], [0, 1, 3, 4, 5, 8, 12, 13, 15])


class Speaker:
    """A model that answers every kind of prompt; its second answer is lost, its third is late."""

    def __init__(self) -> None:
        self.candidates = 0

    def __call__(self, seen: Seen) -> Reply:
        if seen.number == 1:
            return Reply(fault="drop_in_body", body=chat())
        if seen.number == 2:
            return Reply(failure("slow down"), 429, {"Retry-After": "0.2"})
        return Reply(chat(self.text(seen.body["messages"], seen.headers["authorization"])))

    def text(self, messages: list[dict[str, Any]], key: str) -> str:
        prompt = messages[-1]["content"]
        if "document_predictions" in prompt:
            refs = re.findall(r"^doc_id: (evidence_\d+)$", prompt, re.M)
            rows = [{"evidence_ref": ref, "estimated_child_score": 1.1} for ref in refs]
            return json.dumps({"document_predictions": rows, "knowledge_state_analysis": "more"})
        if '"decision"' in prompt:
            answer = {"knowledge_state_analysis": f"I hold {key}", "decision": "retrieve"}
            return json.dumps({**answer, "reasoning": "why not", "search_document_ids": []})
        if '"query"' in prompt:
            return json.dumps({"query": 'sets with "more sums" than differences (MSTD)?'})
        if "Population Statistics:" in prompt:
            return "One program."
        self.candidates += 1
        return PROGRAM.format(values=SETS[self.candidates % 2])


def web(seen: Seen) -> Reply:
    if seen.path == "/usage":
        return Reply({"key": {"usage": 1, "limit": 1000}})
    if seen.number == 1:
        return Reply({"detail": {"error": "broken"}}, 500)
    rows = [
        {"url": f"https://example.org/{seen.number}", "title": "MSTD", "content": "Sets."},
        {"url": "https://github.com/Open-Galapagos/EvoDuet", "title": "x", "content": "answers"},
    ]
    return Reply({"results": rows, "usage": {"credits": 2}})


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[StubServer, StubServer]]:
    monkeypatch.setenv("GATEWAY_API_KEY", MODEL_KEY)
    monkeypatch.setenv("TAVILY_API_KEY", SEARCH_KEY)
    with StubServer(Speaker()) as model, StubServer(web) as search:
        yield model, search


def written(folder: Path, model: StubServer, search: StubServer) -> Path:
    """The configuration as a user writes it."""
    (folder / "prices.toml").write_text(
        '[models."openai/local-model"]\ninput = 1\noutput = 2\n[search.tavily]\nper_credit = 0.01\n'
    )
    file = folder / "run.toml"
    file.write_text(
        'task = "mathematics/sums_diffs"\nmethod = "evoduet"\nmodel = "openai/local-model"\n'
        f'search = "tavily"\nedit = "full"\niterations = 2\ncandidates = 2\nrounds = 2\n'
        f'prices = "{folder}/prices.toml"\ncassette = "{folder}/tape.jsonl"\nmax_cost = 5.0\n'
        f'[client]\napi_base = "{model.address}/v1"\napi_key_env = "GATEWAY_API_KEY"\n'
        f'[web]\napi_base = "{search.address}"\n'
    )
    return file


def every_file(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path, path.read_bytes().decode("utf-8", errors="replace")


def answers(folder: Path, name: str) -> list[Any]:
    return [event.data["answer"] for event in read_journal(folder) if event.name == name]


def test_a_run_over_http(
    tmp_path: Path,
    servers: tuple[StubServer, StubServer],
    capsys: pytest.CaptureFixture[str],
) -> None:
    model, search = servers
    file = written(tmp_path, model, search)
    given: RunConfig = make_config(file)
    result = run(given, tmp_path / "run")
    assert (result.status, result.summary["done"]) == ("finished", 2)

    calls, searches = answers(tmp_path / "run", "model_call"), answers(tmp_path / "run", "search")
    assert [answer["error"] for answer in (*calls, *searches)] == [None] * len([*calls, *searches])
    # Twice, in each iteration: gate, analysis, two queries, scorings, two candidates.
    assert sum(call["attempts"] for call in calls) == len(model.seen) == len(calls) + 2
    assert result.summary["cost_usd"] == pytest.approx(len(calls) * 0.002 + len(searches) * 0.02)
    assert result.summary["unpriced_calls"] == 0
    assert result.summary["search_usage"]["credits"] == 2 * len(searches)
    assert all(call["effective_params"]["temperature"] == 0.7 for call in calls)
    candidates = [c for record in read_trace(tmp_path / "run") for c in record["candidates"]]
    assert {c["eval"]["status"] for c in candidates} == {"ok"}
    assert len(candidates) == 4

    manifest = read_journal(tmp_path / "run")[0].data
    assert manifest["client"]["provider"] == "openai"
    assert manifest["prices"]["models"]["openai/local-model"]["output"] == 2
    assert "Open-Galapagos/EvoDuet" in manifest["blocklist"]["repositories"]

    files = dict(every_file(tmp_path))
    assert any("I hold Bearer [redacted]" in text for text in files.values())
    for path, text in files.items():
        assert MODEL_KEY not in text, path
        assert SEARCH_KEY not in text, path
        if path.name != "tape.jsonl":  # which holds what the provider returned
            assert "https://github.com/Open-Galapagos" not in text, path

    replay(tmp_path / "run")
    before = len(model.seen), len(search.seen)
    with pytest.raises(SystemExit) as left:
        main(["run", "--config", str(file), "--replay", "--out", str(tmp_path / "again"), "--json"])
    assert left.value.code == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (len(model.seen), len(search.seen)) == before
    assert summary["best"] == result.summary["best"]
    assert summary["usage"] == result.summary["usage"]
