"""Circuits from archives and generators, the stand-alone checker, the picture."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
import routing_policies as policies
from matplotlib.figure import Figure
from shared_data import parity_files, read_case

from benchmark import Artifact, evaluate
from benchmark.catalogue import find_task
from benchmark.data import data_store
from benchmark.evaluator import Unavailable
from tasks.quantum_compilation.circuit import Circuit
from tasks.quantum_compilation.qasm import qasm_text
from tasks.quantum_compilation.replay import check_schedule, check_swap_trace
from tasks.quantum_compilation.schedule import greedy_schedule
from tasks.quantum_compilation.swap_reduction import archive, check
from tasks.quantum_compilation.swap_reduction.embedded import (
    embedded_suite,
    unseen_suite,
)
from tasks.quantum_compilation.swap_reduction.evaluator import SwapReduction
from tasks.quantum_compilation.swap_reduction.generator import EMBEDDED, UNSEEN
from tasks.quantum_compilation.topology import Topology


def test_without_data_the_embedded_suite_runs(no_data: None) -> None:
    task = find_task("swap_reduction")
    assert data_store().first_available(task) == "embedded"
    evaluator = policies.load_task("official")
    with pytest.raises(Unavailable, match=archive.ARCHIVE):
        _ = evaluator.suite


def test_downloaded_circuits_make_the_mirror_s_archive(mirror: Path, tmp_path: Path) -> None:
    original = mirror / "swap_reduction" / archive.ARCHIVE
    with tarfile.open(original) as tar:
        tar.extractall(tmp_path, filter="data")
    parts = [tmp_path / entry["file"] for entry in archive.manifest()]
    archive.pack(parts, tmp_path / "packed.tar.gz")
    assert (tmp_path / "packed.tar.gz").read_bytes() == original.read_bytes()
    declared = find_task("swap_reduction").declared.data[0].source
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
    record = policies.trivial_record(suite, "adder_4_q20")
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
    evaluator = policies.load_task("official")
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
    evaluation = evaluate("swap_reduction", artifact=Artifact(artifact), variant="official")
    assert evaluation.status == "valid"
    assert evaluation.metrics["cases_failed"] == 72 - len(records)
    assert evaluation.objective is None
    assert evaluation.ndg is None
