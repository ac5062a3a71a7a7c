"""Makes the case lists of the generated circuits anew.

``python -m tasks.quantum_compilation.swap_reduction.make_suites`` routes every case with the
initial policy, once for the reference counts and once with the trials of the task, and writes
``data/embedded_suite.json`` and ``data/unseen_suite.json``. To be run when the generator changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmark.evaluator import Sandbox
from benchmark.harness import Harness
from benchmark.sandbox.limits import Limits
from tasks.quantum_compilation.circuit import Circuit
from tasks.quantum_compilation.replay import CNOTS_PER_SWAP, check_record
from tasks.quantum_compilation.swap_reduction.embedded import (
    EMBEDDED_FILE,
    UNSEEN_FILE,
    circuit_digest,
    unseen_devices,
)
from tasks.quantum_compilation.swap_reduction.generator import EMBEDDED, UNSEEN
from tasks.quantum_compilation.swap_reduction.routing import PythonRouter, Trials
from tasks.quantum_compilation.swap_reduction.suite import SEED, case_text, devices
from tasks.quantum_compilation.topology import Topology

_WEIGHTS = {"q20": 0.2, "willow": 0.4, "heron_fez": 0.4}


def make_case_list(
    sandbox: Sandbox,
    makers: Mapping[str, Callable[[], Circuit]],
    topologies: Mapping[str, Topology],
    weights: Mapping[str, float],
) -> dict[str, Any]:
    """The content of a suite's file."""
    circuits = {name: make() for name, make in makers.items()}
    cases, initial_swaps = [], 0
    for name, circuit in circuits.items():
        for device, topology in topologies.items():
            reference = _swaps(sandbox, circuit, topology, Trials(1, 1))
            initial_swaps += _swaps(sandbox, circuit, topology, Trials(4, 4))
            cases.append(
                {
                    "id": f"{name}_{device}",
                    "circuit": name,
                    "topology": device,
                    "weight": weights.get(device, 1.0),
                    "orig_cnot_added": CNOTS_PER_SWAP * reference,
                }
            )
    return {
        "what": "orig: initial policy, 1 layout x 1 run; initial_swaps: 4 x 4; seed 42; own runs",
        "seed": SEED,
        "initial_swaps": initial_swaps,
        "circuits": {name: circuit_digest(circuit) for name, circuit in circuits.items()},
        "cases": cases,
    }


def _swaps(sandbox: Sandbox, circuit: Circuit, topology: Topology, trials: Trials) -> int:
    source = Path(__file__).with_name("initial.py").read_text(encoding="utf-8")
    router = PythonRouter(source, trials)
    outcome = router.route(case_text(circuit, topology), sandbox, wall_s=600.0)
    verdict = check_record(circuit, topology, outcome.record)
    assert verdict.swap_count is not None, outcome.record
    return verdict.swap_count


def _main() -> None:
    with Harness() as harness:
        sandbox = harness.session(Limits())
        lists = {
            EMBEDDED_FILE: make_case_list(sandbox, EMBEDDED, devices(), _WEIGHTS),
            UNSEEN_FILE: make_case_list(sandbox, UNSEEN, unseen_devices(), {}),
        }
    for file, content in lists.items():
        file.write_text(json.dumps(content, indent=1) + "\n")
        print(f"{file}: {len(content['cases'])} cases, {content['initial_swaps']} SWAPs")


if __name__ == "__main__":
    _main()
