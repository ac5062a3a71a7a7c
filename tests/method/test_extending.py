"""Runs that go on beyond their T, and what is noticed before a run's folder is made."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from fake_task import LocalEvaluator, clients, config

from method.config import ConfigProblem
from method.engine import EvaluatorUnavailable
from method.journal import FILE_NAME, read_journal
from method.registry import make_retriever, make_scaffold, prompt_task
from method.runs import replay, resolved, resume, run, summarise
from method.trace import read_trace

VOLATILE = {"run_id", "started", "ended", "latency_s", "wall_s", "cpu_s", "max_rss", "reruns"}


def steady(value: Any) -> Any:
    """A trace without what may differ between two runs of the same thing."""
    if isinstance(value, dict):
        return {name: steady(item) for name, item in value.items() if name not in VOLATILE}
    return [steady(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "topk+evoduet", "gate": "stagnation"},
        {"method": "joint"},
        {"rules": "robust"},
    ],
)
def test_an_extended_run_is_the_longer_run(tmp_path: Path, options: dict[str, Any]) -> None:
    folder = tmp_path / "run"
    run(config(iterations=6, **options), folder, clients=clients())
    before = (folder / FILE_NAME).read_bytes()
    result = resume(folder, iterations=11, clients=clients())
    assert (result.status, result.summary["T"], result.summary["done"]) == ("finished", 11, 11)
    assert (folder / FILE_NAME).read_bytes().startswith(before)
    events = [event.name for event in read_journal(folder)]
    assert (events.count("extended"), events.count("run_finished")) == (1, 2)
    assert replay(folder).summary == result.summary
    if options.get("gate") != "stagnation":  # its window follows the first T
        run(config(iterations=11, **options), tmp_path / "long", clients=clients())
        assert steady(read_trace(folder)) == steady(read_trace(tmp_path / "long"))
    with pytest.raises(ConfigProblem, match=r"T of .* is 11 already; give more"):
        resume(folder, iterations=11, clients=clients())
    assert resume(folder, clients=clients()).summary == result.summary
    assert resume(folder, iterations=12, clients=clients()).summary["done"] == 12


def test_held_out_scores_stay_out_of_the_prompts_of_an_extended_run(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    given = config(iterations=6, report_iterations=(3,))
    first = run(given, folder, clients=clients(LocalEvaluator(held_out=True)))
    assert first.summary["best"]["reporting"] > 1234
    longer = resume(folder, iterations=11, clients=clients(LocalEvaluator(held_out=True)))
    assert longer.summary["done"] == 11
    assert longer.summary["best"]["reporting"] > 1234
    texts = [path.read_text() for path in (folder / "blobs").rglob("*") if path.is_file()]
    assert len(texts) > 11
    secrets = ("1234.5678", str(first.summary["best"]["reporting"]), "held_out", "reporting")
    assert not [secret for secret in secrets if any(secret in text for text in texts)]
    assert replay(folder).summary == longer.summary


def test_a_run_that_was_interrupted_can_be_extended(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    run(config(iterations=8), whole, clients=clients())
    lines = (whole / FILE_NAME).read_bytes().splitlines(keepends=True)
    cut.mkdir()
    (cut / FILE_NAME).write_bytes(b"".join(lines[: len(lines) // 2]))
    (cut / "blobs").symlink_to(whole / "blobs")
    resume(cut, iterations=10, clients=clients())
    assert steady(read_trace(cut))[:8] == steady(read_trace(whole))
    assert summarise(cut)["status"] == "finished"


def test_a_run_that_stopped_at_its_budget_replays(tmp_path: Path) -> None:
    result = run(config(iterations=50, max_cost=0.2), tmp_path / "run", clients=clients())
    assert result.status == "budget"
    assert replay(tmp_path / "run").summary == result.summary


@pytest.mark.parametrize(
    ("method", "package"), [("openevolve-package+none", "openevolve"), ("evox", "skydiscover")]
)
def test_a_missing_package_leaves_no_folder(
    tmp_path: Path, method: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = metadata.version

    def version(name: str) -> str:
        if name == package:
            raise metadata.PackageNotFoundError(name)
        return found(name)

    monkeypatch.setattr(metadata, "version", version)
    method = method if "+" in method else f"{method}+none"
    with pytest.raises(ConfigProblem, match=rf"needs the package {package}.*pip install"):
        run(config(method=method, iterations=1), tmp_path / "run", clients=clients())
    assert not (tmp_path / "run").exists()


def test_a_task_that_cannot_be_evaluated_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmark.availability.missing_parts", lambda task: ["library x"])
    with pytest.raises(EvaluatorUnavailable, match=r"mathematics/cp26: unavailable: library x"):
        run(config(iterations=1), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_level_of_oracle_documents_is_an_option(tmp_path: Path) -> None:
    def titles(folder: Path, level: str | None) -> list[str]:
        options = {} if level is None else {"level": level}
        given = config(task="lj_13", method="oracle", retriever_options=options, iterations=1)
        run(given, folder, clients=clients())
        (record,) = read_trace(folder)
        return [document["title"] for document in record["documents"]]

    direct = titles(tmp_path / "direct", "direct")
    assert titles(tmp_path / "default", None) == direct
    assert titles(tmp_path / "inferential", "inferential") != direct
    given = config(method="oracle", retriever_options={"level": "direct"}, iterations=1)
    with pytest.raises(ConfigProblem, match="no oracle document of level direct"):
        run(given, tmp_path / "none", clients=clients())
    assert not (tmp_path / "none").exists()


def test_options_reach_retrievers_and_gates() -> None:
    def made(**options: Any) -> Any:
        chosen = resolved(config(iterations=30, **options))
        from benchmark.catalogue import find_task

        task = find_task(chosen.task)
        make_scaffold(chosen, prompt_task(chosen, task))
        return make_retriever(chosen, task)

    assert made(method="joint")._force_first is False
    assert made(method="joint", retriever_options={"force_first": True})._force_first is True
    assert made(method="sequential")._max_reflect == 1
    assert made(method="sequential", retriever_options={"max_reflect": 2})._max_reflect == 2
    gate = made(gate="stagnation", gate_window=4, gate_relative=True)._gate
    assert (gate._window, gate._relative) == (4, True)
    assert made(gate="random", gate_p=0.25)._gate.p == 0.25
