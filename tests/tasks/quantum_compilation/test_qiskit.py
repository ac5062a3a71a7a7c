"""Qiskit as an independent witness: of routings, of generated circuits, and as a baseline."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
import routing_policies as policies
import typer
from shared_data import parity_files, read_case
from typer.testing import CliRunner

from benchmark import evaluate
from benchmark.artifact import load
from benchmark.commands.baseline import baseline
from benchmark.commands.options import UsageProblem
from benchmark.evaluation import load_evaluator, prepare
from tasks.quantum_compilation.circuit import Circuit
from tasks.quantum_compilation.qasm import parse_qasm, qasm_text
from tasks.quantum_compilation.replay import check_swap_trace
from tasks.quantum_compilation.schedule import greedy_schedule
from tasks.quantum_compilation.swap_reduction import archive, generator
from tasks.quantum_compilation.swap_reduction.baselines import qiskit_sabre
from tasks.quantum_compilation.swap_reduction.embedded import embedded_suite
from tasks.quantum_compilation.swap_reduction.routing import Trials
from tasks.quantum_compilation.swap_reduction.scoring import judge
from tasks.quantum_compilation.swap_reduction.suite import Suite, official_suite
from tasks.quantum_compilation.topology import Topology, line

qiskit = pytest.importorskip("qiskit", reason="qiskit is not installed (extra quantum)")


def routed_circuit(
    circuit: Circuit, topology: Topology, layout: Sequence[int], swaps: Sequence[Sequence[int]]
) -> Any:
    """What would run on the device: gates on physical qubits, and the SWAPs."""
    given = qiskit.qasm2.loads(qasm_text(circuit))
    routed = qiskit.QuantumCircuit(topology.num_qubits, circuit.num_clbits)
    place = list(layout)
    for step in greedy_schedule(circuit, topology, layout, swaps):
        if isinstance(step, list):
            routed.swap(*step)
            place = [{step[0]: step[1], step[1]: step[0]}.get(p, p) for p in place]
        else:
            operation = given.data[step].operation
            routed.append(operation, [place[q] for q in circuit.operations[step].qubits])
    return routed


def check_with_qiskit(
    circuit: Circuit, topology: Topology, layout: Sequence[int], swaps: Sequence[Sequence[int]]
) -> None:
    """Couplings by CheckMap; without its SWAPs, the circuit is the given one as a graph."""
    from qiskit.converters import circuit_to_dag
    from qiskit.transpiler import CouplingMap, PassManager
    from qiskit.transpiler.passes import CheckMap, ElidePermutations

    routed = routed_circuit(circuit, topology, layout, swaps)
    assert routed.count_ops().get("swap", 0) == len(swaps)
    coupling = CouplingMap([list(edge) for edge in topology.edges])
    coupling.make_symmetric()
    checker = PassManager([CheckMap(coupling)])
    checker.run(routed)
    assert checker.property_set["is_swap_mapped"]
    without_swaps = PassManager([ElidePermutations()]).run(routed)
    given = qiskit.qasm2.loads(qasm_text(circuit))
    expected = qiskit.QuantumCircuit(topology.num_qubits, given.num_clbits)
    expected.compose(given, list(layout), range(given.num_clbits), inplace=True)
    assert circuit_to_dag(without_swaps) == circuit_to_dag(expected)


@pytest.mark.parametrize("path", parity_files("swap_reduction", "traces_valid.json"))
def test_traces_of_the_vectors_are_equivalent_circuits(
    path: Path, circuits: dict[str, Circuit], topologies: dict[str, Topology]
) -> None:
    cases = [case["input"] for case in read_case(path, numbers=False)]
    assert len(cases) > 50
    for given in cases:
        circuit, topology = circuits[given["circuit"]], topologies[given["topology"]]
        check_with_qiskit(circuit, topology, given["initial_layout"], given["swaps"])


def test_qiskit_would_notice_a_missing_swap(topologies: dict[str, Topology]) -> None:
    suite = embedded_suite()
    case = next(case for case in suite.cases if case.id == "adder_4_q20")
    circuit, topology = suite.parts(case)
    routed = policies.route_here(circuit, topology, policies.PYTHON["none"], trials=(1, 1))
    swaps = [list(swap) for swap in routed.swaps]
    check_with_qiskit(circuit, topology, routed.initial_layout, swaps)
    with pytest.raises(AssertionError):
        check_with_qiskit(circuit, topology, routed.initial_layout, swaps[:-1])


@pytest.mark.parametrize("name", sorted(generator.EMBEDDED))
def test_routed_generated_circuits_are_equivalent(name: str) -> None:
    suite = embedded_suite()
    source = policies.initial_source("py")
    for case in suite.cases:
        if case.circuit == name:
            circuit, topology = suite.parts(case)
            routed = policies.route_here(circuit, topology, source, trials=(1, 1))
            check_with_qiskit(circuit, topology, routed.initial_layout, routed.swaps)


def operator(circuit: Circuit, size: int) -> Any:
    """The unitary of a circuit on its first ``size`` qubits."""
    lines = qasm_text(circuit).replace(f"q[{circuit.num_qubits}];", f"q[{size}];", 1)
    return qiskit.quantum_info.Operator(qiskit.qasm2.loads(lines))


def test_a_routed_circuit_has_the_same_unitary_up_to_a_permutation() -> None:
    """Matrices, not graphs: 6 qubits on a line, undone by a permutation at the end."""
    from qiskit.circuit.library import PermutationGate
    from qiskit.quantum_info import Operator

    circuit = Circuit(6, generator.toffoli_network(6, gates=10, seed=3).operations)
    routed = policies.route_here(circuit, line(6), policies.initial_source("py"))
    swaps = [list(swap) for swap in routed.swaps]
    verdict = check_swap_trace(circuit, line(6), routed.initial_layout, swaps)
    assert verdict.final_layout is not None
    assert swaps
    physical = routed_circuit(circuit, line(6), routed.initial_layout, swaps)
    logical = qiskit.QuantumCircuit(6)
    logical.append(PermutationGate(_inverse(routed.initial_layout)), range(6))
    logical.compose(physical, inplace=True)
    logical.append(PermutationGate(list(verdict.final_layout)), range(6))
    assert Operator(logical).equiv(operator(circuit, 6))


def _inverse(places: Iterable[int]) -> list[int]:
    found = {physical: logical for logical, physical in enumerate(places)}
    return [found[physical] for physical in range(len(found))]


def test_the_toffoli_gate_is_one() -> None:
    from qiskit.quantum_info import Operator

    expected = qiskit.QuantumCircuit(3)
    expected.ccx(0, 2, 1)
    made = Circuit(3, tuple(generator.toffoli(0, 2, 1)))
    assert operator(made, 3).equiv(Operator(expected))
    assert sum(operation.name == "cx" for operation in made.operations) == 6


def test_the_fourier_transform_is_one() -> None:
    from qiskit.quantum_info import Operator
    from qiskit.synthesis.qft import synth_qft_full

    found = operator(generator.fourier_transform(4), 4)
    expected = synth_qft_full(4, do_swaps=False).reverse_bits()
    assert found.equiv(Operator(expected))


def test_the_adder_adds() -> None:
    from qiskit.quantum_info import Statevector

    unitary = operator(generator.adder(2), 6)

    def basis_state(a: int, b: int, carry_in: int, carry_out: int) -> int:
        """Qubits: carry in, then the bits of b and a in turn, then carry out."""
        bits = [carry_in, b & 1, a & 1, b >> 1, a >> 1, carry_out]
        return sum(bit << place for place, bit in enumerate(bits))

    for a, b, carry in itertools.product(range(4), range(4), range(2)):
        total = a + b + carry
        end = basis_state(a, total & 3, carry, total >> 2)
        state = Statevector.from_int(basis_state(a, b, carry, 0), 2**6).evolve(unitary)
        assert math.isclose(abs(state.data[end]), 1.0, abs_tol=1e-9), (a, b, carry)


def test_our_reader_and_qiskit_s_agree(mirror: Path) -> None:
    for name, text in archive.read_texts(mirror / "swap_reduction" / archive.ARCHIVE).items():
        ours, theirs = parse_qasm(text), qiskit.qasm2.loads(text)
        index = {qubit: number for number, qubit in enumerate(theirs.qubits)}
        assert [(operation.name, operation.qubits) for operation in ours.operations] == [
            (step.operation.name, tuple(index[qubit] for qubit in step.qubits))
            for step in theirs.data
        ], name


# Baseline


def test_the_baseline_reproduces_the_recorded_counts(
    circuits: dict[str, Circuit], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Totals on q20 within 2 %, and the very counts with the version that was recorded."""
    monkeypatch.setenv("RAYON_NUM_THREADS", "1")
    whole = official_suite(lambda: circuits)
    suite = Suite([c for c in whole.cases if c.topology == "q20"], whole.topologies, whole.load)
    content = qiskit_sabre(suite, Trials(4, 4)).construction
    assert isinstance(content, dict)
    tally = judge(suite, content["cases"])
    recorded = json.loads((archive.DATA / "qiskit_sabre_baseline.json").read_bytes())
    expected = {case.id: recorded["swaps_4x4"][case.id] for case in suite.cases}
    assert tally.swaps == pytest.approx(19_681, rel=0.02)
    assert tally.swaps == pytest.approx(sum(expected.values()), rel=0.02)
    if qiskit.__version__ == recorded["qiskit"]:
        assert {result.case.id: result.swaps for result in tally.results} == expected


@pytest.fixture
def command() -> typer.Typer:
    app = typer.Typer()
    app.command()(baseline)
    return app


def test_the_command_runs_and_scores_a_baseline(
    command: typer.Typer, no_data: None, tmp_path: Path
) -> None:
    out = tmp_path / "sabre.json"
    arguments = ["swap_reduction", "--router", "qiskit-sabre", "--trials", "1x1", "--json"]
    answer = CliRunner().invoke(command, [*arguments, "--out", str(out)])
    assert answer.exit_code == 0, answer.output
    verdict = json.loads(answer.stdout)
    assert (verdict["status"], verdict["metrics"]["cases_failed"]) == ("valid", 0)
    again = evaluate("swap_reduction", artifact=load(out))
    assert again.search == verdict["search"]


def test_the_command_lists_baselines_and_names_wrong_ones(
    command: typer.Typer, no_data: None
) -> None:
    runner = CliRunner()
    assert runner.invoke(command, ["swap_reduction"]).stdout == "qiskit-sabre\n"
    listed = runner.invoke(command, ["swap_reduction", "--json"]).stdout
    assert json.loads(listed)["baselines"] == ["qiskit-sabre"]
    assert "no baseline" in runner.invoke(command, ["cp26"]).stdout
    for arguments, said in (
        (["--name", "other"], "has qiskit-sabre"),
        (["--name", "qiskit-sabre", "--trials", "many"], "--trials many: .*4x4"),
    ):
        failed = runner.invoke(command, ["swap_reduction", *arguments])
        assert isinstance(failed.exception, UsageProblem)
        with pytest.raises(UsageProblem, match=said):
            raise failed.exception


def test_the_evaluator_offers_the_baseline(no_data: None) -> None:
    evaluator = load_evaluator(prepare("swap_reduction", "embedded"))
    assert list(getattr(evaluator, "baselines")) == ["qiskit-sabre"]  # noqa: B009
