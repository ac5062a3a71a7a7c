"""Methods of other distributions, found through the entry-point group ``evoduet.methods``."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_task import LocalEvaluator, clients, config

from method import plugins
from method.config import ConfigProblem, make_config
from method.journal import read_journal
from method.runs import Clients, replay, resume, run, summarise
from method.sources import MethodProblem
from method.trace import check_trace, read_trace

PARTS = '''
from method.protocols import GivenDocument, Retrieval
from method.scaffolds.topk import TopK


class Notes:
    name = "notes"

    def __init__(self, given):
        self.text = given.options.get("text", "a note")
        if set(given.options) - {"text"}:
            raise ValueError(f"options: {', '.join(given.options)}; known: text")

    async def retrieve(self, selection, snapshot, run):
        response = await run.search("notes", f"numbers {run.t}", 1)
        found = tuple(
            GivenDocument(hit.title, hit.url, hit.provider_id, hit.snippet, hit.raw)
            for hit in response.results
        )
        note = GivenDocument("Note", "", "notes:1", self.text, None)
        return Retrieval(None, (note, *found), n_candidates=run.settings.candidates)


class Best(TopK):
    name = "best"

    def __init__(self, given):
        super().__init__(given.prompt)


class Walk:
    """Proposes 0.1, 0.2, ...; checks that it is told everything."""

    def __init__(self, given):
        self.last, self.steps, self.act = None, given.iterations, given.options.get("act")

    def observe(self, evaluation):
        assert evaluation["t"] == (0 if self.last is None else self.last + 1)
        self.last = evaluation["t"]

    def propose(self):
        if self.act == "raise" and self.last == 1:
            raise KeyError("lost")
        if self.act == "number":
            return 7
        if self.act == "stop" and self.last == 2:
            return None
        if self.act == "sleep":
            import time
            time.sleep(600)
        return {"program": f"VALUE = {(self.last + 1) / 10}", "parent": 0, "changes": "a step"}


class Odd:
    def nothing(self):
        pass


def function(given):
    return Walk(given)


class Unhappy(Walk):
    def __init__(self, given):
        raise ValueError("needs another task")
'''

NAMES = {
    "notes": "parts:Notes", "best": "parts:Best", "walk": "parts:Walk", "odd": "parts:Odd",
    "function": "parts:function", "unhappy": "parts:Unhappy", "absent": "parts:Absent",
    "broken": "no_such_module:X", "evoduet": "parts:Notes",
}  # fmt: skip


def distribution(folder: Path, name: str, points: dict[str, str]) -> None:
    """An installed distribution that offers methods."""
    info = folder / f"{name}-2.5.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.5\n")
    lines = "".join(f"{key} = {value}\n" for key, value in points.items())
    (info / "entry_points.txt").write_text(f"[evoduet.methods]\n{lines}")


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    place = tmp_path / "site"
    distribution(place, "their-methods", NAMES)
    (place / "parts.py").write_text(PARTS)
    monkeypatch.syspath_prepend(str(place))
    plugins.load_plugin.cache_clear()
    yield
    plugins.load_plugin.cache_clear()


def own(**options: Any) -> Any:
    return make_config(None, **{"task": "cp26", "method": "walk", "iterations": 4, **options})


def only(evaluator: LocalEvaluator | None = None) -> Clients:
    return Clients(evaluator=evaluator or LocalEvaluator())


@pytest.mark.parametrize(
    ("method", "kept"),
    [
        ("notes", "openevolve-native+notes"),
        ("topk+notes", "topk+notes"),
        ("best+none", "best+none"),
        ("best+evoduet", "best+evoduet"),
        ("best+notes", "best+notes"),
    ],
)
def test_parts_of_others_compose_with_ours(tmp_path: Path, method: str, kept: str) -> None:
    options = {"retriever_options": {"text": "keep this"}} if "notes" in method else {}
    folder = tmp_path / "run"
    result = run(config(method=method, iterations=4, **options), folder, clients=clients())
    assert result.summary["method"] == kept
    check_trace(read_trace(folder))
    versions = read_journal(folder)[0].data["versions"]
    assert {versions[f"method {part}"] for part in kept.split("+") if part in NAMES
            and part != "evoduet"} == {"their-methods 2.5"}  # fmt: skip
    if "notes" in method:
        texts = [path.read_text() for path in (folder / "blobs").rglob("*") if path.is_file()]
        assert any("keep this" in text for text in texts)
    assert replay(folder).summary == result.summary


def test_a_whole_method_runs_resumes_and_replays(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with pytest.raises(MethodProblem, match=r"walk: KeyError: 'lost'; see .*method\.log"):
        run(own(method_options={"act": "raise"}), folder, clients=only())
    assert "in propose" in (folder / "method.log").read_text()
    assert summarise(folder)["done"] == 1
    longer = run(own(), tmp_path / "whole", clients=only())
    assert (longer.status, longer.summary["method"], longer.summary["done"]) == (
        "finished", "walk", 4,
    )  # fmt: skip
    assert longer.summary["best"]["search_score"] == 0.4
    assert replay(tmp_path / "whole").summary == longer.summary
    assert resume(tmp_path / "whole", iterations=6, clients=only()).summary["done"] == 6
    records = read_trace(tmp_path / "whole")
    check_trace(records)
    assert {record["parent"]["iteration"] for record in records} == {0}


def test_it_may_stop_and_may_not_return_anything(tmp_path: Path) -> None:
    result = run(own(method_options={"act": "stop"}), tmp_path / "stop", clients=only())
    assert (result.status, result.summary["done"]) == ("finished", 2)
    with pytest.raises(MethodProblem, match=r"propose\(\) returned a int"):
        run(own(method_options={"act": "number"}), tmp_path / "number", clients=only())


def test_one_that_hangs_does_not_keep_the_run(tmp_path: Path) -> None:
    started = time.monotonic()
    slow = own(method_options={"act": "sleep"}, proposal_timeout_s=0.5)
    with pytest.raises(MethodProblem, match=r"proposed nothing for 0\.5 s"):
        run(slow, tmp_path / "run", clients=only())
    assert time.monotonic() - started < 60


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("odd", r"method odd of their-methods 2\.5 .*is neither of the three kinds"),
        ("function", "must be a class, is a function"),
        ("absent", "AttributeError"),
        ("broken", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("best", r"best is a scaffold: write best\+RETRIEVER"),
        ("walk+none", r"unknown method 'walk\+none'.*installed beside them: absent, best"),
        ("topk+walk", "unknown method"),
        ("notes+none", "unknown method"),
        ("nowhere", "unknown method 'nowhere'"),
    ],
)
def test_what_cannot_be_used_is_told(method: str, message: str) -> None:
    with pytest.raises(ConfigProblem, match=message):
        make_config(None, task="cp26", model="offline/perturb", method=method)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "unhappy"}, "unhappy of their-methods 2.5: needs another task"),
        ({"method": "notes", "retriever_options": {"txt": "x"}}, "options: txt; known: text"),
    ],
)
def test_what_a_class_refuses_leaves_no_folder(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    given = make_config(None, **{"task": "cp26", "model": "m", **options})
    with pytest.raises(ConfigProblem, match=message):
        run(given, tmp_path / "run", clients=clients())
    assert not (tmp_path / "run").exists()


def test_a_name_offered_twice_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distribution(tmp_path / "more", "more-methods", {"walk": "elsewhere:Walk"})
    monkeypatch.syspath_prepend(str(tmp_path / "more"))
    plugins.load_plugin.cache_clear()
    with pytest.raises(ConfigProblem, match=r"offered by more-methods 2\.5 and their-methods"):
        own()


def test_our_names_are_not_taken_over(tmp_path: Path) -> None:
    run(config(method="evoduet", iterations=1), tmp_path / "run", clients=clients())
    assert read_trace(tmp_path / "run")[0]["gate"] is not None


def test_runs_are_listed_where_their_method_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(own(), tmp_path / "run", clients=only())
    monkeypatch.syspath_prepend("/nowhere")
    monkeypatch.setattr(plugins.metadata, "entry_points", lambda **group: ())
    plugins.load_plugin.cache_clear()
    assert summarise(tmp_path / "run")["method"] == "walk"
    assert replay(tmp_path / "run").summary["done"] == 4  # the proposals are in the journal
    with pytest.raises(ConfigProblem, match="unknown method 'walk'"):
        resume(tmp_path / "run", clients=only())


def test_an_interrupt_while_it_thinks_ends_at_once(tmp_path: Path) -> None:
    import os
    import signal
    import threading

    from method.engine import Stopped

    stop: Callable[[], None] = lambda: os.kill(os.getpid(), signal.SIGINT)  # noqa: E731
    timer = threading.Timer(1.0, stop)
    timer.start()
    with pytest.raises(Stopped):
        run(own(method_options={"act": "sleep"}), tmp_path / "run", clients=only())
    timer.join()
    assert asyncio.run(asyncio.sleep(0, True))
