"""The task as a whole: anchors, both tracks, scoring rules, report, data, tools."""

from __future__ import annotations

import json
import tarfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import routing_policies as policies
from matplotlib.figure import Figure
from shared_data import parity_files, read_case

from benchmark import Artifact, Evaluation, Invalid, evaluate
from benchmark.catalogue import find_task
from benchmark.data import data_store
from benchmark.evaluation import load_evaluator, prepare
from benchmark.evaluator import Unavailable
from benchmark.harness import Harness
from tasks.quantum_compilation.circuit import Circuit
from tasks.quantum_compilation.qasm import qasm_text
from tasks.quantum_compilation.replay import check_schedule, check_swap_trace
from tasks.quantum_compilation.schedule import greedy_schedule
from tasks.quantum_compilation.swap_reduction import archive, check
from tasks.quantum_compilation.swap_reduction.embedded import (
    EMBEDDED_FILE,
    UNSEEN_FILE,
    embedded_suite,
    unseen_suite,
)
from tasks.quantum_compilation.swap_reduction.evaluator import SwapReduction
from tasks.quantum_compilation.swap_reduction.generator import EMBEDDED, UNSEEN
from tasks.quantum_compilation.swap_reduction.reporting import OFFICIAL_INITIAL_SWAPS
from tasks.quantum_compilation.swap_reduction.routing import Trials
from tasks.quantum_compilation.swap_reduction.scoring import judge
from tasks.quantum_compilation.swap_reduction.suite import Suite, official_suite
from tasks.quantum_compilation.topology import Topology

TASK = "swap_reduction"
SCORES = {"q20": 20001, "willow": 37381, "heron_fez": 47191}


def official(**options: str) -> SwapReduction:
    evaluator = load_evaluator(prepare(TASK, "official", options))
    assert isinstance(evaluator, SwapReduction)
    return evaluator


def embedded(**options: str) -> SwapReduction:
    evaluator = load_evaluator(prepare(TASK, "embedded", options))
    assert isinstance(evaluator, SwapReduction)
    return evaluator


def shortened(suite: Suite, ids: set[str]) -> Suite:
    return replace(suite, cases=[case for case in suite.cases if case.id in ids])


def trivial_record(suite: Suite, case_id: str) -> dict[str, Any]:
    """A valid trace by the policy that never proposes anything."""
    case = next(case for case in suite.cases if case.id == case_id)
    routed = policies.route_here(*suite.parts(case), policies.PYTHON["none"], trials=(1, 1))
    swaps = [list(swap) for swap in routed.swaps]
    return {"id": case_id, "initial_layout": routed.initial_layout, "swaps": swaps}


def check_initial(evaluation: Evaluation, path: Path) -> None:
    """Scores and all 72 traces of the initial policy on the official suite."""
    assert evaluation.status == "valid", evaluation.reason
    assert evaluation.search == evaluation.metrics["combined_score"] == 6387.0
    assert evaluation.objective == SCORES["q20"]
    assert evaluation.ndg == 0.0
    for device, swaps in SCORES.items():
        assert evaluation.metrics[f"{device}_swaps"] == swaps
        assert evaluation.metrics[f"{device}_cnot_added"] == 3 * swaps
    assert evaluation.metrics["total_swaps"] == sum(SCORES.values()) == OFFICIAL_INITIAL_SWAPS
    assert evaluation.artifact is not None
    data: Any = evaluation.artifact.data
    expected = read_case(path)["cases"]
    assert [record["id"] for record in data["cases"]] == list(expected)
    for record in data["cases"]:
        found = policies.trace_sha256(record["initial_layout"], record["swaps"])
        assert found == expected[record["id"]]["trace_sha256"], record["id"]


def evaluate_patiently(program: Path, harness: Harness) -> Evaluation:
    """On the official suite, with time enough for a busy machine."""
    return evaluate(TASK, program, variant="official", wall_s=6000.0, harness=harness)


INITIAL = parity_files("swap_reduction", "engine_init*.json")


@pytest.mark.slow
@pytest.mark.parametrize("path", INITIAL)
def test_initial_program_in_rust_gives_x0(
    path: Path, rust: None, mirror: Path, harness: Harness
) -> None:
    program = find_task(TASK).initial_program
    assert program.suffix == ".rs"
    check_initial(evaluate_patiently(program, harness), path)


@pytest.mark.slow
@pytest.mark.parametrize("path", INITIAL)
def test_initial_program_in_python_gives_x0(path: Path, mirror: Path, harness: Harness) -> None:
    program = policies.TASK / "initial.py"
    check_initial(evaluate_patiently(program, harness), path)


def test_anchors_are_those_of_the_paper() -> None:
    anchors = find_task(TASK).declared.anchors
    assert (anchors.initial.value, anchors.sota.value) == (20001, 15186)


@pytest.mark.parametrize("policy", sorted(policies.RUST))
def test_trivial_policies_in_rust(
    policy: str, rust: None, circuits: dict[str, Circuit], harness: Harness, tmp_path: Path,
    topologies: dict[str, Topology],
) -> None:  # fmt: skip
    """The same vectors as for the Python engine, the count of the release valve included."""
    from tasks.quantum_compilation.swap_reduction.building import build_router
    from tasks.quantum_compilation.swap_reduction.routing import RustRouter
    from tasks.quantum_compilation.swap_reduction.suite import case_text

    (parameters,) = parity_files("swap_reduction", "engine_trivial_policies.json")
    (path,) = parameters.values
    assert isinstance(path, Path)
    sandbox = harness.session(find_task(TASK).limits)
    router = RustRouter(build_router(policies.RUST[policy], sandbox), Trials(4, 4))
    for case, expected in read_case(path)["policies"][policy]["cases"].items():
        name, device = policies.split_case(case)
        text = case_text(circuits[name], topologies[device])
        outcome = router.route(text, sandbox, wall_s=60.0)
        assert outcome.status == "ok", outcome.record
        assert outcome.forced == expected["forced"], case
        record = outcome.record
        found = policies.trace_sha256(record["initial_layout"], record["swaps"])
        assert found == expected["trace_sha256"], case


def test_both_engines_agree_on_the_embedded_suite(
    rust: None, harness: Harness, no_data: None
) -> None:
    in_rust = evaluate(TASK, policies.TASK / "initial.rs", harness=harness)
    in_python = evaluate(TASK, policies.TASK / "initial.py", harness=harness)
    assert in_rust.status == in_python.status == "valid", in_rust.reason + in_python.reason
    assert in_rust.artifact_sha256 == in_python.artifact_sha256
    assert (in_rust.search, in_rust.objective) == (in_python.search, in_python.objective)
    stored = json.loads(EMBEDDED_FILE.read_bytes())["initial_swaps"]
    assert in_rust.metrics["total_swaps"] == stored
    assert in_rust.ndg is None  # generated circuits are not the paper's
    assert in_rust.provenance["variant"] == "embedded"


@pytest.mark.slow
def test_report_of_the_initial_program(rust: None, harness: Harness, no_data: None) -> None:
    report = evaluate(TASK, policies.TASK / "initial.rs", "report", harness=harness)
    assert report.status == "valid", report.reason
    assert report.metrics["deterministic"] == 1.0
    stored = json.loads(UNSEEN_FILE.read_bytes())["initial_swaps"]
    assert report.metrics["unseen_swaps"] == stored
    assert report.metrics["unseen_gain_percent"] == report.metrics["suite_gain_percent"] == 0.0
    assert "unseen" not in report.feedback


# Scoring rules


@pytest.fixture
def small(no_data: None) -> tuple[SwapReduction, list[dict[str, Any]]]:
    """The embedded task cut down to one small circuit, and valid records for it."""
    evaluator = embedded()
    ids = {f"toffoli_5_{device}" for device in SCORES}
    evaluator.__dict__["suite"] = shortened(embedded_suite(), ids)
    return evaluator, [trivial_record(evaluator.suite, c.id) for c in evaluator.suite.cases]


def test_the_score_is_the_weighted_sum_of_cnots_saved(
    small: tuple[SwapReduction, list[dict[str, Any]]],
) -> None:
    evaluator, records = small
    score = evaluator.score(Artifact({"cases": records}), "search")
    weights = {"q20": Fraction(1, 5), "willow": Fraction(2, 5), "heron_fez": Fraction(2, 5)}
    expected = Fraction(0)
    for case, record in zip(evaluator.suite.cases, records, strict=True):
        expected += weights[case.topology] * (case.orig_cnot - 3 * len(record["swaps"]))
    assert score.search == float(expected)
    assert score.objective == score.metrics["q20_swaps"] == len(records[0]["swaps"])
    assert evaluator.score(Artifact(records[::-1]), "search") == score
    assert not score.comparable


def test_swaps_beyond_need_count(small: tuple[SwapReduction, list[dict[str, Any]]]) -> None:
    evaluator, records = small
    before = evaluator.score(Artifact(records), "search")
    edge = list(evaluator.suite.topologies["q20"].edges[0])
    records[0]["swaps"] = [*records[0]["swaps"], edge, edge]
    after = evaluator.score(Artifact(records), "search")
    assert before.search is not None
    assert after.search == pytest.approx(before.search - 0.2 * 6)


def test_a_failed_case_gains_nothing_and_leaves_q20_undefined(
    small: tuple[SwapReduction, list[dict[str, Any]]],
) -> None:
    evaluator, records = small
    whole = judge(evaluator.suite, records)
    records[0] = {"id": records[0]["id"], "error": "panic"}
    score = evaluator.score(Artifact(records), "search")
    assert score.objective is None
    assert "q20_swaps" not in score.metrics
    assert "total_swaps" not in score.metrics
    reference = evaluator.suite.cases[0].orig_cnot
    assert score.metrics["q20_swaps_failed_at_baseline"] == reference / 3
    assert score.metrics["q20_cnot_delta"] == 0
    assert score.metrics["cases_failed"] == 1
    lost = evaluator.suite.cases[0].weight * whole.results[0].cnot_delta
    assert score.search == float(Fraction(str(whole.combined_score)) - lost)
    assert "panic" in score.feedback
    assert records[0]["id"] in score.attachments["failed cases"]


def test_the_count_of_the_release_with_failed_cases_at_the_baseline(
    small: tuple[SwapReduction, list[dict[str, Any]]],
) -> None:
    """(0.4 * cnot - weighted) / 0.6 / 3, from totals over all devices, is the same number."""
    evaluator, records = small
    records[0] = {"id": records[0]["id"], "error": "panic"}
    score = evaluator.score(Artifact(records), "search")
    assert score.search is not None
    cases = evaluator.suite.cases
    cnot = sum(case.orig_cnot for case in cases) - score.metrics["total_cnot_delta"]
    weighted = sum(float(case.weight) * case.orig_cnot for case in cases) - score.search
    found = (0.4 * cnot - weighted) / 0.2 / 3
    assert score.metrics["q20_swaps_failed_at_baseline"] == pytest.approx(found)


def test_a_forged_trace_is_a_failed_case(
    small: tuple[SwapReduction, list[dict[str, Any]]],
) -> None:
    evaluator, records = small
    records[1]["swaps"] = records[1]["swaps"][:-1]
    score = evaluator.score(Artifact(records), "search")
    assert score.metrics["willow_cnot_delta"] == 0
    assert "gates_left" in score.attachments["failed cases"]
    assert score.objective is not None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r[:-1], "missing cases: toffoli_5_heron_fez"),
        (lambda r: [*r, {"id": "other", "error": ""}], "unknown cases: other"),
        (lambda r: [*r, r[0]], "two records"),
        (lambda r: {"cases": "none"}, "list of records"),
        (lambda r: {"case": r}, "list of records"),
        (lambda r: [1], 'object with an "id"'),
        (lambda r: [{**record, "id": 3} for record in r], 'object with an "id"'),
        (lambda r: [{"id": record["id"], "error": "no"} for record in r], "every case failed.*no"),
        (lambda r: [{"id": record["id"]} for record in r], "every case failed.*layout_length"),
        (lambda r: 3.5, "list of records"),
    ],
)
def test_artifacts_that_are_no_answer(
    change: Any, said: str, small: tuple[SwapReduction, list[dict[str, Any]]]
) -> None:
    evaluator, records = small
    with pytest.raises(Invalid, match=said):
        evaluator.score(Artifact(change(records)), "search")


def test_invalid_programs_rank_below_valid_ones(
    small: tuple[SwapReduction, list[dict[str, Any]]],
) -> None:
    evaluator, records = small
    edge = list(evaluator.suite.topologies["q20"].edges[0])
    records[0]["swaps"] = [*records[0]["swaps"], *([edge] * 2000)]
    worst = evaluator.score(Artifact(records), "search")
    assert worst.search is not None
    assert evaluator.peer_failure["combined_score"] < worst.search < 0


def test_two_runs_that_differ_are_flagged(
    small: tuple[SwapReduction, list[dict[str, Any]]],
) -> None:
    evaluator, records = small
    same = evaluator.score(Artifact({"cases": records, "repeat": records}), "report")
    assert same.metrics["deterministic"] == 1.0
    edge = list(evaluator.suite.topologies["q20"].edges[0])
    other = [{**records[0], "swaps": [*records[0]["swaps"], edge]}, *records[1:]]
    score = evaluator.score(Artifact({"cases": records, "repeat": other}), "report")
    count = len(records[0]["swaps"])
    assert score.metrics["deterministic"] == 0.0
    assert score.metrics["second_run_q20_swaps"] == count + 1
    assert f"nondeterministic: {count} and {count + 1} SWAPs" in score.feedback
    quiet = evaluator.score(Artifact({"cases": records, "repeat": other}), "search")
    assert "deterministic" not in quiet.metrics


def test_a_router_made_for_the_suite_is_noticed(
    small: tuple[SwapReduction, list[dict[str, Any]]],
) -> None:
    evaluator, records = small
    suite = shortened(unseen_suite(), {case.id for case in unseen_suite().cases})
    unseen = [trivial_record(suite, case.id) for case in suite.cases]
    score = evaluator.score(Artifact({"cases": records, "unseen": unseen}), "report")
    assert score.metrics["unseen_gain_percent"] < 0 < score.metrics["suite_gain_percent"]
    assert "made for the suite?" in score.feedback
    failed = [{"id": record["id"], "error": "no"} for record in unseen]
    score = evaluator.score(Artifact({"cases": records, "unseen": failed}), "report")
    assert score.metrics["unseen_cases_failed"] == len(failed)
    assert "unseen_swaps" not in score.metrics


def test_other_trials_are_not_comparable(
    mirror: Path, circuits: dict[str, Circuit], topologies: dict[str, Topology]
) -> None:
    record = {"initial_layout": list(range(16)), "swaps": []}
    cases = official().suite.cases
    assert len(cases) == 72
    artifact = Artifact([{"id": case.id, **record} for case in cases])
    for trials in ("4x4", "20x20"):
        score = official(trials=trials).score(artifact, "search")
        assert score.comparable == (trials == "4x4")
    for text in ("4", "0x4", "4x4x4", "axb", "-1x4", "²x3"):
        with pytest.raises(ValueError, match="number of trials"):
            Trials.parse(text)


def test_the_suite_has_the_signature_of_the_release(circuits: dict[str, Circuit]) -> None:
    suite = official_suite(lambda: circuits)
    assert sum(case.orig_cnot for case in suite.cases) == 333_756
    assert sum(case.weight * case.orig_cnot for case in suite.cases) == 119_874
    assert {name: topology.num_qubits for name, topology in suite.topologies.items()} == {
        "q20": 20, "willow": 105, "heron_fez": 156,
    }  # fmt: skip
    assert [len(topology.edges) for topology in suite.topologies.values()] == [43, 182, 176]


# Data


def test_without_data_the_embedded_suite_runs(no_data: None) -> None:
    task = find_task(TASK)
    assert data_store().first_available(task) == "embedded"
    evaluator = official()
    with pytest.raises(Unavailable, match=archive.ARCHIVE):
        _ = evaluator.suite


def test_downloaded_circuits_make_the_mirror_s_archive(mirror: Path, tmp_path: Path) -> None:
    original = mirror / "swap_reduction" / archive.ARCHIVE
    with tarfile.open(original) as tar:
        tar.extractall(tmp_path, filter="data")
    parts = [tmp_path / entry["file"] for entry in archive.manifest()]
    archive.pack(parts, tmp_path / "packed.tar.gz")
    assert (tmp_path / "packed.tar.gz").read_bytes() == original.read_bytes()
    declared = find_task(TASK).declared.data[0].source
    assert declared is not None
    downloads = [(part.url, part.sha256) for part in declared.downloads]
    assert downloads == [(entry["url"], entry["sha256"]) for entry in archive.manifest()]
    parts[3].write_text(parts[3].read_text() + " ")
    with pytest.raises(ValueError, match="another content"):
        archive.pack(parts, tmp_path / "packed.tar.gz")


def test_an_archive_with_other_circuits_is_refused(mirror: Path, tmp_path: Path) -> None:
    with tarfile.open(mirror / "swap_reduction" / archive.ARCHIVE) as tar:
        tar.extractall(tmp_path, filter="data")
    for change, said in ((b" ", "another content"), (None, "lacks 4gt13_92")):
        victim = tmp_path / "circuits" / "4gt13_92.qasm"
        if change is None:
            victim.unlink()
        else:
            victim.write_bytes(victim.read_bytes() + change)
        with tarfile.open(tmp_path / "other.tar.gz", "w:gz") as tar:
            tar.add(tmp_path / "circuits", "circuits")
        with pytest.raises(ValueError, match=said):
            archive.read_texts(tmp_path / "other.tar.gz")


def test_generated_suites_are_those_of_their_lists() -> None:
    for suite, makers, devices in ((embedded_suite(), EMBEDDED, 3), (unseen_suite(), UNSEEN, 3)):
        loaded = suite.load()
        assert loaded.keys() == makers.keys()
        assert len(suite.cases) == devices * len(makers)
        assert all(case.topology in suite.topologies for case in suite.cases)
        for circuit in loaded.values():
            assert max(op.qubits[0] for op in circuit.operations) < circuit.num_qubits


@pytest.mark.parametrize("case_id", ["toffoli_5_q20", "adder_4_willow", "fourier_8_heron_fez"])
def test_reference_counts_are_single_runs_of_the_initial_policy(case_id: str) -> None:
    suite = embedded_suite()
    case = next(case for case in suite.cases if case.id == case_id)
    source = policies.initial_source("py")
    routed = policies.route_here(*suite.parts(case), source, trials=(1, 1))
    assert case.orig_cnot == 3 * len(routed.swaps)


# Tools


def test_the_stand_alone_checker(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], topologies: dict[str, Topology]
) -> None:
    suite = embedded_suite()
    record = trivial_record(suite, "adder_4_q20")
    circuit, topology = suite.parts(next(c for c in suite.cases if c.id == "adder_4_q20"))
    files = [tmp_path / name for name in ("c.qasm", "t.json", "trace.json")]
    files[0].write_text(qasm_text(circuit))
    edges = [list(edge) for edge in topology.edges]
    files[1].write_text(json.dumps({"num_qubits": 20, "edges": edges}))
    files[2].write_text(json.dumps(record))
    names = [str(file) for file in files]
    assert check.main(names) == 0
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["swap_count"] == len(record["swaps"])
    assert len(verdict["final_layout"]) == 16

    schedule = greedy_schedule(circuit, topology, record["initial_layout"], record["swaps"])
    assert check_schedule(circuit, topology, record["initial_layout"], schedule).valid
    layout = record["initial_layout"]
    files[2].write_text(json.dumps({"initial_layout": layout, "schedule": schedule}))
    assert check.main(names) == 0
    assert json.loads(capsys.readouterr().out) == verdict

    files[2].write_text(json.dumps({**record, "swaps": []}))
    assert check.main(names) == 1
    verdict = json.loads(capsys.readouterr().out)
    assert (verdict["valid"], verdict["reason"]) == (False, "gates_left")
    assert verdict["total_gates"] == len(circuit.operations)

    for index, text in ((2, "{"), (1, '{"num_qubits": 2, "edges": [[0, 2]]}'), (0, "ccx q[0];")):
        kept = files[index].read_text()
        files[index].write_text(text)
        assert check.main(names) == 2
        assert files[index].name in capsys.readouterr().err
        files[index].write_text(kept)
    assert check.main(names[:2]) == 2
    assert check.main([*names[:2], str(tmp_path / "missing.json")]) == 2


def test_the_picture_shows_all_parts(small: tuple[SwapReduction, list[dict[str, Any]]]) -> None:
    evaluator, records = small
    figure = Figure(layout="constrained")
    evaluator.draw(Artifact({"cases": records}), figure)
    counts, device, routed = figure.axes
    assert "q20" in counts.get_title()
    assert len(device.texts) == 20
    assert "toffoli_5" in routed.get_title()
    figure.canvas.draw()
    records[0] = {"id": records[0]["id"], "error": "panic"}
    figure = Figure(layout="constrained")
    evaluator.draw(Artifact(records), figure)
    assert len(figure.axes) == 2


def test_traces_of_the_vectors_pass_the_same_check(
    mirror: Path, circuits: dict[str, Circuit], topologies: dict[str, Topology]
) -> None:
    """A stored artifact needs neither program nor toolchain."""
    (parameters,) = parity_files("swap_reduction", "traces_valid.json")
    (path,) = parameters.values
    assert isinstance(path, Path)
    evaluator = official()
    records: dict[str, dict[str, Any]] = {}
    for case in read_case(path, numbers=False):
        given = case["input"]
        name = f"{given['circuit']}_{given['topology']}"
        records[name] = {k: given[k] for k in ("initial_layout", "swaps")}
        circuit, topology = circuits[given["circuit"]], topologies[given["topology"]]
        assert check_swap_trace(circuit, topology, given["initial_layout"], given["swaps"]).valid
    artifact = [
        {"id": case.id, **records.get(case.id, {"error": "not among the vectors"})}
        for case in evaluator.suite.cases
    ]
    evaluation = evaluate(TASK, artifact=Artifact(artifact), variant="official")
    assert evaluation.status == "valid"
    assert evaluation.metrics["cases_failed"] == 72 - len(records)
    assert evaluation.objective is None
    assert evaluation.ndg is None
