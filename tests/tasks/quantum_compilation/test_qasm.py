"""Reading OpenQASM: the suite's counts, both headers, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.quantum_compilation.circuit import Circuit, Operation
from tasks.quantum_compilation.qasm import QasmError, parse_qasm, qasm_text
from tasks.quantum_compilation.swap_reduction.archive import manifest

HEAD = 'OPENQASM 2.0;\ninclude "qelib1.inc";\nqreg q[3];\ncreg c[3];\n'


def operations(text: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(operation.name, operation.qubits) for operation in parse_qasm(text).operations]


def test_the_suite_has_the_counts_of_the_manifest(circuits: dict[str, Circuit]) -> None:
    assert len(circuits) == 24
    for entry in manifest():
        circuit = circuits[entry["circuit"]]
        gates = [operation.name for operation in circuit.operations]
        used = sorted({qubit for operation in circuit.operations for qubit in operation.qubits})
        assert circuit.num_qubits == entry["declared_qubits"]
        assert {name: gates.count(name) for name in set(gates)} == entry["gates"]
        assert used == entry["used_qubits"]
        assert sum(operation.needs_coupling for operation in circuit.operations) == entry["num_cx"]


def test_angles_stay_text_and_comments_go() -> None:
    text = (
        HEAD
        + "rz(-0.7854) q[0]; // h q[1];\n/* x q[0]; */ u3(pi/2, 0,(1+2)*pi) q[1];cx q[0],\nq[2];"
    )
    first, second, third = parse_qasm(text).operations
    assert first == Operation("rz", (0,), "-0.7854")
    assert second.parameters == "pi/2, 0,(1+2)*pi"
    assert third.qubits == (0, 2)


def test_openqasm_3_headers() -> None:
    text = 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q;\nqubit a;\nbit[2] c;\nbit d;\n'
    circuit = parse_qasm(text + "cx q[1], a;\nc[0] = measure q[0];\nd = measure a;\n")
    assert (circuit.num_qubits, circuit.num_clbits) == (3, 3)
    assert circuit.operations[0].qubits == (1, 2)
    assert circuit.operations[1] == Operation("measure", (0,), clbits=(0,))
    assert circuit.operations[2] == Operation("measure", (2,), clbits=(2,))


def test_registers_stand_for_their_elements() -> None:
    assert operations(HEAD + "h q;") == [("h", (0,)), ("h", (1,)), ("h", (2,))]
    text = "qreg a[2];qreg b[2];creg c[2];cx a,b;cx a[1],b;measure b->c;barrier a,b[0];"
    assert operations(text) == [
        ("cx", (0, 2)), ("cx", (1, 3)), ("cx", (1, 2)), ("cx", (1, 3)),
        ("measure", (2,)), ("measure", (3,)), ("barrier", (0, 1, 2)),
    ]  # fmt: skip


def test_own_gates_count_as_one() -> None:
    text = HEAD + "gate both(a) x,y { cx x,y;\n rz(a) y; }\nboth(0.1) q[2],q[0];"
    assert operations(text) == [("both", (2, 0))]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("ccx q[0],q[1],q[2];", "line 5: ccx acts on 3 qubits"),
        ("if(c==1) x q[0];", "line 5: .*cannot be routed"),
        ("\n\ncx q[0],q[3];", "line 7: .*register q has 3"),
        ("h r[0];", "no declared qubit"),
        ("cx q[1],q[1];", "uses a qubit twice"),
        ("ctrl @ x q[0], q[1];", "cannot be routed"),
        ("measure q -> c[0];", "as many bits"),
        ("qreg q[2];", "declared twice"),
        ("qreg a[2]; cx q,a;", "different sizes"),
        ("for i in [0:2] { x q[i]; }", "cannot be routed"),
        ("h q[0", "no declared qubit|cannot be routed"),
    ],
)
def test_refused(statement: str, said: str) -> None:
    with pytest.raises(QasmError, match=said):
        parse_qasm(HEAD + statement)


def test_a_text_without_qubits_is_no_circuit() -> None:
    with pytest.raises(QasmError, match="no qubits"):
        parse_qasm("OPENQASM 2.0;")


QUBITS = st.lists(st.integers(0, 4), min_size=1, max_size=2, unique=True).map(tuple)


@given(st.lists(st.tuples(st.sampled_from(["h", "rz", "swap"]), QUBITS), max_size=20))
def test_written_circuits_are_read_again(steps: list[tuple[str, tuple[int, ...]]]) -> None:
    made = tuple(Operation(name, q, "0.5" if name == "rz" else "") for name, q in steps)
    circuit = Circuit(5, made)
    assert parse_qasm(qasm_text(circuit)) == circuit
