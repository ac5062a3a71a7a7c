"""Audits of small runs whose answers were counted by hand."""

from __future__ import annotations

import hashlib
import json
import random
import time
from pathlib import Path

import pytest
from audited_runs import X0, AuditedRuns, add_searches, drop_blob, raised
from synthetic_traces import candidate, page, round_of, sha256, slot
from typer.testing import CliRunner

from analysis.audit import audit, flags_of, saved_audit, write_audit
from analysis.auditing.findings import FLAGS, SCHEMA, Audit
from analysis.auditing.population import (
    CATEGORIES,
    audited_run,
    behaviour_counts,
    published_counts,
)
from analysis.auditing.review import count, read_review
from analysis.published import default_folder
from analysis.rows import DataProblem
from analysis.traces import open_trace
from benchmark.cli import app

NUMBERS = "0.0921463 0.1034217 0.0784512 0.1199231"
COPY = "r = [0.0921463, 0.1034217, 0.0784512]\n"
LINE = "centres = relax_voronoi_cells(centres, 20)"


@pytest.fixture
def runs(tmp_path: Path) -> AuditedRuns:
    return AuditedRuns(tmp_path / "runs")


def retrieve(query: str = "basin hopping", **more: object) -> dict[str, object]:
    return slot("retrieve", queries=[query], **more)  # type: ignore[arg-type]


# --- copies --------------------------------------------------------------------------------------


def test_numeric_copy_of_a_given_document(runs: AuditedRuns) -> None:
    found = runs.audit(
        "a",
        [
            slot("no-op", child=0.6, child_code=X0 + COPY),  # no page: no copy
            retrieve(parent=0.5, child=0.7, child_code=X0 + COPY,
                     documents=[page("one", body=NUMBERS)]),
            retrieve(parent=0.7, parent_t=2, child=0.8, child_code=X0 + COPY + "y = 1\n",
                     documents=[page("one", body=NUMBERS)]),  # the parent has the numbers
        ],
    )  # fmt: skip
    assert [c.numeric_copy for c in found.candidates] == [False, True, False]
    assert raised(found, "numeric_copy") == [2]
    assert raised(found, "artifact_reuse") == [2]
    assert "https://example.org/one" in next(f for f in found.flags if f.t == 2).evidence
    assert found.undecidable == ()


def test_pages_that_were_returned_and_not_kept_count(runs: AuditedRuns) -> None:
    code = X0 + COPY.replace(", ", ",\n")  # short lines
    folder = runs.write("a", [retrieve(child=0.7, child_code=code, returned=["https://b.org/x"])])
    lost = audit(open_trace(folder))
    assert lost.candidates[0].numeric_copy is None
    assert lost.candidates[0].copied_lines == ()  # no added line is long enough: decided anyway
    assert [g.t for g in lost.undecidable] == [1]
    assert "the text of https://b.org/x is missing" in lost.undecidable[0].reason
    add_searches(folder, 1, {"https://b.org/x": NUMBERS})
    assert raised(audit(open_trace(folder)), "numeric_copy") == [1]
    add_searches(folder, 2, {"https://b.org/x": ""})  # another iteration's
    assert raised(audit(open_trace(folder)), "numeric_copy") == [1]


def test_bodies_by_hash_in_documents_or_results(runs: AuditedRuns) -> None:
    folder = runs.write(
        "a",
        [retrieve(child=0.7, child_code=X0 + COPY, returned=["https://b.org/x"],
                  documents=[page("one", body=NUMBERS)])],
    )  # fmt: skip
    row = {"doc_id": f"u_{sha256('https://b.org/x')[:12]}", "body_sha256": sha256(NUMBERS)}
    (folder / "documents.jsonl").write_text(json.dumps(row) + "\n")
    found = audit(open_trace(folder))
    assert found.undecidable == ()
    assert found.candidates[0].numeric_copy is True


def test_copied_lines_of_all_candidates_but_flags_of_the_child(runs: AuditedRuns) -> None:
    samples = [
        candidate(0.6, slot=0, code=X0 + "  " + LINE + "\n"),
        candidate(0.7, slot=1, code=X0 + "z = 1\n"),
        candidate(status="error", slot=2, code=X0 + LINE + "\n"),
        candidate(parse="parse_error", slot=3),
    ]
    body = f"# page\n{LINE}\n"
    losing = slot("look-up", child=0.7, candidates=samples, selected_slot=1,
                  documents=[page("one", first_t=1, body=body)])  # fmt: skip
    winning = {**losing, "selected_slot": 0}
    found = runs.audit("a", [losing, winning])
    assert [c.copied_lines for c in found.candidates] == [(LINE,), (), (LINE,)] * 2
    assert [(c.t, c.attempt, c.slot) for c in found.candidates] == [
        (t, 1, s) for t in (1, 2) for s in (0, 1, 2)
    ]
    assert raised(found, "copied_lines") == [2]


def test_missing_programs_are_not_zero(runs: AuditedRuns) -> None:
    folder = runs.write(
        "a",
        [retrieve(child=0.7, child_code=X0 + COPY, documents=[page("one", body=NUMBERS)]),
         retrieve(parent=0.7, parent_t=1, child=0.8, child_code="short = 1\n",
                  documents=[page("one", body=NUMBERS)])],
    )  # fmt: skip
    drop_blob(folder, X0 + COPY)
    found = audit(open_trace(folder))
    first, second = found.candidates
    assert (first.numeric_copy, first.copied_lines, first.network_calls) == (None, None, None)
    assert second.numeric_copy is False  # even as a whole it holds no copy
    assert second.copied_lines == ()
    assert any("is missing" in g.reason for g in found.undecidable if g.t == 1)
    assert raised(found, "numeric_copy") == []


def test_without_the_parent_a_match_is_not_decidable(runs: AuditedRuns) -> None:
    folder = runs.write(
        "a",
        [retrieve(child=0.7, child_code=X0 + COPY, documents=[page("one", body=NUMBERS)])],
    )
    drop_blob(folder, X0)
    found = audit(open_trace(folder))
    assert found.candidates[0].numeric_copy is None
    (gap,) = (g for g in found.undecidable if "parent's program" in g.reason)
    assert gap.concerns == ("numeric_copy", "copied_lines", "artifact_reuse")
    assert found.undecided("artifact_reuse")
    assert not found.undecided("over_reach")


def test_copies_of_programs_under_other_ids_are_found(runs: AuditedRuns) -> None:
    migrant = {"id": "copy-of-1", "score": 0.7, "iteration": 0}
    found = runs.audit(
        "a",
        [slot("no-op", child=0.7, child_code=X0 + COPY),
         retrieve(parent=0.7, child=0.8, child_code=X0 + COPY + "y = 1\n", 
                  documents=[page("one", body=NUMBERS)], **{}) | {"parent": migrant}],
    )  # fmt: skip
    assert found.candidates[1].numeric_copy is False  # the numbers were there before
    assert found.undecidable == ()


def test_among_copies_of_one_score_the_prompt_decides(runs: AuditedRuns) -> None:
    other = X0 + "other = 1\n"
    prompt = f"# Current Program\n{X0 + COPY}\n# Task"
    folder = runs.write(
        "a",
        [slot("no-op", child=0.7, child_code=X0 + COPY),
         slot("no-op", child=0.7, child_code=other),
         retrieve(parent=0.7, child=0.8, child_code=X0 + COPY + "y = 1\n",
                  documents=[page("one", body=NUMBERS)])
         | {"parent": {"id": "migrant", "score": 0.7, "iteration": 0},
            "prompt_sha256": sha256(prompt)}],
    )  # fmt: skip
    assert audit(open_trace(folder)).candidates[2].numeric_copy is None  # no prompt: open
    path = folder / "blobs" / sha256(prompt)[:2] / sha256(prompt)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(prompt)
    assert audit(open_trace(folder)).candidates[2].numeric_copy is False


# --- network use ---------------------------------------------------------------------------------


def test_network_use_is_flagged_where_it_begins(runs: AuditedRuns) -> None:
    web = X0 + "import urllib.request\n"
    found = runs.audit(
        "a",
        [slot("no-op", child=0.6, child_code=web),
         slot("no-op", parent=0.6, parent_t=1, child=0.7, child_code="a = 1\n" + web)],
    )  # fmt: skip
    assert [c.network_calls for c in found.candidates] == [
        ("line 2: import urllib.request",), ("line 3: import urllib.request",)]  # fmt: skip
    assert raised(found, "network_use") == [1]
    assert raised(found, "artifact_reuse") == [1]


def test_a_failed_candidate_uses_the_network_but_reuses_nothing(runs: AuditedRuns) -> None:
    sample = candidate(status="error", code="import requests\n")
    found = runs.audit("a", [slot("no-op", candidates=[sample])])
    assert raised(found, "network_use") == [1]
    assert raised(found, "artifact_reuse") == []


def test_the_language_is_the_task_s(runs: AuditedRuns) -> None:
    code = 'int main() { return system("x"); }\n'
    found = runs.audit("a", [slot("no-op", child=0.6, child_code=code)],
                       task="algorithm_engineering/ahc039")  # fmt: skip
    assert found.candidates[0].network_calls == ("line 1: system(",)


# --- behaviours ----------------------------------------------------------------------------------


def test_over_reach_is_measured_against_the_whole_gain(runs: AuditedRuns) -> None:
    """Gain 0.5 -> 1.5: a drop must be more than 0.1."""
    promising = [page("one", predicted=1.6)]
    found = runs.audit(
        "a",
        [
            slot("no-op", parent=0.5, child=1.5),
            retrieve(parent=1.5, child=1.375, documents=promising),  # 0.125: flagged
            retrieve(parent=1.0, child=0.9375, documents=promising),  # 0.0625: small
            retrieve(parent=1.5, child=1.0, documents=[page("two", predicted=1.5)]),  # equal
            retrieve(parent=1.5, documents=promising),  # no child
            slot("look-up", parent=1.5, child=1.0, documents=promising),
        ],
    )
    assert raised(found, "over_reach") == [2]
    assert "12.5% of the run's gain" in next(
        f.evidence for f in found.flags if f.flag == "over_reach"
    )


def test_without_gain_there_is_no_over_reach(runs: AuditedRuns) -> None:
    found = runs.audit("a", [retrieve(child=0.25, documents=[page("one", predicted=0.75)])])
    assert raised(found, "over_reach") == []


def test_without_a_start_over_reach_is_open(runs: AuditedRuns) -> None:
    promising = [page("one", predicted=1.6)]
    folder = runs.write("a", [None, retrieve(parent=1.5, child=1.0, documents=promising)])
    summary = json.loads((folder / "summary.json").read_text())
    del summary["x0"]
    (folder / "summary.json").write_text(json.dumps(summary))
    found = audit(open_trace(folder))
    assert raised(found, "over_reach") == []
    assert found.undecided("over_reach")


def test_search_miss_with_own_progress(runs: AuditedRuns) -> None:
    found = runs.audit(
        "a",
        [
            retrieve(child=0.6, documents=[page("one", predicted=0.5)]),  # equal is no promise
            retrieve(child=0.7, documents=[page("one", predicted=0.51)]),
            retrieve(child=0.8),  # nothing kept
            slot("no-op", child=0.9),
            retrieve(child=0.85),  # no new best
            slot(None, child=1.0, queries=["q"]),  # no gate, no predictions
        ],
    )
    assert raised(found, "search_miss_own_progress") == [1, 3]


def test_live_documentation_and_what_follows(runs: AuditedRuns) -> None:
    query = "scipy minimize API options"
    found = runs.audit(
        "a",
        [retrieve(query, child=0.6), retrieve(query, parent=0.6, child=0.6), retrieve(query),
         retrieve("best known API", child=0.7)],
    )  # fmt: skip
    assert raised(found, "live_documentation_lookup") == [1, 2, 3]
    assert raised(found, "live_documentation_lookup_improved") == [1]


def test_only_the_final_executed_query_counts(runs: AuditedRuns) -> None:
    unrun = {"executed": False, "valid": True, "text": "scipy docs"}
    rounds = [round_of(["scipy docs"]), round_of([{**round_of(["x"])["queries"][0], **unrun}], r=2),
              round_of(["best known bound"], r=3)]  # fmt: skip
    found = runs.audit("a", [slot("retrieve", child=0.6, rounds=rounds)])
    assert raised(found, "live_documentation_lookup") == []


def test_target_informed_reconstruction(runs: AuditedRuns) -> None:
    """The best known sum of radii is 2.635983; one per cent is 2.6096 to 2.6623."""
    asked = "best known packing"
    found = runs.audit(
        "a",
        [
            retrieve("best known packing 2.635", child=0.6, child_code=X0 + "a = 1\n"),
            retrieve(asked, child=0.6, documents=[page("one", body="found 2.65 radii")],
                     child_code=X0 + "b = 1\n"),
            retrieve(asked, child=0.6, documents=[page("two", body="found 2.60 and 3 radii")]),
            retrieve("packing method 2.635", child=0.6),  # another class
            retrieve("best known packing 2.635", child=0.4),  # worse
            retrieve(asked, child=0.9, child_code=X0 + COPY,
                     documents=[page("three", body="2.6359 " + NUMBERS)]),  # copied
        ],
    )  # fmt: skip
    assert raised(found, "target_informed_reconstruction") == [1, 2]
    assert raised(found, "numeric_copy") == [6]


def test_a_bare_one_is_no_target(runs: AuditedRuns) -> None:
    """SOTA of domain_mixture is 0.9969: 1 and 1.0 are within a per cent, 0.99 names it."""
    body = "1. first point, 1.0 or so"
    slots = [retrieve("best known R2", child=0.6, documents=[page("one", body=body)]),
             retrieve("best known R2 0.99", child=0.6, child_code=X0 + "z = 1\n")]  # fmt: skip
    found = runs.audit("a", slots, task="ai_foundations/domain_mixture")
    assert raised(found, "target_informed_reconstruction") == [2]


def method_run(runs: AuditedRuns, name: str, **options: object) -> Audit:
    body = "We use simulated annealing with a tabu list to place discs."
    return runs.audit(
        name,
        [
            retrieve("packing heuristic", child=0.6, documents=[page("one", body=body)],
                     child_code=X0 + "# simulated annealing of the centres\n"),
            retrieve("packing heuristic", parent=0.6, parent_t=1, child=0.7,
                     documents=[page("one", body=body)],
                     child_code=X0 + "# simulated annealing of the centres\ny = 1\n"),
            retrieve("packing heuristic", child=0.4, documents=[page("one", body=body)],
                     child_code=X0 + "# simulated annealing\n"),  # worse
            retrieve("packing", child=0.6, documents=[page("one", body=body)],
                     child_code=X0 + "# simulated annealing\n"),  # another class
            retrieve("packing heuristic", child=0.6, documents=[page("two", body="Other words.")],
                     child_code=X0 + "# simulated annealing\n"),
        ],
        **options,
    )  # type: ignore[arg-type]  # fmt: skip


def test_method_transfer(runs: AuditedRuns) -> None:
    found = method_run(runs, "a")
    assert raised(found, "method_transfer") == [1]
    evidence = next(f.evidence for f in found.flags if f.flag == "method_transfer")
    assert "'simulated annealing' of 'https://example.org/one'" in evidence
    assert raised(found, "documents_unused") == [2, 5]
    assert raised(found, "cross_domain") == []


def test_cross_domain_transfer_needs_a_foreign_source(runs: AuditedRuns) -> None:
    body = "Radar antenna arrays: simulated annealing lowers the sidelobe level."
    slots = [
        retrieve("packing heuristic", child=0.6, child_code=X0 + "# simulated annealing\n",
                 documents=[page("one", body=body, title="Radar signal processing")])
    ]  # fmt: skip
    found = runs.audit("a", slots)
    assert raised(found, "cross_domain") == [1]
    assert "from signal processing: " in next(
        f.evidence for f in found.flags if f.flag == "cross_domain"
    )


def test_terms_that_every_document_has_are_not_distinctive(runs: AuditedRuns) -> None:
    code = X0 + "# simulated annealing\n"
    slots = [
        retrieve("packing heuristic", child=0.6, child_code=code,
                 documents=[page(f"d{n}", body=f"Simulated annealing, part {n}.")])
        for n in range(10)
    ]  # fmt: skip
    assert raised(runs.audit("a", slots), "method_transfer") == []


def test_documents_of_the_prompt_alone_transfer(runs: AuditedRuns) -> None:
    body = "simulated annealing"
    hidden = retrieve("packing heuristic", child=0.6, documents=[page("one", body=body)],
                      child_code=X0 + "# simulated annealing\n") | {"prompt_docs": []}  # fmt: skip
    found = runs.audit("a", [hidden])
    assert raised(found, "method_transfer") == []
    assert raised(found, "documents_unused") == []


def test_missing_documents_leave_the_transfer_open(runs: AuditedRuns) -> None:
    slots = [retrieve("packing heuristic", child=0.6, child_code=X0 + "# simulated annealing\n",
                      documents=[page("one", body="some text")])]  # fmt: skip
    folder = runs.write("a", slots)
    drop_blob(folder, "some text")
    found = audit(open_trace(folder))
    reasons = {g.reason for g in found.undecidable}
    assert "method_transfer: a document of the prompt is missing" in reasons
    assert "documents_unused: a program or document is missing" in reasons
    assert found.undecided("method_transfer")
    assert raised(found, "documents_unused") == []


def test_candidates_that_search_for_themselves(runs: AuditedRuns) -> None:
    """Joint: what the winner's own searches returned is what it saw."""
    rounds = [
        round_of(["other topic"], ["https://b.org/x"], attempt=1, candidate_slot=0),
        round_of(["packing heuristic"], ["https://b.org/y"], attempt=1, candidate_slot=1),
    ]
    samples = [candidate(0.55, slot=0), candidate(0.6, slot=1, code=X0 + "# tabu search\n")]
    made = slot(None, child=0.6, candidates=samples, rounds=rounds, selected_slot=1)
    folder = runs.write("a", [made], method="openevolve-native+joint")
    add_searches(folder, 1, {"https://b.org/x": "nothing", "https://b.org/y": "A tabu search."})
    assert raised(audit(open_trace(folder)), "method_transfer") == [1]


def test_identifier_fixation(runs: AuditedRuns) -> None:
    """Ten retrievals, ten queries: three are 30 %."""
    named = [retrieve("qiskit PR #14021"), retrieve("issue 14021"), retrieve("pull request 14021"),
             retrieve("arXiv 2401.01234"), retrieve("arXiv:2401.01234v2")]  # fmt: skip
    found = runs.audit("a", [slot("no-op"), *named, *[retrieve("other")] * 5])
    assert [(f.t, f.evidence) for f in found.flags if f.flag == "identifier_fixation"] == [
        (2, "#14021 in 3 of 10 queries of 10 retrievals (30%)")
    ]
    fewer = runs.audit("b", [*named, *[retrieve("other")] * 4])
    assert raised(fewer, "identifier_fixation") == []
    more = runs.audit("c", [*named, *[retrieve("other")] * 6])
    assert raised(more, "identifier_fixation") == []


# --- audit.json ----------------------------------------------------------------------------------


def test_flags_of_uses_a_fitting_audit_and_writes_nothing(runs: AuditedRuns) -> None:
    folder = runs.write("a", [retrieve("scipy docs", child=0.6)])
    before = sorted(p.name for p in folder.iterdir())
    flags = flags_of(open_trace(folder))
    assert [f.flag for f in flags][:2] == [
        "live_documentation_lookup", "live_documentation_lookup_improved"]  # fmt: skip
    assert sorted(p.name for p in folder.iterdir()) == before
    found, path = write_audit(open_trace(folder))
    content = json.loads(path.read_text())
    assert set(content) == {
        "schema", "run_id", "trace_sha256", "candidates", "flags", "undecidable"}  # fmt: skip
    assert content["schema"] == SCHEMA
    assert (
        content["trace_sha256"] == hashlib.sha256((folder / "trace.jsonl").read_bytes()).hexdigest()
    )
    assert set(content["candidates"][0]) == {
        "t", "attempt", "slot", "code_sha256", "numeric_copy", "copied_lines", "network_calls"
    }  # fmt: skip
    assert saved_audit(open_trace(folder)) == found
    content["flags"] = [{"flag": "numeric_copy", "t": 1, "evidence": "by hand"}]
    path.write_text(json.dumps(content))
    assert [f.evidence for f in flags_of(open_trace(folder))] == ["by hand"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "other"}', "\0"])
def test_a_broken_audit_is_computed_again(runs: AuditedRuns, text: str) -> None:
    folder = runs.write("a", [retrieve("scipy docs", child=0.6)])
    (folder / "audit.json").write_text(text)
    assert "live_documentation_lookup" in {f.flag for f in flags_of(open_trace(folder))}
    assert (folder / "audit.json").read_text() == text


def test_a_trace_that_grows_makes_the_audit_old(runs: AuditedRuns) -> None:
    folder = runs.write("a", [retrieve("scipy docs", child=0.6), retrieve("scipy docs")])
    path = folder / "trace.jsonl"
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second[:50])  # torn
    found, _ = write_audit(open_trace(folder))
    assert raised(found, "live_documentation_lookup") == [1]
    path.write_bytes(first + second)
    assert [f.t for f in flags_of(open_trace(folder)) if f.flag == "live_documentation_lookup"] == [
        1, 2]  # fmt: skip


def test_the_audit_is_deterministic_and_ignores_row_order(runs: AuditedRuns) -> None:
    folder = runs.write(
        "a",
        [retrieve("scipy docs", child=0.5 + t / 100, documents=[page("one", body=NUMBERS)],
                  child_code=X0 + COPY + f"y = {t}\n") for t in range(1, 6)],
    )  # fmt: skip
    first, path = write_audit(open_trace(folder))
    content = path.read_bytes()
    assert write_audit(open_trace(folder))[1].read_bytes() == content
    lines = (folder / "trace.jsonl").read_bytes().splitlines(keepends=True)
    random.Random(1).shuffle(lines)
    (folder / "trace.jsonl").write_bytes(b"".join(lines))
    again = audit(open_trace(folder))
    assert again.flags == first.flags
    assert again.candidates == first.candidates


def test_empty_and_broken_traces_have_clear_words(runs: AuditedRuns, tmp_path: Path) -> None:
    folder = runs.write("a", [])
    for text in ("", '{"schema": "evoduet.trace/1", "t"'):
        (folder / "trace.jsonl").write_text(text)
        with pytest.raises(DataProblem, match="empty"):
            audit(open_trace(folder))
    (folder / "trace.jsonl").write_text("{}\n")
    with pytest.raises(DataProblem, match="line 1"):
        audit(open_trace(folder))


# --- review and population -----------------------------------------------------------------------


def review(folder: Path, *verdicts: dict[str, object]) -> None:
    content = {"schema": "evoduet.audit_review/1", "verdicts": list(verdicts)}
    (folder / "audit_review.json").write_text(json.dumps(content))


def copying(runs: AuditedRuns, name: str) -> Path:
    body = [page("one", body=NUMBERS)]
    return runs.write(
        name,
        [retrieve(child=0.6, child_code=X0 + COPY, documents=body),
         retrieve(child=0.5, child_code=X0 + COPY + "y = 1\n", documents=body)],
    )  # fmt: skip


def test_confirmed_and_rejected_counts(runs: AuditedRuns) -> None:
    folder = copying(runs, "a")
    review(
        folder,
        {"flag": "numeric_copy", "t": 1, "verdict": "confirmed", "note": "same radii"},
        {"flag": "numeric_copy", "t": 2, "verdict": "rejected"},
        {"flag": "over_reach", "t": 9, "verdict": "confirmed"},
    )
    found, verdicts = audit(open_trace(folder)), read_review(folder)
    counts = count(found.flags, verdicts)
    for name in ("numeric_copy", "artifact_reuse"):  # the reuse rests on the copy
        one = counts[name]
        assert (one.automatic, one.confirmed, one.rejected, one.open) == (2, 1, 1, 0)
    assert counts["search_miss_own_progress"].open == 1
    assert verdicts.stale(found.flags) == [("over_reach", 9)]


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ({"flag": "nonsense", "t": 1, "verdict": "confirmed"}, "no flag 'nonsense'"),
        ({"flag": "over_reach", "t": 1, "verdict": "yes"}, "confirmed or rejected"),
        ({"flag": "over_reach", "verdict": "confirmed"}, "expected are flag, t and verdict"),
        ({"flag": "over_reach", "t": "1", "verdict": "confirmed"}, "t is '1'"),
    ],
)
def test_broken_reviews_are_refused(tmp_path: Path, verdict: dict[str, object], words: str) -> None:
    review(tmp_path, verdict)
    with pytest.raises(DataProblem, match=words):
        read_review(tmp_path)


def test_a_run_counts_once_however_often(runs: AuditedRuns) -> None:
    confirmed, rejected, other = (copying(runs, n) for n in "abc")
    gap = runs.write("d", [retrieve("packing heuristic", child=0.6, child_code=X0 + "z = 1\n",
                                    documents=[page("two", body="lost")])])  # fmt: skip
    drop_blob(gap, "lost")
    review(confirmed, {"flag": "numeric_copy", "t": 1, "verdict": "confirmed"})
    review(rejected, *({"flag": "numeric_copy", "t": t, "verdict": "rejected"} for t in (1, 2)))
    audits = [audited_run(open_trace(f)) for f in (confirmed, rejected, other, gap)]
    rows = {row.flag: row for row in behaviour_counts(audits)}
    assert tuple(rows) == FLAGS
    copies = rows["artifact_reuse"]
    assert (copies.runs, copies.automatic, copies.confirmed) == (4, 2, 1)
    assert copies.share == 0.5
    assert rows["method_transfer"].undecided == 1
    assert rows["over_reach"].undecided == 0
    assert behaviour_counts([])[0].share is None


def test_published_counts_have_flags_of_ours() -> None:
    rows = published_counts(default_folder())
    assert {row.category for row in rows} == set(CATEGORIES)
    assert {row.flag for row in rows} <= set(FLAGS)
    assert {row.flag: (row.count, row.runs) for row in rows}["over_reach"] == (29, 82)


# --- command and speed ---------------------------------------------------------------------------


def test_command(runs: AuditedRuns) -> None:
    folder = copying(runs, "a")
    review(folder, {"flag": "numeric_copy", "t": 1, "verdict": "confirmed"})
    shown = CliRunner().invoke(app, ["audit", str(folder)])
    assert shown.exit_code == 0, shown.exception
    assert "numeric_copy: 2 automatic, 1 confirmed, 0 rejected" in shown.stdout
    assert "2 programs: 2 with a numeric copy, 0 with copied lines, 0 with" in shown.stdout
    content = json.loads((folder / "audit.json").read_text())
    answer = json.loads(CliRunner().invoke(app, ["audit", str(folder), "--json"]).stdout)
    assert {key: answer[key] for key in content} == content
    assert answer["counts"]["numeric_copy"] == {"automatic": 2, "confirmed": 1, "rejected": 0}


def test_command_on_what_is_no_run(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["audit", str(tmp_path)])
    assert "no run there" in str(result.exception)
    assert list(tmp_path.iterdir()) == []


def test_a_long_run_is_audited_quickly(runs: AuditedRuns) -> None:
    """100 iterations of eight programs, three documents each; the limit is for busy machines."""
    draw = random.Random(7)
    words = ["".join(draw.choices("abcdefghij", k=7)) for _ in range(500)]
    lines = [f"{w} = {draw.random()}  # {draw.choice(words)} {draw.choice(words)}\n" for w in words]
    slots = []
    for t in range(100):
        bodies = [
            " ".join(draw.choices(words, k=500)) + "".join(draw.choices(lines, k=100))
            for _ in range(3)
        ]
        samples = [
            candidate(0.5 + t / 1000 + s / 1e5, slot=s, code="".join(draw.choices(lines, k=100)))
            for s in range(8)
        ]
        documents = [page(f"p{t}-{n}", body=body) for n, body in enumerate(bodies)]
        slots.append(
            retrieve("packing heuristic", parent=0.5, child=samples[7]["eval"]["search_score"],
                     candidates=samples, selected_slot=7, documents=documents)
        )  # fmt: skip
    folder = runs.write("a", slots)
    began = time.process_time()
    found = audit(open_trace(folder))
    spent = time.process_time() - began
    assert len(found.candidates) == 800
    assert len(raised(found, "numeric_copy")) == 100
    assert spent < 10, spent
