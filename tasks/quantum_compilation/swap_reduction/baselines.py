"""Routers of others on our cases. Their traces are replayed and scored like a candidate's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmark.artifact import Artifact
from benchmark.evaluator import Unavailable
from tasks.quantum_compilation.circuit import Circuit
from tasks.quantum_compilation.qasm import qasm_text
from tasks.quantum_compilation.swap_reduction.suite import SEED, Suite
from tasks.quantum_compilation.topology import Topology

if TYPE_CHECKING:
    from tasks.quantum_compilation.swap_reduction.routing import Trials

QISKIT_SABRE = "qiskit-sabre"
_ITERATIONS = 4


def qiskit_sabre(suite: Suite, trials: Trials) -> Artifact:
    """Qiskit's SABRE layout and routing, seed 42, 4 forward and backward iterations.

    Counts depend on qiskit's version. Raises :class:`Unavailable` where qiskit is missing.
    """
    try:
        import qiskit  # noqa: F401
    except ImportError:
        raise Unavailable("this baseline needs qiskit: pip install 'evoduet[quantum]'") from None
    return Artifact(
        {"cases": [{"id": c.id, **_route(*suite.parts(c), trials)} for c in suite.cases]}
    )


def _route(circuit: Circuit, topology: Topology, trials: Trials) -> dict[str, Any]:
    from qiskit import qasm2
    from qiskit.transpiler import CouplingMap, PassManager
    from qiskit.transpiler.passes import SabreLayout

    coupling = CouplingMap([list(pair) for a, b in topology.edges for pair in ((a, b), (b, a))])
    sabre = SabreLayout(
        coupling,
        seed=SEED,
        max_iterations=_ITERATIONS,
        layout_trials=trials.layouts,
        swap_trials=trials.runs,
    )
    manager = PassManager([sabre])
    given = qasm2.loads(qasm_text(circuit))
    routed = manager.run(given)
    places = manager.property_set["layout"]
    position = {qubit: index for index, qubit in enumerate(routed.qubits)}
    return {
        "initial_layout": [places[qubit] for qubit in given.qubits],
        "swaps": [
            [position[qubit] for qubit in step.qubits]
            for step in routed.data
            if step.operation.name == "swap"
        ],
    }
