"""Curves of traces that can be counted by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from written_runs import WrittenRuns

from analysis.progress import Progress, ProgressFold
from analysis.reading import feed, read_traces
from analysis.run_curves import waits
from analysis.runs import read_run, read_study
from analysis.traces import open_trace
from benchmark.catalogue import find_task
from benchmark.ndg import ndg

ANCHORS = find_task("cp26").declared.anchors


def gain(value: float) -> float:
    return ndg(value, ANCHORS.initial.value, ANCHORS.sota.value).value


def curves(written: WrittenRuns, *steps: dict[str, object], **more: object) -> Progress:
    return progress_of(written.run("r", list(steps), **more))  # type: ignore[arg-type]


def progress_of(folder: Path) -> Progress:
    fold = ProgressFold(read_run(folder))
    assert feed(open_trace(folder), {"curves": fold}) == {}
    return fold.result()


def test_counts_on_every_axis(written: WrittenRuns) -> None:
    found = curves(
        written,
        {"score": 1.5, "evaluations": 8, "usd": 0.2, "calls": 9, "tokens": 1000},
        {"best": 1.5, "evaluations": 0, "usd": 0.1, "calls": 2, "tokens": 50},
        {"score": 2.5, "evaluations": 3, "usd": None, "calls": 0, "tokens": 0},
        x0=1.4,
    )
    assert found.measure == "ndg"
    values = [gain(1.4), gain(1.5), gain(1.5), gain(2.5)]
    expected = {
        "iterations": [0, 1, 2, 3],
        "evaluations": [0, 8, 8, 11],
        "llm_calls": [0, 9, 11, 11],
        "tokens": [0, 1000, 1050, 1050],
        "usd": [0, 0.2, 0.3, 0.3],
        "seconds": [0, 60, 120, 180],
    }
    assert set(found.curves) == set(expected)
    for axis, costs in expected.items():
        assert found.curves[axis].cost.tolist() == pytest.approx(costs), axis
        assert found.curves[axis].value.tolist() == pytest.approx(values), axis


def test_candidates_of_all_attempts_count_when_they_were_evaluated(written: WrittenRuns) -> None:
    verdict = {"status": "invalid", "search_score": None}
    candidates = [{"attempt": 1, "eval": verdict}, {"attempt": 1, "eval": None},
                  {"attempt": 2, "eval": verdict}]  # fmt: skip
    found = curves(written, {"candidates": candidates})
    assert found.curves["evaluations"].spent == 2


def test_unknown_prices_are_unknown_not_free(written: WrittenRuns) -> None:
    found = curves(written, {"usd": 0.2}, {"usd": None, "unpriced": 1}, {"usd": 0.2})
    assert "usd" not in found.curves
    searched = {"requests": 3, "credits": 3, "cost_usd": None}
    other = WrittenRuns(written.folder / "other")
    assert "usd" not in curves(other, {"search_usage": searched}).curves
    paid = WrittenRuns(written.folder / "paid")
    usd = curves(paid, {"usd": 0.2, "search_usage": {**searched, "cost_usd": 0.05}}).curves["usd"]
    assert usd.spent == pytest.approx(0.25)


def test_held_out_tasks_have_ndg_at_report_points_alone(written: WrittenRuns) -> None:
    anchors = find_task("denoising").declared.anchors
    half = (anchors.initial.value + anchors.sota.value) / 2
    child = {"search_score": 0.5, "objective": None}
    step = {"new_best": True, "child": child, "best": 0.5}
    held = {"task": "scientific_algorithms/denoising", "x0": None}
    found = curves(
        written, step, {**step, "report": {"id": "p", "reporting": half}}, step,
        {**step, "report": {"id": "q", "reporting": anchors.initial.value}}, **held,
    )  # fmt: skip
    assert found.measure == "ndg"
    assert found.curves["iterations"].value.tolist() == pytest.approx([0, 0, 50, 50, 0])
    plain = curves(WrittenRuns(written.folder / "plain"), step, {**step, "best": 0.7}, **held)
    assert plain.measure == "search_score"
    assert plain.curves["iterations"].value.tolist() == [0.25, 0.5, 0.7]


def test_a_clock_that_was_set_back_stands_still(written: WrittenRuns) -> None:
    found = curves(written, {}, {"ended": "2025-12-31T23:00:00+00:00"}, {})
    assert found.curves["seconds"].cost.tolist() == [0, 60, 60, 180]


def test_an_empty_trace_gives_a_note(written: WrittenRuns) -> None:
    folder = written.run("empty", [{}], best={"ndg": 5.0})
    (folder / "trace.jsonl").write_text("")
    found = read_traces(read_study(written.folder))
    assert found.curves.progress == ()
    (note,) = found.notes
    assert "empty/trace.jsonl: the trace is empty, no iteration has closed yet" in note


def test_what_one_count_cannot_read_the_others_can(written: WrittenRuns) -> None:
    folder = written.run("r", [{}], best={"ndg": 5.0})
    text = (folder / "trace.jsonl").read_text()
    (folder / "trace.jsonl").write_text(text.replace('"started": "', '"started": "on '))
    found = read_traces(read_study(written.folder))
    assert found.curves.progress == ()
    assert [run.run_id for run in found.runs] == ["r"]
    (note,) = found.notes
    assert note.startswith("no curves: ")
    assert "iteration 1 of the trace cannot be read (ValueError(" in note


def test_usage_that_is_not_told_is_unknown(written: WrittenRuns) -> None:
    folder = written.run("r", [{"score": 2.0, "evaluations": 2}, {}], best={"ndg": 5.0})
    text = (folder / "trace.jsonl").read_text()
    (folder / "trace.jsonl").write_text(text.replace('"usage"', '"used"'))
    found = progress_of(folder)
    assert set(found.curves) == {"iterations", "evaluations", "seconds"}
    (folder / "trace.jsonl").write_text(text.replace('"candidates"', '"sampled"'))
    assert "evaluations" not in progress_of(folder).curves


def test_missing_slots_leave_a_gap_in_iterations_alone(written: WrittenRuns) -> None:
    folder = written.run("r", [{}, {}, {}])
    path = folder / "trace.jsonl"
    first, _, third = path.read_text().splitlines(keepends=True)
    path.write_text(first + third)
    found = progress_of(folder)
    assert found.curves["iterations"].cost.tolist() == [0, 1, 3]
    assert found.curves["evaluations"].cost.tolist() == [0, 1, 2]
    assert json.loads(third)["t"] == 3


def test_waits_name_axis_and_level(written: WrittenRuns) -> None:
    half = (ANCHORS.initial.value + ANCHORS.sota.value) / 2 + 1e-6
    for seed, quick in enumerate((True, False, True)):
        steps = [{"score": half if quick else 1.4, "usd": None, "unpriced": 1}, {"best": 1.4}]
        written.run(f"r{seed}", steps, x0=1.3, best={"ndg": 50.0})
    rows = waits(read_traces(read_study(written.folder)).curves).table.rows
    assert [tuple(row[5:]) for row in rows] == [
        ("evaluations", 50.0, 3, 2, 1.0),
        ("evaluations", 80.0, 3, 0, None),
        ("evaluations", 95.0, 3, 0, None),
        ("evaluations", 100.0, 3, 0, None),
    ]
