"""Traces of others: counts by hand, from records with few fields and manifests of several forms."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from published_copy import read_csv

from analysis.published import Published
from analysis.rows import DataProblem
from analysis.runs import read_run, read_study
from analysis.tables.build import run_files
from analysis.traces import open_trace

Made = dict[str, Any]

MANIFEST: Made = {
    "run_id": "x", "task_id": "cp26", "scaffold": "openevolve-native", "method": "evoduet",
    "model": "Luna", "N": 1, "R": 3, "J": 1, "M": 5, "D": 3, "gate": "knowledge", "seed": 42,
    "T": 14, "x0": 1.39, "sota": 2.635983, "direction": "max",
}  # fmt: skip
SUMMARY: Made = {
    "run_id": "x", "status": "finished", "T": 14, "done": 10,
    "best": {"t": 9, "search_score": 1.5, "objective": 1.5, "reporting": 1.5},
    "x0": {"search_score": 1.0, "objective": 1.0, "reporting": 1.0},
}  # fmt: skip


def document(number: int, predicted: float) -> Made:
    return {"doc_id": f"r{number}", "db_id": f"doc_{number:06d}", "predicted": predicted,
            "url": f"https://h{number}.org/p"}  # fmt: skip


def slot(
    t: int, decision: str, parent: float, child: float | None,
    given: Sequence[Made] = (), urls: Sequence[str] = (), **more: Any,
) -> Made:  # fmt: skip
    """A record of what nothing can be derived from, and no more."""
    results = [{"doc_id": f"s{t}{place}", "url": url} for place, url in enumerate(urls)]
    rounds = [{"queries": [{"text": "circle packing"}], "searches": [{"results": results}]}]
    verdict = {"search_score": child}
    made: Made = {
        "schema": "evoduet.trace/1", "t": t, "parent": {"score": parent},
        "gate": {"decision": decision}, "documents": list(given),
        "prompt_docs": [row["doc_id"] for row in given], "candidates": [{"eval": verdict}],
        "child": None if child is None else {"search_score": child},
    }  # fmt: skip
    return made | ({"rounds": rounds} if urls else {}) | more


def records() -> list[Made]:
    one, two = document(1, 1.5), document(2, 0.9)
    return [
        slot(1, "retrieve", 1.0, 1.2, [one, two], ["https://www.GitHub.com/a", "https://a.org"]),
        slot(2, "no-op", 1.2, 1.1),
        slot(3, "retrieve", 1.2, 1.3, [document(3, 1.2)], ["https://a.org/y"]),
        slot(4, "look-up", 1.0, 1.0, [one, two],
             gate={"decision": "look-up", "unresolved_ids": ["doc_999999"]}),
        slot(5, "missing", 1.3, 1.4),
        slot(6, "retrieve", 1.0, None, [document(4, 2.0)], ["https://b.org"]),
        slot(7, "no-op", 1.0, None, candidates=[{"parse": "parse_error", "eval": None}]),
        slot(9, "no-op", 1.0, 1.5),
        slot(12, "look-up", 1.0, 1.2, [one]),
        slot(13, "retrieve", 1.5, 1.4, [document(5, 3.0)], ["https://b.org"],
             external_errors=["retrieval_error"]),
    ]  # fmt: skip


def write(
    folder: Path, made: Sequence[Made], summary: Made | None = None, manifest: Made | None = None
) -> Path:
    folder.mkdir(parents=True)
    (folder / "trace.jsonl").write_text("".join(json.dumps(record) + "\n" for record in made))
    for name, content in (("summary", summary), ("manifest", manifest)):
        if content is not None:
            (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def rows(files: Mapping[str, str], name: str) -> list[tuple[str, ...]]:
    return [tuple(row.values()) for row in read_csv(files[f"{name}.csv"])]


HAND = {
    "fig8_rates": [
        ("no-op", "2", "1", "1", "0.5", "0.5"), ("look-up", "2", "1", "0", "0.5", "0"),
        ("retrieve_promising", "2", "1", "1", "0.5", "0.5"),
        ("retrieve_other", "1", "1", "1", "1", "1"),
    ],
    "fig8_corr": [("cp26", "3", "0.5")],
    # 5 without an answer, 8 and 10 without a record; then 11 and 14 of four slots
    "fig13": [
        ("Mathematics", "Luna", "1-10", "0.3", "0.1", "0.3"),
        ("Mathematics", "Luna", "11-20", "0.25", "0.25", "0.5"),
    ],
    "fig14": [("Mathematics", "1-10", "1-10", "2"), ("Mathematics", "1-10", "11-20", "1")],
    "fig14_counts": [("Mathematics", "3", "1", "0")],
    "fig15": [("Mathematics", "Luna", "3", "2"), ("Mathematics", "Luna", "11", "1")],
    "hosts": [
        ("Mathematics", "a.org", "2", "0.5"), ("Mathematics", "b.org", "2", "0.5"),
        ("Mathematics", "github.com", "1", "0.25"),
    ],
}  # fmt: skip
HAND_FIG16 = {
    ("Luna", "1", "yes", "improved"): 3, ("Luna", "1", "yes", "equal"): 1,
    ("Luna", "1", "yes", "evaluation_failed"): 1, ("Luna", "1", "no", "improved"): 2,
    ("Luna", "1", "no", "lower"): 1, ("Luna", "1", "no", "no_program"): 1,
}  # fmt: skip


def check(files: Mapping[str, str]) -> None:
    for name, expected in HAND.items():
        assert rows(files, name) == expected, name
    counted = {row[:4]: int(row[4]) for row in rows(files, "fig16")}
    assert {key: count for key, count in counted.items() if count} == HAND_FIG16
    flags = {(row[1], row[2]) for row in rows(files, "flags")}
    assert flags == {("search_miss_own_progress", "3"), ("over_reach", "13")}


@pytest.mark.parametrize("form", ["file", "journal", "journal_flat", "in_summary", "beside", "own"])
def test_counts_by_hand_whatever_holds_the_manifest(
    tmp_path: Path, data: Published, form: str
) -> None:
    own = {"run_id": "x", "model": "Luna", "config": {
        "task": "mathematics/cp26", "method": "openevolve-native+evoduet", "candidates": 1,
        "iterations": 14, "seed": 42, "gate": "knowledge"}}  # fmt: skip
    beside = {key: value for key, value in MANIFEST.items() if key != "x0"}
    summary = SUMMARY | {"in_summary": {"manifest": MANIFEST}, "beside": beside}.get(form, {})
    stated = {"file": MANIFEST, "own": own}.get(form)
    folder = write(tmp_path / "runs" / "x", records(), summary, stated)
    if form.startswith("journal"):
        told = {"data": MANIFEST} if form == "journal" else MANIFEST
        (folder / "journal.jsonl").write_text(json.dumps({"event": "run_started", **told}) + "\n")
    files, notes = run_files(tmp_path / "runs", data)
    assert not notes
    check(files)
    run = read_run(folder)
    assert (run.configuration.n, run.seed) == (1, 42)
    assert run.configuration.method == "openevolve-native+evoduet"
    anchors = run.task.declared.anchors
    x0, sota = anchors.initial.value, anchors.sota.value
    assert run.ndg == pytest.approx(100 * (1.5 - x0) / (sota - x0))  # the summary has none


def test_order_of_records_and_a_growing_trace(tmp_path: Path, data: Published) -> None:
    write(tmp_path / "a" / "x", records()[::-1], SUMMARY, MANIFEST)
    check(run_files(tmp_path / "a", data)[0])
    folder = write(tmp_path / "b" / "x", records(), None, MANIFEST)
    with (folder / "trace.jsonl").open("a") as file:
        file.write('{"schema": "evoduet.trace/1", "t": 14, "par')
    files, notes = run_files(tmp_path / "b", data)
    assert rows(files, "fig8_rates") == HAND["fig8_rates"]
    third = "0.3333333333333333"  # 11 to 13: what has not been run is not missing
    assert rows(files, "fig13")[1] == ("Mathematics", "Luna", "11-20", third, third, third)
    said = "\n".join(notes)
    for part in ("no summary.json", "is torn", "counted up to iteration 13 of 14"):
        assert part in said


def test_what_needs_no_task_is_counted_without_one(tmp_path: Path, data: Published) -> None:
    write(tmp_path / "bare" / "x", records())
    files, notes = run_files(tmp_path / "bare", data)
    assert rows(files, "fig8_rates") == HAND["fig8_rates"]
    assert any("counted up to iteration 13 of unknown" in note for note in notes)
    toy = MANIFEST | {"task_id": "toy", "domain": "Toys"}
    write(tmp_path / "toy" / "x", records(), SUMMARY, toy)
    files, notes = run_files(tmp_path / "toy", data)
    assert rows(files, "fig8_corr") == [("toy", "3", "0.5")]
    assert {row[0] for row in rows(files, "fig13")} == {"Toys"}
    said = "\n".join(notes)
    assert "unknown task 'toy'" in said
    assert "its trace is counted all the same" in said


def test_what_is_not_told_is_named_and_never_zero(tmp_path: Path, data: Published) -> None:
    made = records()
    del made[0]["prompt_docs"]
    del made[5]["candidates"]
    made[8]["parent"]["score"] = None
    write(tmp_path / "x", made, SUMMARY, MANIFEST)
    files, notes = run_files(tmp_path, data)
    counted = sum(int(row[4]) for row in rows(files, "fig16"))
    assert counted == sum(HAND_FIG16.values()) - 3
    assert rows(files, "fig8_rates")[1] == ("look-up", "1", "0", "0", "0", "0")
    assert [note.partition(": ")[2] for note in notes] == [
        "1 iterations do not tell the parent's score, so they are not in Figure 8(b)",
        "1 iterations do not tell what stood in the prompt, so they are not in Figure 16",
        "2 iterations do not tell how they ended, so they are not in Figure 16",
    ]


def test_damaged_manifests_are_named(tmp_path: Path) -> None:
    folder = write(tmp_path / "x", records(), SUMMARY)
    (folder / "manifest.json").write_text("{")
    with pytest.raises(DataProblem, match=r"manifest\.json: not JSON"):
        open_trace(folder)
    (folder / "manifest.json").write_text("[1]")
    with pytest.raises(DataProblem, match=r"manifest\.json: not a JSON object"):
        open_trace(folder)
    (folder / "manifest.json").write_text(json.dumps(MANIFEST))
    (folder / "journal.jsonl").write_text("")  # a file that tells nothing hides nothing
    assert open_trace(folder).candidates == 1


@pytest.mark.parametrize("line", [b"\x89\xff\xfe\n", b"[" * 200_000 + b"\n"])
def test_a_run_of_garbage_stops_no_study(line: bytes, tmp_path: Path) -> None:
    folder = tmp_path / "garbage"
    folder.mkdir()
    for name in ("journal.jsonl", "trace.jsonl", "summary.json", "manifest.json"):
        (folder / name).write_bytes(line)
    with pytest.raises(DataProblem, match=r"garbage"):
        open_trace(folder)
    (folder / "summary.json").write_text("{}")
    study = read_study(tmp_path)
    assert study.runs == ()
    assert any("garbage" in note for note in study.notes)
