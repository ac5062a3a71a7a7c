"""Model, search or evaluator down: exit 75 or 3, resumable, and no answer is paid for twice."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from fake_task import LocalEvaluator, LocalModel, LocalSearch, config
from steady_traces import steady_trace

from method.journal import read_journal
from method.protocols import Completion, EvalResult, Request, SearchResponse
from method.runs import Clients, run, summarise

TESTS = Path(__file__).resolve().parents[1]
COMMAND = ["--task", "cp26", "--model", "offline/perturb", "--edit", "full", "--method", "evoduet",
           "--candidates", "2", "--iterations", "8", "--seed", "1"]  # fmt: skip

SCRIPT = """
import functools, sys
sys.path[:0] = sys.argv[1:5]
import method.runs
from benchmark import cli
from faults.test_outages import weak_clients
made = weak_clients(sys.argv[5], sys.argv[6])
for name in ("run", "resume"):
    setattr(method.runs, name, functools.partial(getattr(method.runs, name), clients=made))
cli.main(sys.argv[7:])
"""


class Ledger:
    """Writes down every answer that was paid for; after ``good`` calls the service is down."""

    def __init__(self, path: Path, good: int) -> None:
        self.path, self.good = path, good

    def up(self, what: str) -> bool:
        self.good -= 1
        if self.good < 0:
            return False
        with self.path.open("a") as file:
            file.write(json.dumps(what) + "\n")
        return True


class WeakModel(LocalModel):
    def __init__(self, ledger: Ledger, kind: str) -> None:
        super().__init__()
        self.ledger, self.kind = ledger, kind

    async def sample(self, request: Request) -> list[Completion]:
        (answer,) = await super().sample(request)
        if self.ledger.up(f"model {request.purpose} {request.slots} {answer.text}"):
            return [answer]
        kind: Any = self.kind
        return [Completion(text="", error="it does not answer", error_kind=kind)]


class WeakSearch(LocalSearch):
    def __init__(self, ledger: Ledger, kind: str) -> None:
        super().__init__()
        self.ledger, self.kind = ledger, kind

    async def search(self, query: str, max_results: int, depth: str) -> SearchResponse:
        if self.ledger.up(f"search {query}"):
            return await super().search(query, max_results, depth)
        kind: Any = self.kind
        return SearchResponse(error="it does not answer", error_kind=kind)


class WeakEvaluator(LocalEvaluator):
    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self.ledger = ledger

    async def evaluate(self, code: str) -> EvalResult:
        if self.ledger.up(f"evaluation {code}"):
            return await super().evaluate(code)
        return EvalResult("unavailable", None, reason="infrastructure: the sandbox is broken")


def weak_clients(folder: str, down: str) -> Clients:
    """``down``: ``SERVICE[+SERVICE]:KIND:CALLS THAT STILL WORK``, or empty when all is well."""
    service, _, rest = down.partition(":")
    kind, _, good = rest.partition(":")
    ledgers = {
        name: Ledger(
            Path(folder) / "ledger.txt", int(good) if name in service.split("+") else 10**9
        )
        for name in ("model", "search", "evaluator")
    }
    return Clients(
        WeakModel(ledgers["model"], kind),
        WeakSearch(ledgers["search"], kind),
        WeakEvaluator(ledgers["evaluator"]),
    )


def evoduet(folder: Path, down: str, *words: object) -> subprocess.CompletedProcess[str]:
    paths = [str(TESTS.parent), str(TESTS), str(TESTS / "method"), ""]
    command = [sys.executable, "-c", SCRIPT, *paths, str(folder), down, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=TESTS.parent)


def paid(folder: Path) -> Counter[str]:
    return Counter((folder / "ledger.txt").read_text().splitlines())


def without_usage(folder: Path) -> list[Any]:
    """The trace without the counts of calls: those that failed are in them."""
    return [
        {name: value for name, value in record.items() if name not in ("usage", "search_usage")}
        for record in steady_trace(folder)
    ]


PASSED_ON = ("model:transport:9", "model+search:transport:1")
"""Single failures before the fifth are answers too: the run went on with them."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run that nothing disturbed, and its ledger beside it."""
    folder = tmp_path_factory.mktemp("whole")
    given = config(task="cp26", method="evoduet", candidates=2, iterations=8, seed=1)
    run(given, folder / "run", clients=weak_clients(str(folder), ""))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("down", "code", "words"),
    [
        ("model:transport:9", 75, "calls in a row failed"),
        ("model:quota:7", 75, "quota"),
        ("model:key:5", 75, "key"),
        ("model+search:transport:1", 75, "calls in a row failed"),
        ("search:quota:0", 75, "quota"),
        ("evaluator:transport:6", 3, "the sandbox is broken"),
    ],
)
def test_an_outage_pauses_and_nothing_is_paid_twice(
    whole: Path, tmp_path: Path, down: str, code: int, words: str
) -> None:
    folder = tmp_path / "run"
    stopped = evoduet(tmp_path, down, "run", *COMMAND, "--out", folder)
    assert stopped.returncode == code, stopped.stderr
    assert words in stopped.stderr
    assert "Traceback" not in stopped.stderr
    if "quota" in down:  # still down: it goes on waiting
        again = evoduet(tmp_path, down.rpartition(":")[0] + ":0", "resume", folder)
        assert again.returncode == code, again.stderr
    assert summarise(folder)["status"] in ("interrupted:external", "running")
    resumed = evoduet(tmp_path, "", "resume", folder, "--json")
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout)["done"] == 8
    if not down.endswith(PASSED_ON):
        assert without_usage(folder) == without_usage(whole / "run")
        assert paid(tmp_path) == paid(whole)
    answered = Counter(
        event.name
        for event in read_journal(folder)
        if event.name in ("model_call", "search", "evaluation")
        and not (event.data.get("answer") or {}).get("error")
        and (event.data.get("result") or {}).get("status") != "unavailable"
    )
    booked = Counter(json.loads(line).split()[0] for line in paid(tmp_path).elements())
    assert booked["model"] == answered["model_call"]
    assert booked["search"] == answered["search"]
    assert booked["evaluation"] == answered["evaluation"]
