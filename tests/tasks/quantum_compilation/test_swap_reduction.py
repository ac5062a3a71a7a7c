"""The task as a whole: anchors, both tracks, scoring rules, report, data, tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import routing_policies as policies
from shared_data import parity_files, read_case

from benchmark import Evaluation, evaluate
from benchmark.catalogue import find_task
from benchmark.harness import Harness
from tasks.quantum_compilation.circuit import Circuit
from tasks.quantum_compilation.swap_reduction.embedded import (
    EMBEDDED_FILE,
    UNSEEN_FILE,
)
from tasks.quantum_compilation.swap_reduction.reporting import OFFICIAL_INITIAL_SWAPS
from tasks.quantum_compilation.swap_reduction.routing import Trials
from tasks.quantum_compilation.topology import Topology

TASK = "swap_reduction"
SCORES = {"q20": 20001, "willow": 37381, "heron_fez": 47191}


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
