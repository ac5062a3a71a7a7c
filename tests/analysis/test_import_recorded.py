"""Recorded runs as run folders; every trap that their description names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from published_copy import read_csv
from recorded_files import PARENT, ROUNDED, Made, erdos_run, point, step, swap_run, write
from typer.testing import CliRunner, Result

from analysis.audit import audit, flags_of, saved_audit
from analysis.behaviour.files import behaviour_files
from analysis.reading import read_traces
from analysis.recorded.objectives import objective_of
from analysis.recorded.run import LABEL
from analysis.runs import read_run, read_study
from analysis.traces import Trace, open_trace
from benchmark.catalogue import find_task
from benchmark.cli import app, main
from benchmark.commands.options import UsageProblem
from method.runs import summarise
from method.trace import read_trace

Records = dict[int, dict[str, Any]]


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["import-recorded", *map(str, arguments)])


def imported(tmp_path: Path, made: Made, **changes: Any) -> Trace:
    file = write(tmp_path / "file.json", made, **changes)
    result = run(file, "--out", tmp_path / "run")
    assert result.exit_code == 0, result.exception
    return open_trace(tmp_path / "run")


def refused(tmp_path: Path, made: Made, **changes: Any) -> str:
    file = write(tmp_path / "file.json", made, **changes)
    result = run(file, "--out", tmp_path / "run")
    assert isinstance(result.exception, UsageProblem), result.exception
    assert not (tmp_path / "run").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["file.json"]
    return str(result.exception)


@pytest.fixture
def swap(tmp_path: Path) -> Trace:
    return imported(tmp_path, swap_run())


@pytest.fixture
def records(swap: Trace) -> Records:
    return {record["t"]: record for record in swap.iter_records()}


# --- history -------------------------------------------------------------------------------------


def test_a_missing_point_leaves_its_slot_without_a_record(swap: Trace, records: Records) -> None:
    assert sorted(records) == [1, 2, 3, 5, 6, 7, 8, 10]
    assert (swap.iterations, swap.summary["done"]) == (10, 8)


def test_decisions(records: Records) -> None:
    assert {t: r["gate"]["decision"] for t, r in records.items()} == {
        1: "no-op", 2: "retrieve", 3: "retrieve", 5: "look-up", 6: "missing", 7: "no-op",
        8: "retrieve", 10: "retrieve"}  # fmt: skip
    assert records[6]["gate"]["executed"] is None
    assert records[5]["gate"]["executed"] == "look-up"


def test_scores_and_running_best(records: Records) -> None:
    assert records[1]["run_best_before"] == 6387.000000000058
    assert [records[t]["new_best"] for t in sorted(records)] == [
        True, False, False, True, False, False, True, False]  # fmt: skip
    assert (records[5]["run_best_before"], records[5]["run_best_after"]) == (PARENT, 12500.0)
    assert records[10]["run_best_after"] == 13000.0
    assert records[3]["child"]["search_score"] == 11000.0
    assert records[3]["child"]["objective"] is None  # the SWAP count does not follow from the score


def test_parents_are_known_in_steps_alone(records: Records) -> None:
    assert records[3]["parent"]["score"] == PARENT
    assert records[3]["child"]["beats_parent"] is False
    assert records[5]["child"]["beats_parent"] is True
    for t in (1, 2, 6, 8):  # 8 is a step, but without scores
        assert records[t]["parent"]["score"] is None
        assert records[t]["child"]["beats_parent"] is None


def test_no_comparison_without_the_step_s_child_score(tmp_path: Path) -> None:
    made = swap_run()
    made["steps"][0]["child_score"] = None
    trace = imported(tmp_path, made)
    record = next(r for r in trace.iter_records() if r["t"] == 3)
    assert record["child"] == {**record["child"], "search_score": 11000.0, "beats_parent": None}
    assert "over_reach" not in {f.flag for f in audit(trace).flags if f.t == 3}


# --- evidence ------------------------------------------------------------------------------------


def test_rounds(records: Records) -> None:
    first, second, third = records[3]["rounds"]
    assert [r["queries"][0]["text"] for r in (first, second, third)] == [
        "qiskit PR #14021", "qiskit PR #14021", "sabre heuristic"]  # fmt: skip
    assert [r["scoring_status"] for r in (first, second, third)] == [
        "scored", "no_valid_predictions", "partial"]  # fmt: skip
    assert [r["doc_id"] for r in first["searches"][0]["results"]] == [
        "r0000001", "r0000002", "r0000003"]  # fmt: skip
    assert first["predictions"] == {
        "r0000001": ROUNDED, "r0000002": 11400.0, "r0000003": PARENT}  # fmt: skip
    assert second["predictions"] == {}
    assert [d["doc_id"] for d in second["retained"]] == ["r0000002", "r0000003", "r0000001"]
    assert third["pool"][:3] == [d["doc_id"] for d in second["retained"]]
    assert [(d["doc_id"], d["predicted"]) for d in third["retained"]] == [
        ("r0000002", 11400.0), ("r0000004", 11400.0), ("r0000001", ROUNDED)]  # fmt: skip
    assert [r["knowledge_after"] for r in (first, third)] == ["after round 1", "all of it"]


def test_results(records: Records) -> None:
    rows = [row for r in records[3]["rounds"] for s in r["searches"] for row in s["results"]]
    github, arxiv = "github.com", "arxiv.org"
    assert [row["host"] for row in rows] == [github, github, arxiv, github, arxiv, arxiv]
    assert [row["is_new_in_iteration"] for row in rows] == [
        True, False, True, False, True, False]  # fmt: skip
    assert [row["rank"] for row in rows[:3]] == [1, 2, 3]
    assert {row["db_id"] for row in rows} == {None}
    # New in the run cannot be known where most searches are not on record; a repeat can.
    assert [row["is_new_in_run"] for row in rows] == [None, False, None, False, None, False]


def test_given_documents_in_rank_order(records: Records) -> None:
    """Two documents of one URL are two; equal and rounded predictions are not promising."""
    given = records[3]["documents"]
    assert [(d["doc_id"], d["predicted"], d["promising"]) for d in given] == [
        ("r0000002", 11400.0, True), ("r0000004", 11400.0, True), ("r0000001", ROUNDED, False),
    ]  # fmt: skip
    assert given[0]["url"] == given[2]["url"]
    assert records[3]["prompt_docs"] == ["r0000002", "r0000004", "r0000001"]
    assert records[3]["n_planned"] == 8


def test_texts_are_kept_where_the_excerpt_is_all(swap: Trace, records: Records) -> None:
    rows = records[3]["rounds"][2]["searches"][0]["results"]
    assert [swap.blob(row["body_sha256"]) for row in rows] == ["fourth", None]


def test_older_copies_have_queries_and_sources(records: Records) -> None:
    assert [r["queries"][0]["text"] for r in records[8]["rounds"]] == ["docs", "API"]
    (given,) = records[8]["documents"]
    assert (given["predicted"], given["promising"], given["body_sha256"]) == (13000.5, None, None)
    assert records[5]["rounds"] == []
    assert [d["title"] for d in records[5]["documents"]] == ["Old"]


def test_documents_without_marks_are_found_by_their_source(tmp_path: Path) -> None:
    made = swap_run()
    for row in made["steps"][0]["evidence"]["documents"]:
        del row["for_solver"]
    record = next(r for r in imported(tmp_path, made).iter_records() if r["t"] == 3)
    assert [d["doc_id"] for d in record["documents"]] == ["r0000002", "r0000001"]


# --- folder --------------------------------------------------------------------------------------


def test_provenance_and_settings_in_the_manifest(swap: Trace) -> None:
    recorded = swap.manifest["recorded"]
    assert recorded["selected_steps"] == [3, 5, 8]
    assert recorded["behavior"] == "method transfer"
    assert recorded["exposure"].startswith("declared")
    assert len(recorded["file_sha256"]) == 64
    assert (swap.config["candidates"], swap.config["seed"], swap.config["edit"]) == (8, 42, "diff")
    assert swap.task.id == "quantum_compilation/swap_reduction"


def test_marked_in_every_table(swap: Trace) -> None:
    study = read_study(swap.folder.parent)
    assert [run.configuration.method for run in study.runs] == [LABEL]
    assert "recorded" in LABEL
    assert swap.retriever != "evoduet"  # no population of own runs takes it in
    assert read_run(swap.folder).cost_usd is None


def test_the_trace_folds_from_the_journal(swap: Trace) -> None:
    lines = (swap.folder / "trace.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == read_trace(swap.folder)
    assert summarise(swap.folder)["best"]["search_score"] == 13000.0


def test_only_unknowns_leave_the_schema(swap: Trace) -> None:
    """What breaks the schema of own traces is a null, nothing else."""
    import method.trace as module

    text = (Path(module.__file__).parent / "trace.schema.json").read_text()
    validator = jsonschema.Draft202012Validator(json.loads(text))
    broken = [
        error for record in swap.iter_records() for error in validator.iter_errors(record)
    ]  # fmt: skip
    assert {repr(error.instance) for error in broken} <= {"None"}


def test_objective_and_ndg_where_the_formula_can_be_inverted(tmp_path: Path) -> None:
    trace = imported(tmp_path, erdos_run())
    (record,) = trace.iter_records()
    assert record["child"]["objective"] == pytest.approx(0.4 - 1e-8, abs=1e-15)
    best, anchors = trace.summary["best"], trace.task.declared.anchors
    x0, sota = anchors.initial.value, anchors.sota.value
    assert best["ndg"] == pytest.approx(100 * (0.4 - 1e-8 - x0) / (sota - x0))
    assert read_run(trace.folder).ndg == best["ndg"]
    assert trace.model == "unknown"
    assert "seed" not in trace.config
    assert summarise(trace.folder)["ndg"] == pytest.approx(best["ndg"])


@pytest.mark.parametrize(
    ("task", "score", "objective"),
    [
        ("cp26", 2.6, 2.6), ("hadamard29", 0.9, 0.9), ("sums_diffs", 1.1, 1.1),
        ("galileo", 0.5103231564373842, 2.627176804137158),  # recorded start, measured anchor
        ("rosetta", 0.20084671192130155, 8.957842878621118),
        ("voyager_2", 0.6610344983495264, 4.051121401359862),
        ("swap_reduction", 6387.0, None), ("denoising", 0.6, None), ("cp26", None, None),
    ],
)  # fmt: skip
def test_objectives(task: str, score: float | None, objective: float | None) -> None:
    found = objective_of(find_task(task), score)
    assert found == (objective if objective is None else pytest.approx(objective, rel=1e-9))


# --- audit ---------------------------------------------------------------------------------------


def test_audit_of_a_record(swap: Trace) -> None:
    saved = saved_audit(swap)
    assert saved == audit(swap)
    by_flag = {}
    for flag in flags_of(swap):
        by_flag.setdefault(flag.flag, []).append(flag.t)
    assert by_flag == {
        "network_use": [8], "artifact_reuse": [8],
        "live_documentation_lookup": [8],  # no comparison: nothing is said of what follows
    }  # fmt: skip
    (row,) = saved.candidates
    assert row.network_calls
    assert (row.t, row.code_sha256, row.numeric_copy, row.copied_lines) == (8, None, None, None)
    reasons = {(gap.t, gap.reason.partition(":")[0]) for gap in saved.undecidable}
    assert (None, "recorded run") in reasons
    unknown = "queries and documents of this retrieve are not on record"
    assert {t for t, reason in reasons if reason == unknown} == {2, 10}
    assert (8, "search_miss_own_progress") in reasons


def test_over_reach_of_a_record(tmp_path: Path) -> None:
    """Gain 6613: the drop must be more than 661.3."""
    made = swap_run()
    made["steps"][0]["child_score"] = made["history"]["points"][3]["candidate_score"] = 10600.0
    flags = flags_of(imported(tmp_path, made))
    assert [f.t for f in flags if f.flag == "over_reach"] == [3]


# --- other shapes --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"history": None}, "history is missing"),
        ({"history": []}, "history is [], expected an object"),
        ({"history": {"points": []}}, "expected iterations from 0"),
        ({"history": {"points": [point(0, None, None, "noop")]}}, "candidate_score is missing"),
        ({"history": {"points": [point(0, 1, 1, ""), point(0, 1, 1, "")]}}, "every iteration once"),
        ({"history": {"points": [point(0, 1, 1, ""), point(1, 2, 2, "maybe")]}}, "one of retrieve"),
        ({"history": {"points": [point(0, 1, 1, ""), point(1, "2", 2, "")]}}, "a finite number"),
        ({"history": {"points": [point(0, 1, 1, ""), {"iteration": 1.5}]}}, "a whole number"),
        ({"last_iteration": 9}, "iteration 10 is beyond last_iteration 9"),
        ({"steps": {}}, "steps is {}, expected a list"),
        ({"steps": [3]}, "steps[0] is 3, expected an object"),
        ({"steps": [step(3, "retrieve"), step(3, "retrieve")]}, "every iteration once"),
        ({"steps": [step(0, "retrieve")]}, "a whole number from 1"),
        ({"edit_mode": "telepathy"}, "one of diff edits"),
        ({"budget": 10**400}, "a finite number"),
        ({"slug": "x", "key": "y", "task": "Unheard of"}, "name it with --task"),
    ],
)
def test_wrong_values_are_named(tmp_path: Path, changes: Made, words: str) -> None:
    message = refused(tmp_path, swap_run(), **changes)
    assert words in message
    assert message.startswith(str(tmp_path / "file.json"))


def test_refs_must_lead_to_documents(tmp_path: Path) -> None:
    made = swap_run()
    made["steps"][0]["evidence"]["rounds"][0]["kept_refs"] = ["evidence_9"]
    assert 'kept_refs is "evidence_9", expected a ref' in refused(tmp_path, made)
    made = swap_run()
    made["steps"][0]["evidence"]["rounds"][0]["status"] = "fine"
    assert 'status is "fine", expected one of scored' in refused(tmp_path, made)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("[]", "not a recorded run (no object, but a list)"),
        ("3", "not a recorded run"),
        ("{}", "no history and no steps"),
        ('{"program": "x = 1", "history": {}}', "not one of programs/"),
        ('{"history": {"points": [{"iteration": NaN}]}, "steps": []}', "NaN is no JSON number"),
        ("[" * 100_000, "too deep"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "file.json"
    file.write_text(text)
    result = run(file, "--out", tmp_path / "run")
    assert isinstance(result.exception, UsageProblem)
    assert words in str(result.exception)


def test_missing_files_and_full_folders(tmp_path: Path) -> None:
    result = run(tmp_path / "none.json", "--out", tmp_path / "run")
    assert "missing" in str(result.exception)
    file = write(tmp_path / "file.json", swap_run())
    result = run(file, "--out", tmp_path)
    assert "exists already" in str(result.exception)
    assert file.is_file()


def test_a_task_can_be_named(tmp_path: Path) -> None:
    file = write(tmp_path / "file.json", swap_run(), slug="x", key="", task=None)
    result = run(file, "--out", tmp_path / "run", "--task", "swap_reduction", "--json")
    answer = json.loads(result.stdout)
    assert answer["task"] == "quantum_compilation/swap_reduction"
    assert answer["method"] == LABEL
    assert answer["flags"] == 3


def test_contradictions_are_told(tmp_path: Path) -> None:
    made = swap_run()
    made["history"]["points"][2]["best_score"] = 1.0
    made["steps"][0]["child_score"] = 10999.0
    file = write(tmp_path / "file.json", made)
    result = run(file, "--out", tmp_path / "run")
    assert result.exit_code == 0
    assert "iteration 2: best_score 1.0 is not the running maximum" in result.stderr
    assert "iteration 3: child_score 10999.0 of the step, 11000.0 in history" in result.stderr


def test_importing_again_gives_the_same_bytes(tmp_path: Path) -> None:
    file = write(tmp_path / "file.json", swap_run())
    contents = []
    for place in ("one", "two"):
        run(file, "--out", tmp_path / place / "run")
        folder = tmp_path / place / "run"
        contents.append(
            {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*")
             if p.is_file() and p.name != "summary.json"}
        )  # fmt: skip
    assert contents[0] == contents[1]
    assert contents[0]


def test_commands_on_an_imported_run(swap: Trace, capsys: pytest.CaptureFixture[str]) -> None:
    """It can be read; what needs a journal of ours says why not, in a line."""
    for command in ("trace", "audit"):
        main_ok([command, str(swap.folder)])
    main_ok(["runs", str(swap.folder.parent), "--json"])
    assert '"evoduet (recorded)"' in capsys.readouterr().out.replace("openevolve-native+", "")
    for command in ("best", "replay", "resume"):
        with pytest.raises(SystemExit) as left:
            main([command, str(swap.folder)])
        assert left.value.code == 2
        assert "imported from a record" in capsys.readouterr().err


def main_ok(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code in (0, None)


def test_decisions_of_an_imported_run_stand_by_themselves(swap: Trace) -> None:
    reading = read_traces(read_study(swap.folder.parent))
    files = {file.name: file.text() for file in behaviour_files(reading.runs)}
    rows = [tuple(row.values())[4:] for row in read_csv(files["recorded_decisions"])]
    seventh = "0.14285714285714285"
    expected = [  # 4 and 9 have no point, 6 is unrecorded: 7 of 10 slots
        ("10", "7", "retrieve", "4", "0.5714285714285714", "1", "0.25"),
        ("10", "7", "look-up", "1", seventh, "1", "1"),
        ("10", "7", "no-op", "2", "0.2857142857142857", "1", "0.5"),
    ]
    assert rows == [*expected, *expected]  # all, and the only bin
    assert read_csv(files["fig13"]) == []
