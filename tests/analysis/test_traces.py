"""Reading run folders: what is tolerated, what is refused and how it is said."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from synthetic_traces import (
    SyntheticRuns,
    candidate,
    page,
    query,
    result,
    round_of,
    sha256,
    slot,
)

from analysis.rows import DataProblem
from analysis.traces import open_trace
from method.trace import check_trace


def test_written_traces_keep_the_schema(synthetic: SyntheticRuns) -> None:
    asked = [query(None), "twice", query("twice", executed=False, duplicate_of=1)]
    found = ["https://a.org/1", result("https://www.a.org/2", has_raw=True)]
    rounds = [round_of(asked, found)]
    folder = synthetic.run("a", [
        slot("retrieve", child=0.7, documents=[page("one", predicted=0.6, body="text")],
             rounds=rounds),
        slot("look-up", documents=[page("one", first_t=1)], unresolved=["doc_x"],
             candidates=[candidate(status="invalid"), candidate(parse="llm_error", attempt=2)]),
        slot("missing", errors=["retrieval_error: down"]),
        slot(None, child=0.2, child_code="x = 0.2\n"),
    ])  # fmt: skip
    trace = open_trace(folder)
    records = list(trace.iter_records())
    check_trace(records)
    assert [r["new_best"] for r in records] == [True, False, False, False]
    assert [r["run_best_before"] for r in records] == [0.5, 0.7, 0.7, 0.7]
    assert records[1]["gate"]["resolved_ids"] == ["doc_one"]


def test_what_a_run_says_of_itself(synthetic: SyntheticRuns) -> None:
    folder = synthetic.run("a", [slot()], n=8, iterations=3, model="Gemini")
    trace = open_trace(folder)
    assert (trace.run_id, trace.model, trace.candidates, trace.iterations) == ("a", "Gemini", 8, 3)
    assert (trace.method, trace.retriever) == ("openevolve-native+evoduet", "evoduet")
    assert trace.task.id == "mathematics/cp26"
    assert trace.ended
    assert trace.trace_sha256 == hashlib.sha256((folder / "trace.jsonl").read_bytes()).hexdigest()
    (folder / "summary.json").unlink()
    trace = open_trace(folder)
    assert (trace.model, trace.iterations, trace.task_id) == ("Gemini", 3, "mathematics/cp26")
    assert not trace.ended


def test_a_torn_last_line_is_dropped_with_a_note(synthetic: SyntheticRuns) -> None:
    folder = synthetic.run("a", [slot(), slot()])
    path = folder / "trace.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    trace = open_trace(folder)
    assert [record["t"] for record in trace.iter_records()] == [1]
    (note,) = trace.notes
    assert "torn" in note
    list(trace.iter_records())
    assert len(trace.notes) == 1
    path.write_bytes(whole[:-1])  # whole but for the end of the line
    assert [record["t"] for record in open_trace(folder).iter_records()] == [1, 2]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{oops}\n", "line 2: not a trace record"),
        ("{}\n", "line 2: not a trace record"),
        ("[]\n", "line 2: not a trace record"),
        ('{"schema": "evoduet.trace/1", "t": 2, "score": NaN}\n', "line 2: not a trace record"),
        ('{"t": "2"}\n', "line 2: t is '2', expected"),
        ('{"t": 2, "rounds": [3]}\n', "line 2: iteration 2 cannot be read"),
        ('{"schema": "evoduet.trace/9", "t": 2}\n', "line 2: schema 'evoduet.trace/9', expected"),
        ('{"schema": "evoduet.trace/1", "t": 0}\n', "line 2: t is 0, expected"),
        ('{"schema": "evoduet.trace/1", "t": 1}\n', "line 2: a second record of iteration 1"),
    ],
)
def test_damage_is_named(synthetic: SyntheticRuns, line: str, message: str) -> None:
    folder = synthetic.run("a", [slot()])
    with (folder / "trace.jsonl").open("a") as file:
        file.write(line + '{"schema": "evoduet.trace/1", "t": 3}\n')
    with pytest.raises(DataProblem, match=rf"trace\.jsonl {message}"):
        list(open_trace(folder).iter_records())


def test_nothing_to_read_is_said(synthetic: SyntheticRuns, tmp_path: Path) -> None:
    with pytest.raises(DataProblem, match="no run there"):
        open_trace(tmp_path / "nowhere")
    folder = synthetic.run("a", [slot()])
    (folder / "trace.jsonl").write_bytes(b"")
    with pytest.raises(DataProblem, match="the trace is empty, no iteration has closed yet"):
        list(open_trace(folder).iter_records())
    (folder / "summary.json").write_text('{"run_id": "a"')
    with pytest.raises(DataProblem, match="not a JSON object"):
        open_trace(folder)


def test_without_a_trace_the_journal_is_folded(synthetic: SyntheticRuns) -> None:
    folder = synthetic.run("a", [slot()])
    (folder / "trace.jsonl").unlink()
    trace = open_trace(folder)
    assert trace.trace_sha256 is None
    with pytest.raises(DataProblem, match="no iteration has closed yet"):
        list(trace.iter_records())


def test_a_trace_from_elsewhere_needs_no_journal(synthetic: SyntheticRuns) -> None:
    folder = synthetic.run("a", [slot()])
    (folder / "journal.jsonl").unlink()
    trace = open_trace(folder)
    assert (trace.run_id, trace.candidates, trace.retriever) == ("a", None, "evoduet")
    assert len(list(trace.iter_records())) == 1


def test_documents_are_those_of_the_records(synthetic: SyntheticRuns) -> None:
    given = page("one", predicted=0.6, body="text", url="https://a.org/1", doc_id="d1")
    folder = synthetic.run("a", [
        slot("retrieve", documents=[given], rounds=[round_of(
            ["first"], [result("https://a.org/1", doc_id="d1"),
                        result("https://b.org/2", doc_id="d2")])]),
        slot("look-up", documents=[page("one", first_t=1, url="https://a.org/1", doc_id="d1")]),
    ])  # fmt: skip
    found = open_trace(folder).documents
    assert set(found) == {"d1", "d2"}
    one, two = found["d1"], found["d2"]
    assert (one.db_id, one.host, one.first_t, one.query) == ("doc_one", "a.org", 1, "first")
    assert (two.db_id, two.host, two.first_t, two.body_sha256) == (None, "b.org", 1, None)


def test_listed_documents_go_first(synthetic: SyntheticRuns) -> None:
    folder = synthetic.run("a", [slot("retrieve", documents=[page("one")])])
    row = {"doc_id": "r0000001", "db_id": "doc_000001", "url": "https://a.org/1",
           "host": {"full": "a.org", "registrable": "a.org"}, "title": "T", "first_query": "q",
           "first_t": 3}  # fmt: skip
    path = folder / "documents.jsonl"
    path.write_text(json.dumps(row) + "\n" + '{"doc_id": "r000')
    trace = open_trace(folder)
    (one,) = trace.documents.values()
    assert (one.host, one.query, one.first_t, one.title) == ("a.org", "q", 3, "T")
    assert "documents.jsonl is torn" in trace.notes[0]
    path.write_text('{"doc": 1}\n' + json.dumps(row) + "\n")
    with pytest.raises(DataProblem, match=r"documents.jsonl line 1: not a document"):
        assert open_trace(folder).documents


def test_blobs_are_read_plain_or_packed_and_missing_is_none(synthetic: SyntheticRuns) -> None:
    zstandard = pytest.importorskip("zstandard")
    text = "Größe \udc80 of a page\n" * 3
    content = text.encode("utf-8", errors="surrogatepass")
    name = hashlib.sha256(content).hexdigest()
    folder = synthetic.run("a", [slot(child=0.7, child_code="x = 7\n")])
    trace = open_trace(folder)
    assert trace.blob(sha256("x = 7\n")) == "x = 7\n"
    assert trace.blob(name) is None
    assert trace.blob(None) is None
    place = folder / "blobs" / name[:2] / name
    place.parent.mkdir(exist_ok=True)
    for packed in (zstandard.ZstdCompressor().compress(content), content):
        place.write_bytes(packed)
        assert trace.blob(name) == text
    place.rename(place.with_name(f"{name}.zst"))
    assert trace.blob(name) == text
    assert trace.notes == []
    for broken in (b"another text", zstandard.ZstdCompressor().compress(content)[:-9]):
        place.write_bytes(broken)
        place.with_name(f"{name}.zst").unlink(missing_ok=True)
        assert trace.blob(name) is None
    assert trace.notes == ["blobs that are altered or cannot be unpacked count as missing"]
