"""Cassettes: what was answered once is answered again, to the run that asks the same."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_task import LocalEvaluator, LocalModel, LocalSearch, clients, config, script

from method.cassette import Cassette, CassetteError, CassetteMiss, Occurrences
from method.journal import FILE_NAME, read_journal
from method.llm.record import RecordedModel, prompt_sha256
from method.ports import Paused
from method.protocols import Completion, Request, Sampling, SearchResponse, Usage
from method.runs import Clients, resume, run
from method.search.record import RecordedSearch
from method.secrets import Secrets
from method.trace import read_trace

VOLATILE = {"run_id", "started", "ended", "wall_s", "cpu_s", "max_rss", "reruns"}
ASKED = Request("query", ({"role": "user", "content": "Wörter \ud800?"},), slots=(0,))


def steady(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: steady(item) for name, item in value.items() if name not in VOLATILE}
    return [steady(item) for item in value] if isinstance(value, list) else value


def trace_of(folder: Path, *, without: str = "") -> str:
    records = [steady(record) for record in read_trace(folder)]
    return json.dumps([{n: v for n, v in record.items() if n != without} for record in records])


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def without_clients() -> Clients:
    return Clients(None, None, LocalEvaluator())


def replayed(given: Any, folder: Path) -> str:
    """The trace of a run that has nothing but its cassette."""
    run(given.model_copy(update={"cassette_mode": "replay"}), folder, clients=without_clients())
    return trace_of(folder)


# --- whole runs -----------------------------------------------------------------------------------


def test_another_process_with_another_hash_seed_and_name_hits_every_entry(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path[:0] = sys.argv[3:]\n"
        "from pathlib import Path\n"
        "from fake_task import LocalEvaluator, clients, config\n"
        "from method.runs import Clients, run\n"
        "folder, mode = Path(sys.argv[1]), sys.argv[2]\n"
        "given = config(iterations=6, cassette=str(folder.parent / 'tape'), cassette_mode=mode)\n"
        "own = clients() if mode == 'record' else Clients(None, None, LocalEvaluator())\n"
        "run(given, folder, clients=own)\n"
    )
    here = Path(__file__).parent
    paths = [str(here.parent), str(here.parents[1]), str(here.parents[2])]
    for seed, name, mode in (("1", "first", "record"), ("2", "second", "replay")):
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / name), mode, *paths],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
    assert trace_of(tmp_path / "first") == trace_of(tmp_path / "second")
    keys = [entry["key"] for entry in entries(tmp_path / "tape")]
    calls = [e for e in read_journal(tmp_path / "second") if e.name in ("model_call", "search")]
    assert len(keys) == len(set(keys)) == len(calls)
    assert {e.name for e in calls} == {"model_call", "search"}


@pytest.mark.parametrize("in_flight", [0, 1])
def test_a_killed_recording_goes_on(tmp_path: Path, in_flight: int) -> None:
    """``in_flight``: answers that reached the cassette but not the journal are not bought again."""
    whole, tape = tmp_path / "whole", tmp_path / "tape"
    given = config(iterations=3, seed=5, candidates=2, cassette=str(tape))
    run(given, whole, clients=clients())
    expected, lines = trace_of(whole), (whole / FILE_NAME).read_bytes().splitlines(keepends=True)
    names = [event.name for event in read_journal(whole)]
    recorded = tape.read_bytes().splitlines(keepends=True)
    for kept in range(5, len(lines), 17):
        answered = sum(name in ("model_call", "search") for name in names[:kept])
        folder = tmp_path / f"cut{kept}"
        folder.mkdir()
        (folder / "blobs").symlink_to(whole / "blobs")
        (folder / FILE_NAME).write_bytes(b"".join(lines[:kept]))
        tape.write_bytes(b"".join(recorded[: answered + in_flight]) + b'{"key": "torn')
        again = clients()
        resume(folder, clients=again)
        assert trace_of(folder) == expected
        bought = again.model.calls + len(again.search.queries)  # type: ignore[union-attr]
        assert bought == max(0, len(recorded) - answered - in_flight)
        assert sorted(entry["key"] for entry in entries(tape)) == sorted(
            json.loads(line)["key"] for line in recorded
        )
        assert replayed(given, tmp_path / f"again{kept}") == expected


class Faltering(LocalModel):
    """Loses every answer from its ``first`` call on."""

    def __init__(self, first: int) -> None:
        super().__init__()
        self.first = first

    async def sample(self, request: Request) -> list[Completion]:
        self.calls += 1
        if self.calls < self.first:
            return [script(request, slot) for slot in request.slots]
        return [Completion("", error="lost", error_kind="transport") for _ in request.slots]


@pytest.mark.parametrize("first", [4, 9, 14])
def test_a_pause_leaves_no_mark_in_the_recording(tmp_path: Path, first: int) -> None:
    folder, tape = tmp_path / "run", tmp_path / "tape"
    given = config(iterations=5, seed=5, cassette=str(tape))
    with pytest.raises(Paused, match="the last: lost"):
        run(given, folder, clients=Clients(Faltering(first), LocalSearch(), LocalEvaluator()))
    resume(folder, clients=clients())
    replayed(given, tmp_path / "again")
    # Only the lost calls, which may have cost something, are counted in the run that made them.
    assert trace_of(tmp_path / "again", without="usage") == trace_of(folder, without="usage")


def test_a_lost_answer_in_a_healthy_run_is_replayed_as_lost(tmp_path: Path) -> None:
    class Unlucky(LocalModel):
        async def sample(self, request: Request) -> list[Completion]:
            self.calls += 1
            lost = Completion("", error="lost", error_kind="transport")
            return [lost] if self.calls % 7 == 0 else [script(request, request.slots[0])]

    given = config(iterations=5, cassette=str(tmp_path / "tape"))
    run(given, tmp_path / "run", clients=Clients(Unlucky(), LocalSearch(), LocalEvaluator()))
    assert "lost" in trace_of(tmp_path / "run")
    assert replayed(given, tmp_path / "again") == trace_of(tmp_path / "run")


def test_another_run_misses_and_says_so(tmp_path: Path) -> None:
    tape = tmp_path / "tape"
    run(config(iterations=2, cassette=str(tape)), tmp_path / "run", clients=clients())
    other = config(iterations=2, seed=43, task="sums_diffs", cassette=str(tape))
    with pytest.raises(CassetteMiss, match=r"tape: no answer to the gate call of slot 0"):
        replayed(other, tmp_path / "other")
    assert read_journal(tmp_path / "other")[-1].name == "interrupted"


def test_a_replay_needs_no_client_library(tmp_path: Path) -> None:
    """Nor does importing the method: they are large, and optional."""
    (tmp_path / "tape").touch()
    code = (
        "import sys, benchmark, method, method.runs, method.models\n"
        "from method.config import make_config\nfrom method.connections import connect\n"
        "given = make_config(None, task='cp26', model='gpt-5.6-luna', search='tavily',\n"
        "                    cassette=sys.argv[1], cassette_mode='replay')\n"
        "connect(given)\n"
        "heavy = ('litellm', 'openai', 'tavily', 'httpx', 'tenacity', 'openevolve')\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "tape")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"


# --- one call -------------------------------------------------------------------------------------


class Numbered:
    """Answers with the number of the call, whatever is asked."""

    name = "numbered"

    def __init__(self, effective: Mapping[str, Any] | None = None) -> None:
        self.calls = 0
        self._effective = effective or {"temperature": 0.7}

    def effective(self, request: Request) -> Mapping[str, Any]:
        return self._effective

    async def sample(self, request: Request) -> list[Completion]:
        self.calls += 1
        number = self.calls
        await asyncio.sleep(0.01 / number)  # later calls are answered earlier
        return [
            Completion(
                f"Antwort \ud800 {number}",
                tool_calls=({"id": "c"},),
                usage=Usage(1, 2),
                effective_params=self._effective,
                dropped_params=("top_p",),
            )
        ]


def ask(cassette: Cassette, model: Any, *requests: Request, name: str = "m") -> list[Completion]:
    recorded = RecordedModel(name, cassette, model, Occurrences())

    async def asked() -> list[Completion]:
        return [answer for request in requests for answer in await recorded.sample(request)]

    return asyncio.run(asked())


def record(path: Path, *requests: Request, model: Any = None, name: str = "m") -> list[Completion]:
    cassette = Cassette(path, "record")
    try:
        return ask(cassette, model or Numbered(), *requests, name=name)
    finally:
        cassette.close()


def test_samples_and_repetitions_are_separate_entries(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    three = replace(ASKED, slots=(0, 1, 2))
    first = record(path, three, three)
    assert len({answer.text for answer in first}) == 6
    again = ask(Cassette(path, "replay"), None, three, three)
    assert again == first
    assert len({entry["key"] for entry in entries(path)}) == 6


@pytest.mark.parametrize(
    "other",
    [
        replace(ASKED, messages=({"role": "user", "content": "other"},)),
        replace(ASKED, messages=({"role": "system", "content": "Wörter \ud800?"},)),
        replace(ASKED, purpose="gate"),
        replace(ASKED, slots=(1,)),
        replace(ASKED, tools=({"type": "function"},)),
        replace(ASKED, tool_choice="required"),
        replace(ASKED, response_schema={"type": "object"}),
        replace(ASKED, sampling=Sampling(temperature=0.1)),
    ],
)
def test_whatever_changes_an_answer_is_in_the_key(tmp_path: Path, other: Request) -> None:
    record(tmp_path / "tape", ASKED)
    with pytest.raises(CassetteMiss):
        ask(Cassette(tmp_path / "tape", "replay"), None, other)
    with pytest.raises(CassetteMiss):
        ask(Cassette(tmp_path / "tape", "replay"), None, ASKED, ASKED)
    with pytest.raises(CassetteMiss):
        ask(Cassette(tmp_path / "tape", "replay"), None, ASKED, name="another-model")


def test_the_key_holds_what_is_sent_not_what_was_wished(tmp_path: Path) -> None:
    (before,) = record(tmp_path / "tape", ASKED)
    (request,) = (entry["request"] for entry in entries(tmp_path / "tape"))
    assert request["requested"]["top_p"] == 0.95
    assert request["sampling"] == {"temperature": 0.7}
    wished = replace(ASKED, sampling=Sampling(top_p=0.5))
    cassette = Cassette(tmp_path / "tape", "auto")
    silent = Numbered()
    assert ask(cassette, silent, wished) == [before]
    assert silent.calls == 0
    assert ask(cassette, Numbered({"temperature": 0.1}), ASKED) != [before]
    cassette.close()


def test_a_prompt_has_the_name_that_the_journal_gives_it(tmp_path: Path) -> None:
    """Otherwise a resumed run would not know how often it asked."""
    run(config(iterations=2), tmp_path / "run", clients=clients())
    calls = [e.data for e in read_journal(tmp_path / "run") if e.name == "model_call"]
    stored = tmp_path / "run" / "blobs" / calls[0]["prompt"][:2] / calls[0]["prompt"]
    messages = tuple(json.loads(stored.read_text()))
    assert prompt_sha256(replace(ASKED, messages=messages)) == calls[0]["prompt"]


class Searching:
    name = "searching"

    def __init__(self, kind: Any = None) -> None:
        self.calls = 0
        self.kind = kind

    async def search(self, query: str, max_results: int, depth: str) -> SearchResponse:
        self.calls += 1
        if self.kind:
            return SearchResponse(error="no", error_kind=self.kind)
        return await LocalSearch().search(f"{query}{self.calls}", max_results, depth)


def find(cassette: Cassette, backend: Any, *queries: tuple[str, int, str]) -> list[SearchResponse]:
    recorded = RecordedSearch("tavily", cassette, backend, Occurrences())

    async def searched() -> list[SearchResponse]:
        return [await recorded.search(*query) for query in queries]

    return asyncio.run(searched())


def test_searches_are_recorded_like_model_calls(tmp_path: Path) -> None:
    query = ('n=26 "circle"?', 3, "advanced")
    cassette = Cassette(tmp_path / "tape", "record")
    first = find(cassette, Searching(), query, query)
    cassette.close()
    assert first[0] != first[1]
    again = find(Cassette(tmp_path / "tape", "replay"), None, query, query)
    assert again == [replace(response, cached=True) for response in first]
    for other in (("n=26", 3, "advanced"), (query[0], 4, "advanced"), (query[0], 3, "basic")):
        with pytest.raises(CassetteMiss, match="the search for"):
            find(Cassette(tmp_path / "tape", "replay"), None, other)


@pytest.mark.parametrize("kind", ["quota", "key", "transport", "refused"])
def test_what_may_pass_is_asked_again(tmp_path: Path, kind: str) -> None:
    query = ("q", 3, "advanced")
    cassette = Cassette(tmp_path / "tape", "auto")
    find(cassette, Searching(kind), query)
    well = Searching()
    (response,) = find(cassette, well, query)
    assert well.calls == (kind != "refused")
    assert (response.error is None) == (kind != "refused")
    cassette.close()
    (replay,) = find(Cassette(tmp_path / "tape", "replay"), None, query)
    assert replay == replace(response, cached=True)


# --- the file -------------------------------------------------------------------------------------


def test_a_recording_is_not_mixed_with_another(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    with pytest.raises(CassetteError, match="no cassette there"):
        Cassette(path, "replay")
    record(path, ASKED)
    with pytest.raises(CassetteError, match="--replay"):
        Cassette(path, "record")
    writer = Cassette(path, "auto")
    with pytest.raises(CassetteError, match="another run records"):
        Cassette(path, "auto")
    Cassette(path, "replay")
    writer.close()
    Cassette(path, "record", resumed=True).close()


def test_damage_is_noticed_and_a_torn_end_is_not_damage(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "tape"
    first = record(path, ASKED)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:-20])
    assert ask(Cassette(path, "replay"), None, ASKED) == first
    assert "torn" in caplog.text
    path.write_bytes(b"not json\n" + whole)
    with pytest.raises(CassetteError, match="line 1 is damaged"):
        Cassette(path, "replay")


def test_a_full_disk_leaves_the_file_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tape"
    cassette = Cassette(path, "record")
    ask(cassette, Numbered(), ASKED)
    whole = path.read_bytes()
    real = os.write

    def full(fd: int, content: bytes) -> int:
        real(fd, bytes(content)[:10])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            ask(cassette, Numbered(), replace(ASKED, slots=(7,)))
    assert path.read_bytes() == whole
    ask(cassette, Numbered(), replace(ASKED, slots=(8,)))
    cassette.close()
    assert len(entries(path)) == 2


def test_no_key_gets_into_a_cassette(tmp_path: Path) -> None:
    path, key = tmp_path / "tape", "sk-secret-0123456789"
    cassette = Cassette(path, "record", Secrets([key]))
    asked = replace(ASKED, messages=({"role": "user", "content": f"my key is {key}"},))
    ask(cassette, Numbered(), asked)
    cassette.close()
    assert key not in path.read_text(errors="surrogatepass")
    assert "[redacted]" in path.read_text(errors="surrogatepass")
    assert len(ask(Cassette(path, "replay"), None, asked)) == 1


def test_reading_a_copy_needs_no_right_to_write(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    first = record(path, ASKED)
    copy = tmp_path / "read-only"
    copy.mkdir()
    shutil.copy(path, copy / "tape")
    copy.chmod(0o500)
    try:
        assert ask(Cassette(copy / "tape", "replay"), None, ASKED) == first
        assert [file.name for file in copy.iterdir()] == ["tape"]
    finally:
        copy.chmod(0o700)
