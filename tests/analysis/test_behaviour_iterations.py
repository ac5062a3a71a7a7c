"""Facts of iterations: what a record says, and what only the whole run can tell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from synthetic_traces import (
    SyntheticRuns,
    candidate,
    gate_of,
    page,
    query,
    result,
    round_of,
    slot,
)

from analysis.behaviour.facts import Facts, page_key
from analysis.behaviour.files import behaviour_files, notes_of
from analysis.behaviour.iterations import LookedUp, RunFacts
from analysis.reading import feed, read_traces
from analysis.runs import read_study
from analysis.traces import open_trace


def facts_of(folder: Path) -> RunFacts:
    trace = open_trace(folder)
    facts = Facts(trace)
    assert feed(trace, {"facts": facts}) == {}
    return facts.result()


def texts(runs: SyntheticRuns) -> dict[str, str]:
    reading = read_traces(read_study(runs.folder))
    return {file.name: file.text() for file in behaviour_files(reading.runs)}


def test_promising_is_strictly_above_the_measured_parent(synthetic: SyntheticRuns) -> None:
    def retrieve(*predicted: float | None) -> dict[str, object]:
        pages = [page(str(i), predicted=p) for i, p in enumerate(predicted)]
        return slot("retrieve", parent=0.6, child=0.7, documents=pages)

    run = facts_of(synthetic.run("a", [
        retrieve(0.6), retrieve(0.5, 0.61), retrieve(None), retrieve(),
        retrieve(0.6000000000000001), retrieve(-1.0, None),
    ]))  # fmt: skip
    assert [i.promising for i in run.iterations] == [False, True, False, False, True, False]


@pytest.mark.parametrize(
    ("record", "outcome", "first", "first_evaluation"),
    [
        (slot(parent=0.5, child=0.6), "improved", False, False),
        (slot(parent=0.5, child=0.5), "equal", False, False),
        (slot(parent=0.5, child=0.4), "lower", False, False),
        (slot(candidates=[candidate(status="error")]), "evaluation_failed", True, True),
        (slot(candidates=[candidate(parse="no_change")]), "no_program", True, False),
        # only the last attempt tells what there was; only the first whether retries hide something
        (slot(candidates=[candidate(status="invalid"), candidate(parse="llm_error", attempt=2)]),
         "no_program", True, True),
        (slot(candidates=[candidate(parse="parse_error"), candidate(status="timeout", attempt=2)]),
         "evaluation_failed", True, False),
        (slot(child=0.6, candidates=[candidate(status="invalid"), candidate(0.6, attempt=2)]),
         "improved", True, True),
        # one valid candidate among several is enough
        (slot(child=0.6, candidates=[candidate(status="invalid"), candidate(0.6, slot=1)]),
         "improved", False, False),
        # finite is part of valid
        (slot(candidates=[candidate(status="ok")]), "evaluation_failed", True, True),
    ],
)  # fmt: skip
def test_outcomes(
    synthetic: SyntheticRuns, record: dict[str, object], outcome: str, first: bool,
    first_evaluation: bool,
) -> None:  # fmt: skip
    (found,) = facts_of(synthetic.run("a", [record])).iterations
    assert found.outcome == outcome
    assert (found.failed_first, found.failed_first_evaluation) == (first, first_evaluation)


def test_look_ups_are_resolved_to_an_earlier_first_retrieval(synthetic: SyntheticRuns) -> None:
    run = facts_of(synthetic.run("a", [
        slot("retrieve", documents=[page("one"), page("two")]),
        slot("retrieve", documents=[page("one", first_t=1), page("three")]),
        slot("look-up", documents=[page("one", first_t=1), page("three", first_t=2)],
             unresolved=["doc_x", "doc_x", "https://nowhere"]),
        # not given in the record, but retrieved before; and never heard of
        slot("look-up", gate=gate_of("look-up", resolved=["doc_two", "doc_ghost", "doc_two"])),
        # a first retrieval that is not before the look-up is none
        slot("look-up", documents=[page("late", first_t=5)]),
        slot("no-op", gate=gate_of("no-op", unresolved=["doc_x"])),
    ]))  # fmt: skip
    looked = [i.looked_up for i in run.iterations]
    assert looked[2] == (LookedUp("doc_one", 1), LookedUp("doc_three", 2))
    assert looked[3] == (LookedUp("doc_two", 1), LookedUp("doc_ghost", None))
    assert looked[4] == (LookedUp("doc_late", None),)
    assert [i.unresolved for i in run.iterations] == [0, 0, 2, 0, 0, 0]


def test_pages_repeat_by_host_path_and_query(synthetic: SyntheticRuns) -> None:
    run = facts_of(synthetic.run("a", [
        slot("retrieve", queries=["q"], returned=[
            "https://Example.org/a", "http://example.org/a#part", "https://example.org/a?x=1",
            "https://example.org/A", "https://www.example.org/a"]),
        slot("retrieve", queries=["q"], returned=[
            "https://example.org/a", "https://example.org/b",
            result("corpus:1", is_new_in_run=True), result("corpus:1", is_new_in_run=False)]),
    ]))  # fmt: skip
    assert [i.returned for i in run.iterations] == [5, 4]
    assert [i.new_pages for i in run.iterations] == [4, 2]
    assert page_key("https://H.org/a/?q=A#f") == page_key("http://h.org/a/?q=A")
    assert page_key("https://h.org/a/") != page_key("https://h.org/a")
    assert page_key("file:///a") is page_key("a") is page_key("https://[oops") is None


def test_hosts_are_lower_case_without_www(synthetic: SyntheticRuns) -> None:
    rows = [result("https://x.org", host=host)
            for host in ("WWW.GitHub.com", "github.com", "www.arxiv.org", "", None)]  # fmt: skip
    kept = page("one", url="https://www.GITHUB.com/a")
    rounds = [round_of(["q"], rows)]
    (found,) = facts_of(synthetic.run("a", [
        slot("retrieve", rounds=rounds, documents=[kept]),
    ])).iterations  # fmt: skip
    assert found.hosts == {"github.com", "arxiv.org"}
    assert found.retained_hosts == {"github.com"}


def test_queries_count_when_valid_and_are_executed_apart(synthetic: SyntheticRuns) -> None:
    rounds = [round_of(["one", query(None), query("one", executed=False, duplicate_of=0)]),
              round_of(["two"], r=2)]  # fmt: skip
    (found,) = facts_of(synthetic.run("a", [slot("retrieve", rounds=rounds)])).iterations
    assert found.queries == ("one", "one", "two")
    assert found.executed_queries == 2


def test_slots_of_ended_and_of_growing_runs(synthetic: SyntheticRuns) -> None:
    ended = synthetic.run("ended", [slot(), None, slot(), None])
    assert facts_of(ended).slots == 4
    budget = synthetic.run("budget", [slot()], iterations=5, status="budget")
    assert facts_of(budget).slots == 5
    growing = synthetic.run("growing", [slot(), None, slot()], iterations=9, status="running")
    assert facts_of(growing).slots == 3
    killed = synthetic.run("killed", [slot(), slot()], iterations=9)
    (killed / "summary.json").unlink()
    reading = read_traces(read_study(synthetic.folder))
    assert {run.run_id: run.slots for run in reading.runs} == {
        "ended": 4, "budget": 5, "growing": 3, "killed": 2,
    }  # fmt: skip
    assert sorted(reading.notes) == [
        "growing: under way, its behaviour is counted up to iteration 3 of 9",
        "killed: under way, its behaviour is counted up to iteration 2 of 9",
    ]


def test_half_written_and_empty_traces_are_named(synthetic: SyntheticRuns) -> None:
    synthetic.run("good", [slot(), slot()])
    torn, empty, broken, lacking = (
        synthetic.run(name, [slot(), slot()]) for name in ("torn", "empty", "broken", "lacking")
    )
    for folder, change in (
        (torn, lambda text: text[:-40]),
        (empty, lambda text: ""),
        (broken, lambda text: text.replace('"t": 1,', '"t": 1', 1)),
        (lacking, lambda text: text.replace('"candidates": [', '"candidates": 7, "c": [')),
    ):
        path = folder / "trace.jsonl"
        path.write_text(change(path.read_text()))  # type: ignore[no-untyped-call]
    reading = read_traces(read_study(synthetic.folder))
    assert {run.run_id: len(run.iterations) for run in reading.runs} == {"good": 2, "torn": 1}
    notes = "\n".join(reading.notes)
    assert "torn: the last line of its trace is torn" in notes
    assert "empty/trace.jsonl: the trace is empty, no iteration has closed yet" in notes
    assert "broken/trace.jsonl line 1: not a trace record" in notes
    assert "lacking/trace.jsonl line 1: iteration 1 cannot be read (TypeError(" in notes


def test_order_of_lines_and_runs_does_not_matter(synthetic: SyntheticRuns) -> None:
    def fill(runs: SyntheticRuns, names: dict[str, str]) -> None:
        for name, place in names.items():
            more = 0.01 * (len(name) + ord(name[-1]))
            folder = runs.run(place, [
                slot("retrieve", child=0.5 + more, documents=[page("one", predicted=0.6)],
                     queries=["最適化"], returned=["https://a.org/1", f"https://{name}.org/2"]),
                slot("look-up", child=0.4, documents=[page("one", first_t=1)]),
                slot("retrieve", child=0.6 + more / 2, documents=[page("two", predicted=0.5)],
                     queries=["q"], returned=["https://a.org/1"]),
                slot("no-op", child=0.55 + more), None,
            ], model=f"m{ord(name[-1]) % 2}")  # fmt: skip
            for path in (folder / "journal.jsonl", folder / "trace.jsonl", folder / "summary.json"):
                text = path.read_text().replace(f'"{place}"', f'"{name}"')
                path.write_text(text)

    other = SyntheticRuns(synthetic.folder.with_name("other"))
    fill(synthetic, {"ra": "1", "rb": "2", "rc": "3", "rd": "4"})
    fill(other, {"rc": "9", "ra": "8", "rd": "5", "rb": "x/6"})
    for path in other.folder.rglob("trace.jsonl"):
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(reversed(lines)))
    assert texts(synthetic) == texts(other)


def test_gates_that_follow_a_rule_and_imported_runs_are_in_no_rate(
    synthetic: SyntheticRuns,
) -> None:
    synthetic.run("model", [slot("no-op", child=0.6)])
    synthetic.run("rule", [slot("no-op", child=0.6, kind="random")], gate="random")
    synthetic.run("without", [slot(None, child=0.6)], method="openevolve-native+joint")
    folder = synthetic.run("imported", [slot("retrieve", child=0.6)])
    journal = json.loads((folder / "journal.jsonl").read_text())
    journal["data"]["recorded"] = {"selected_steps": [1]}
    (folder / "journal.jsonl").write_text(json.dumps(journal) + "\n")
    reading = read_traces(read_study(synthetic.folder))
    assert {run.run_id for run in reading.runs if run.decides} == {"model"}
    assert notes_of(reading.runs) == [
        "1 runs with the gate random are not in the statistics of decisions: a rule decides",
        "1 imported runs are in no rate: they were selected for their stories "
        "(see recorded_decisions.csv)",
    ]


def test_an_unknown_parent_is_compared_with_nothing(synthetic: SyntheticRuns) -> None:
    unknown = {"id": "p0", "score": None, "iteration": 0}
    (found,) = facts_of(synthetic.run("a", [
        slot("no-op", child=0.6, parent=0.5),
    ])).iterations  # fmt: skip
    assert found.outcome == "improved"
    folder = synthetic.run("b", [slot("no-op", child=0.6)])
    for said, outcome in ((None, "unknown"), (True, "improved"), (False, "not_improved")):
        record = json.loads((folder / "trace.jsonl").read_text()) | {"parent": unknown}
        record["child"]["beats_parent"] = said  # all that is known of the comparison
        (folder / "trace.jsonl").write_text(json.dumps(record) + "\n")
        (found,) = facts_of(folder).iterations
        assert (found.outcome, found.promising) == (outcome, False)
        assert found.beats_parent == (said is True)
