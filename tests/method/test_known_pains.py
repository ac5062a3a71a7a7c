"""What users of such tools complain of (methods.md section 6), tried on whole runs.

Elsewhere: what P1 leaves behind in tests/attacks (ignored_signals), P5 in test_killed_runs.py, P6,
P8 and P9 in test_answers_parity.py, test_candidates.py and test_json_answers.py, P16 in tests/tasks
(for packings test_packing.py).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fake_task import LocalEvaluator, LocalModel, LocalSearch, clients, config
from hypothesis import given, settings
from hypothesis import strategies as st
from steady_traces import steady_trace
from toy_task import write_toy_task

from method.config import ConfigProblem, make_config
from method.journal import read_journal
from method.ports import Paused
from method.protocols import Completion, EvalResult, Request, SearchResponse
from method.runs import Clients, resume, run
from method.trace import read_trace

HANGS = (Path(__file__).parents[1] / "attacks" / "programs" / "ignored_signals.py").read_text()


class Answers:
    """A model that generates the given programs in turn and says nothing else of use."""

    name = "answers"

    def __init__(self, programs: Sequence[str]) -> None:
        self._programs = list(programs)

    async def sample(self, request: Request) -> list[Completion]:
        return [self._one(request.purpose) for _ in request.slots]

    def _one(self, purpose: str) -> Completion:
        if purpose != "generation" or not self._programs:
            return Completion("nothing")
        return Completion(f"```python\n{self._programs.pop(0)}\n```")


@pytest.mark.slow
def test_p1_a_program_that_ignores_signals_does_not_stop_the_run(tmp_path: Path) -> None:
    task = write_toy_task(tmp_path)
    declared = (task / "task.toml").read_text()
    (task / "task.toml").write_text(declared.replace("wall_s = 20", "wall_s = 3"))
    good = "def run_code():\n    return [0.5] * 4\n"
    given_config = make_config(
        None, task=str(task), model="offline/perturb", method="none", edit="full", candidates=2,
        iterations=1, max_attempts=1, workers=2,
    )  # fmt: skip
    started = time.monotonic()
    run(given_config, tmp_path / "run", clients=Clients(Answers([HANGS, good]), LocalSearch()))
    assert time.monotonic() - started < 120
    (record,) = read_trace(tmp_path / "run")
    assert [c["eval"]["status"] for c in record["candidates"]] == ["timeout", "ok"]
    assert record["child"]["search_score"] == 2.0


class Verdicts(LocalEvaluator):
    """A negative scale; every candidate gets the next of the given verdicts."""

    def __init__(self, verdicts: Sequence[EvalResult]) -> None:
        super().__init__()
        self._verdicts = list(verdicts)

    async def evaluate(self, code: str) -> EvalResult:
        if "VALUE" not in code:
            return EvalResult("ok", -3.4, -3.4)
        return self._verdicts.pop(0)


ODD: list[Any] = [math.nan, math.inf, -math.inf, True, False, None, "9", 10**400, [1.0]]
"""What no comparison of scores may ever see."""


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ok", "invalid", "error", "timeout"]),
            st.sampled_from(ODD) | st.floats(-9, 9),
        ),
        min_size=4,
        max_size=4,
    ),
    st.sampled_from(["openevolve-native", "topk"]),
)
def test_p2_p3_only_finite_scores_of_valid_programs_count(
    tmp_path_factory: pytest.TempPathFactory, verdicts: list[tuple[Any, Any]], scaffold: str
) -> None:
    """A failed child (with fitness 0, or NaN first in line) never beats a valid one of -3.4."""
    folder = tmp_path_factory.mktemp("run")
    results = [EvalResult(status, score, score, {"m": score}) for status, score in verdicts]
    programs = [f"VALUE = {n}\n" for n in range(4)]
    given_config = config(
        method=f"{scaffold}+none", candidates=1, iterations=4, max_attempts=1, edit="full"
    )
    evaluator = Verdicts(results)
    result = run(given_config, folder, clients=Clients(Answers(programs), None, evaluator))
    valid = [
        float(score)
        for status, score in verdicts
        if status == "ok" and type(score) is float and math.isfinite(score)
    ]
    assert result.summary["best"]["search_score"] == max([-3.4, *valid])
    children = [record["child"] for record in read_trace(folder)]
    assert [child["search_score"] for child in children if child] == valid


def test_p5_a_finished_run_is_finished(tmp_path: Path) -> None:
    """Resuming it, however often, adds nothing, asks nobody and loses no program."""
    folder = tmp_path / "run"
    first = run(config(iterations=5), folder, clients=clients())
    journal = (folder / "journal.jsonl").read_bytes()
    for _ in range(2):
        model, evaluator = LocalModel(), LocalEvaluator()
        again = resume(folder, clients=Clients(model, LocalSearch(), evaluator))
        assert (again.status, again.summary) == ("finished", first.summary)
        assert (model.calls, evaluator.evaluated) == (0, [])
    assert (folder / "journal.jsonl").read_bytes() == journal


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"enforce_evolve_blocks": True}, "enforce_evolve_blocks"),
        ({"switches": {"gate.parsr": "chain"}}, r"gate\.parsr"),
        ({"method": "openevolve-package+none", "scaffold_options": {"diff_pattern": "x"}}, "diff"),
        ({"method": "evox+none", "scaffold_options": {"num_islands": 3}}, "num_islands"),
        ({"scaffold_options": {"population_size": 9}}, "population_size"),
    ],
)
def test_p11_no_option_is_ignored(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises((ConfigProblem, ValueError), match=message):
        run(config(**options, iterations=1), tmp_path / "run", clients=clients())
    assert not (tmp_path / "run" / "journal.jsonl").exists()


LONG = " ".join(["circle packing with unequal radii in a unit square"] * 9)


class LongQueries(LocalModel):
    """Asks for more than Tavily takes."""

    async def sample(self, request: Request) -> list[Completion]:
        if request.purpose == "query":
            return [Completion(f'{{"query": "{LONG}"}}') for _ in request.slots]
        return await super().sample(request)


class Strict(LocalSearch):
    """Refuses long queries, as the provider does."""

    async def search(self, query: str, max_results: int, depth: str) -> SearchResponse:
        if len(query) > 400:
            return SearchResponse(error="400 query too long", error_kind="refused")
        return await super().search(query, max_results, depth)


def test_p13_long_queries_are_cut_or_cost_their_attempt(tmp_path: Path) -> None:
    for rules in ("official", "robust"):
        folder = tmp_path / rules
        given_config = config(iterations=2, gate="always", rounds=1, rules=rules)
        run(given_config, folder, clients=Clients(LongQueries(), Strict(), LocalEvaluator()))
        for record in read_trace(folder):
            (entry,) = record["rounds"]
            (query,), (search,) = entry["queries"], entry["searches"]
            assert query["text"] == LONG
            assert query["executed"]
            assert record["search_usage"]["requests"] == 1
            if rules == "official":
                assert (query["wire_text"], query["wire_truncated"]) == (LONG, False)
                assert (search["status"], search["results"]) == ("error", [])
                assert record["n_planned"] == 3
            else:
                assert query["wire_truncated"]
                assert len(query["wire_text"]) <= 400
                assert LONG.startswith(query["wire_text"] + " ")
                assert len(search["results"]) == 3


class UsedUp(LocalSearch):
    """Its plan is used up after some searches."""

    def __init__(self, good: int) -> None:
        super().__init__()
        self.good = good

    async def search(self, query: str, max_results: int, depth: str) -> SearchResponse:
        self.good -= 1
        if self.good < 0:
            return SearchResponse(error="432 plan limit", error_kind="quota")
        return await super().search(query, max_results, depth)


def test_p13_an_exhausted_quota_pauses_and_never_looks_like_an_empty_result(
    tmp_path: Path,
) -> None:
    given_config = config(iterations=5, gate="always")
    run(given_config, tmp_path / "whole", clients=clients())
    folder = tmp_path / "run"
    with pytest.raises(Paused, match="quota: 432 plan limit"):
        run(given_config, folder, clients=Clients(LocalModel(), UsedUp(7), LocalEvaluator()))
    assert read_journal(folder)[-1].name == "interrupted"
    resume(folder, clients=clients())
    records, whole = steady_trace(folder), steady_trace(tmp_path / "whole")
    assert [record["child"] for record in records] == [record["child"] for record in whole]
    assert [record["rounds"] for record in records] == [record["rounds"] for record in whole]


def test_p15_on_request_a_run_goes_on_without_its_provider(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    given_config = config(iterations=3, gate="always", on_outage="continue")
    result = run(given_config, folder, clients=Clients(LocalModel(), UsedUp(0), LocalEvaluator()))
    assert result.status == "finished"
    searches = [s for r in read_trace(folder) for e in r["rounds"] for s in e["searches"]]
    assert searches
    assert {search["error"] for search in searches} == {"432 plan limit"}


def test_p17_scores_keep_every_digit_in_prompts(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    score = 0.7226904827364518
    evaluator = Verdicts([EvalResult("ok", score, score)] * 9)
    given_config = config(method="none", candidates=1, iterations=2)
    run(given_config, folder, clients=Clients(Answers(["VALUE = 1\n"]), None, evaluator))
    prompts = [path.read_text() for path in (folder / "blobs").rglob("*") if path.is_file()]
    assert any(f"combined_score: {score!r}" in text for text in prompts)
