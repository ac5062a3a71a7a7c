"""Hosts, provenance, ages, outcomes, queries and flags of traces that can be counted by hand."""

from __future__ import annotations

import json

import pytest
from published_copy import read_csv
from synthetic_traces import (
    SyntheticRuns,
    candidate,
    counted,
    page,
    query,
    result,
    round_of,
    slot,
)

from analysis.behaviour.flags import files as flag_files
from analysis.behaviour.flags import read_flags
from analysis.behaviour.queries import japanese
from analysis.output import write_files
from analysis.reading import read_traces
from analysis.runs import read_study


def test_hosts_count_once_an_iteration(synthetic: SyntheticRuns) -> None:
    found = ["https://github.com/a", "https://www.github.com/b", "https://arxiv.org/1"]
    kept = [page("one", url="https://arxiv.org/1")]
    synthetic.run("a", [
        slot("retrieve", queries=["q"], returned=found, documents=kept),
        slot("retrieve", queries=["q"], returned=["https://github.com/a"]),
        slot("retrieve"),                        # found nothing, stays in the denominator
        slot("look-up", documents=kept),         # no retrieval
        slot("no-op"),
    ])  # fmt: skip
    synthetic.run("b", [slot("retrieve", queries=["q"], returned=found)], task="rosetta")
    files = counted(synthetic)
    assert read_csv(files["hosts"]) == [
        {"domain": "Astrodynamics", "host": "arxiv.org", "iterations": "1", "share": "1"},
        {"domain": "Astrodynamics", "host": "github.com", "iterations": "1", "share": "1"},
        {"domain": "Mathematics", "host": "github.com", "iterations": "2", "share": str(2 / 3)},
        {"domain": "Mathematics", "host": "arxiv.org", "iterations": "1", "share": str(1 / 3)},
    ]
    (retained,) = read_csv(files["hosts_retained"])
    assert (retained["host"], retained["iterations"]) == ("arxiv.org", "1")
    assert [r["retrieval_iterations"] for r in read_csv(files["hosts_n"])] == ["1", "3"]


def test_provenance_and_ages_by_hand(synthetic: SyntheticRuns) -> None:
    def look(*pages: tuple[str, int], **more: object) -> dict[str, object]:
        documents = [page(name, first_t=t) for name, t in pages]
        return slot("look-up", documents=documents, **more)  # type: ignore[arg-type]

    first = slot("retrieve", documents=[page("one"), page("two")])
    idle = [slot("no-op")] * 7
    synthetic.run("a", [
        first, look(("one", 1)), *idle, slot("retrieve", documents=[page("three")]),      # t = 10
        look(("one", 1), ("three", 10), unresolved=["doc_x"]),                            # t = 11
        look(("two", 1)),                                                                 # t = 12
        look(("ghost", 99)),                                       # never retrieved before t = 13
    ])  # fmt: skip
    synthetic.run("b", [*[slot("no-op")] * 100, first, look(("one", 101))], model="Gemini")
    files = counted(synthetic)
    assert files["fig14"].splitlines() == [
        "domain,from_bin,to_bin,pairs", "Mathematics,1-10,1-10,1", "Mathematics,1-10,11-20,3",
    ]  # fmt: skip
    assert files["fig14_counts"].splitlines()[1] == "Mathematics,5,2,1"
    assert files["fig15"].splitlines() == [
        "domain,model,age,count", "Mathematics,Gemini,1,1", "Mathematics,Luna,1,2",
        "Mathematics,Luna,10,1", "Mathematics,Luna,11,1",
    ]  # fmt: skip
    assert files["fig15_medians"].splitlines()[1:] == [
        "Mathematics,Gemini,1,1", "Mathematics,Luna,4,5.5",
    ]  # fmt: skip


def test_outcomes_by_documents_in_the_prompt(synthetic: SyntheticRuns) -> None:
    pages = [page("one", predicted=0.9)]
    failed = [candidate(status="invalid"), candidate(status="error", attempt=2)]
    synthetic.run("a", [
        slot("retrieve", child=0.6, documents=pages),
        # decided and given, but not in the prompt: exposure is read back, not intended
        slot("retrieve", child=0.6, documents=pages, prompt_docs=[]),
        slot("look-up", child=0.5, documents=pages),
        slot("retrieve", documents=pages, candidates=failed),
        slot("retrieve", documents=pages),
        slot("no-op", candidates=failed),
        slot("no-op", child=0.4),
        slot("no-op", child=0.7, candidates=[candidate(status="invalid"),
                                             candidate(0.7, attempt=2)]),
        slot("no-op", child=0.4, errors=["retrieval_error: down"]),      # excluded
        None,
        *[slot("no-op", child=0.4)] * 90,
        slot("no-op", child=0.9), slot("no-op", child=0.9),              # t > 100
    ])  # fmt: skip
    files = counted(synthetic)
    found = {(row["docs"], row["outcome"]): int(row["count"]) for row in read_csv(files["fig16"])}
    assert found == {
        ("yes", "improved"): 1, ("yes", "equal"): 1, ("yes", "lower"): 0,
        ("yes", "evaluation_failed"): 1, ("yes", "no_program"): 1,
        ("no", "improved"): 2, ("no", "equal"): 0, ("no", "lower"): 91,
        ("no", "evaluation_failed"): 1, ("no", "no_program"): 0,
    }  # fmt: skip
    rates = {(row["docs"], row["rate"]): (row["k"], row["n"])
             for row in read_csv(files["fig16_rates"])}  # fmt: skip
    assert rates["yes", "evaluation_failed"] == ("1", "4")
    assert rates["yes", "first_attempt_failed"] == ("2", "4")
    assert rates["yes", "first_attempt_evaluation_failed"] == ("1", "4")
    assert rates["no", "evaluation_failed"] == ("1", "94")
    assert rates["no", "first_attempt_failed"] == ("2", "94")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("circle packing", None),
        ("Erdős café naïve ½ 円 packing", None),
        ("円の充填", "kana"),
        ("最適化", "ideographs"),
        ("優化 算法", "ideographs"),
        ("ヒューリスティック", "kana"),
        ("ﾋｰﾄ", "kana"),
        ("a・b", None),
        ("한국어 검색", None),
        ("", None),
    ],
)
def test_japanese(text: str, why: str | None) -> None:
    assert japanese(text) == why


def test_phrases_by_hand(synthetic: SyntheticRuns) -> None:
    asked = [query("円の充填"), query("最適化"), query("plain"), query(None),
             query("円の充填", executed=False, duplicate_of=0)]  # fmt: skip
    synthetic.run("a", [slot("retrieve", rounds=[round_of(asked)])], task="ahc039", n=8)
    synthetic.run("b", [slot("retrieve", queries=["plain"])], n=8)
    synthetic.run("c", [slot("no-op")], n=8)
    synthetic.run("d", [slot(None, queries=["plain"])], method="openevolve-native+joint")
    files = counted(synthetic)
    rows = read_csv(files["fig10_queries"])
    assert [(r["retriever"], r["N"], r["n"], r["matched"], r["with_kana"], r["ideographs_only"])
            for r in rows] == [("evoduet", "8", "5", "3", "2", "1"),
                               ("joint", "1", "1", "0", "0", "0")]  # fmt: skip
    runs = read_csv(files["fig10_runs"])
    assert [(r["n"], r["matched"], r["share"]) for r in runs] == [
        ("2", "1", "0.5"), ("1", "0", "0"),
    ]  # fmt: skip
    matches = read_csv(files["fig10_matches"])
    assert [(m["run_id"], m["task_id"], m["t"], m["match"]) for m in matches] == [
        ("a", "ahc039", "1", "kana"), ("a", "ahc039", "1", "ideographs"),
        ("a", "ahc039", "1", "kana"),
    ]  # fmt: skip


def test_half_a_surrogate_pair_can_be_written(synthetic: SyntheticRuns) -> None:
    folder = synthetic.run("a", [slot("retrieve", queries=["円の充填 X"])])
    path = folder / "trace.jsonl"
    path.write_text(path.read_text().replace("充填 X", "充填 \\udc80"))
    files = {"fig10_matches.csv": counted(synthetic)["fig10_matches"]}
    (written,) = write_files(synthetic.folder.with_name("out"), files)
    assert written.read_text().splitlines()[1].endswith("円の充填 ?")


def test_searching_goes_on_by_hand(synthetic: SyntheticRuns) -> None:
    first, second = "https://a.org/1", "https://a.org/2"
    synthetic.run("a", [
        slot(None, child=0.6, queries=["x", "y"], returned=[first, first, second]),
        slot(None, child=0.5),
        None,
        slot(None, child=0.6, rounds=[round_of(["z"], [second]), round_of(
            [query("z", executed=False)], r=2)]),
    ], method="openevolve-native+joint", task="denoising")  # fmt: skip
    synthetic.run("b", [slot("no-op")])
    files = counted(synthetic)
    curve = read_csv(files["search_curves"])
    assert [(r["t"], r["executed_queries"], r["returned"], r["distinct_urls"]) for r in curve] == [
        ("0", "0", "0", "0"), ("1", "2", "3", "2"), ("2", "2", "3", "2"), ("3", "2", "3", "2"),
        ("4", "3", "4", "2"),
    ]  # fmt: skip
    (end,) = read_csv(files["search_ends"])
    assert (end["iterations_with_search"], end["repeat_share"]) == ("2", "0.5")
    assert end["last_improving_iteration"] == "1"
    assert end["retriever"] == "joint"


def test_flags_are_one_row_a_run_with_the_first_sign(synthetic: SyntheticRuns) -> None:
    miss = slot("retrieve", parent=0.5, child=0.7, documents=[page("one", predicted=0.4)])
    more = slot("retrieve", parent=0.5, child=0.8, documents=[page("two", predicted=0.4)])
    synthetic.run("a", [slot("no-op"), miss, more])
    synthetic.run("b", [slot("no-op")])
    flags = read_flags(read_traces(read_study(synthetic.folder)).runs)
    files = {file.name: file.text() for file in flag_files(flags)}
    rows = [r for r in read_csv(files["flags"]) if r["flag"] == "search_miss_own_progress"]
    (row,) = rows
    assert (row["run_id"], row["first_t"]) == ("a", "2")
    assert "0.7" in row["evidence"]
    counts = {r["flag"]: (r["runs"], r["automatic"]) for r in read_csv(files["fig8_flags"])}
    assert counts["search_miss_own_progress"] == ("2", "1")


def test_flags_come_from_an_audit_that_fits(synthetic: SyntheticRuns) -> None:
    folder = synthetic.run("a", [slot("no-op")])
    reading = read_traces(read_study(synthetic.folder))
    from analysis.audit import audit
    from analysis.traces import open_trace

    saved = audit(open_trace(folder)).to_json()
    saved["flags"] = [{"flag": "over_reach", "t": 1, "evidence": "written by hand"}]
    (folder / "audit.json").write_text(json.dumps(saved))
    (table, _) = flag_files(read_flags(reading.runs))
    assert list(table.rows) == [("a", "over_reach", 1, "written by hand")]
    with (folder / "trace.jsonl").open("a") as file:
        file.write(" ")
    (table, _) = flag_files(read_flags(reading.runs))
    assert list(table.rows) == []


def test_results_without_hosts_count_as_returned(synthetic: SyntheticRuns) -> None:
    rows = [result("corpus:1", host=None), result("corpus:2", host="")]
    synthetic.run("a", [slot("retrieve", rounds=[round_of(["q"], rows)])])
    files = counted(synthetic)
    assert read_csv(files["hosts"]) == []
    (end,) = read_csv(files["search_ends"])
    assert (end["returned"], end["distinct_urls"]) == ("2", "2")
