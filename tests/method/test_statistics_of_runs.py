"""What population analyses of whole runs are told, by rules (methods.md 1.7)."""

from __future__ import annotations

import json
from collections import Counter
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from fake_task import LocalEvaluator, LocalModel, LocalSearch, config
from scaffolds.scaffold_cases import Strategist, needs

from method.protocols import Completion, Request
from method.runs import Clients, replay, run
from method.scaffolds.packages import PackageProblem
from method.trace import read_trace

HEAD = "Population Statistics:\n\n"


class Listening(LocalModel):
    """Keeps the statistics that it is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []

    async def sample(self, request: Request) -> list[Completion]:
        text = str(request.messages[-1]["content"])
        if text.startswith(HEAD):
            self.shown.append(text.removeprefix(HEAD))
        return await super().sample(request)


def statistics(folder: Path, **options: Any) -> tuple[list[str], list[dict[str, Any]]]:
    """The texts, and the records of the iterations that they were made in."""
    model = Listening()
    given = config(iterations=14, gate="always", **options)
    run(given, folder, clients=Clients(model, LocalSearch(), LocalEvaluator()))
    replay(folder)
    return model.shown, read_trace(folder)


def test_robust_statistics_count_invalid_children(tmp_path: Path) -> None:
    texts, records = statistics(tmp_path / "run", rules="robust", candidates=3)
    assert len(texts) == len(records) == 14
    drawn, invalid, planned = 0, 0, dict[int, int]()
    for text, record in zip(texts, records, strict=True):
        payload = json.loads(text)
        assert payload["candidates_per_iteration"] == record["n_planned"] == 3
        assert (payload["children_drawn"], payload["invalid_children"]) == (drawn, invalid)
        rate = payload["invalid_children_rate"]
        assert rate == (invalid / drawn if drawn else None)
        for row in payload["recent_trace"]:
            assert row["candidates"] == planned.get(row["iteration"])
        assert payload["copies_left_out"] >= 0
        planned[record["t"]] = record["n_planned"]
        answered = [c for c in record["candidates"] if c["parse"] != "llm_error"]
        drawn += len(answered)
        invalid += sum(c["eval"] is None or c["eval"]["status"] != "ok" for c in answered)
    assert 0 < invalid < drawn
    assert any(json.loads(text)["copies_left_out"] for text in texts)


def test_official_statistics_have_the_released_keys_only(tmp_path: Path) -> None:
    texts, _ = statistics(tmp_path / "run", rules="official")
    for text in texts:
        payload = json.loads(text)
        assert not {"children_drawn", "copies_left_out", "labels"} & payload.keys()
        assert all("candidates" not in row for row in payload["recent_trace"])


@needs("skydiscover", "0.1.0")
@pytest.mark.parametrize("rules", ["official", "robust"])
def test_statistics_in_the_words_of_evox(tmp_path: Path, rules: str) -> None:
    texts, records = statistics(tmp_path / "run", rules=rules, switches={"render": "evox"})
    assert len(texts) == 14
    assert all(record["population_analysis"] for record in records)
    for text in texts:
        with pytest.raises(json.JSONDecodeError):
            json.loads(text)
        assert "score" in text.lower()
    assert len(set(texts)) > 7


def test_the_words_of_evox_need_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Missing, it is named; statistics of another form would be another experiment."""

    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("method.scaffolds.packages.metadata.version", missing)
    with pytest.raises(Exception, match=r"skydiscover 0\.1\.0") as caught:
        statistics(tmp_path / "run", switches={"render": "evox"})
    assert "pip install" in str(caught.value)
    assert isinstance(caught.value, PackageProblem | ValueError)


class Clumsy(Strategist):
    """Generates nothing of use in two of three attempts."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()

    async def sample(self, request: Request) -> list[Completion]:
        self.asked[request.purpose] += 1
        if request.purpose == "generation" and self.asked["generation"] % 3:
            return [Completion("no program") for _ in request.slots]
        if request.purpose == "generation":
            value = 0.9 - 0.001 * self.asked["generation"]
            return [Completion(f"```python\nVALUE = {value}\n```") for _ in request.slots]
        return await super().sample(request)


@needs("skydiscover", "0.1.0")
@pytest.mark.parametrize(("counting", "iterations"), [(True, 4), (False, 12)])
def test_attempts_count_as_iterations_of_evox_when_asked(
    tmp_path: Path, counting: bool, iterations: int
) -> None:
    """Three attempts each: twelve iterations are four selections, as in the authors' manager."""
    folder = tmp_path / "run"
    options = {"window": 50, "guides": "default", "count_attempts": counting}
    given = config(method="evox+none", candidates=1, iterations=12, scaffold_options=options)
    local = Clients(Clumsy(), LocalSearch(), LocalEvaluator())
    result = run(given, folder, clients=local)
    records = read_trace(folder)
    assert result.status == "finished"
    assert [record["attempts"] for record in records] == [3] * iterations
    assert replay(folder).summary == result.summary


def test_other_scaffolds_count_selections(tmp_path: Path) -> None:
    run(
        config(method="topk+none", candidates=1, iterations=4),
        tmp_path / "run",
        clients=Clients(Clumsy(), LocalSearch(), LocalEvaluator()),
    )
    assert [record["attempts"] for record in read_trace(tmp_path / "run")] == [3] * 4
