"""Routes one circuit on one device with the policy in ``candidate.py``; runs inside the sandbox.

``python -m swap_router SEED LAYOUT_TRIALS ROUTING_TRIALS`` reads a case from standard input (the
text that the Rust router reads too) and writes ``trace.json`` into the working directory:
``{"initial_layout", "swaps", "forced"}`` or ``{"error", "loaded"}``.
"""

from __future__ import annotations

import json
import sys
import traceback
import types
from pathlib import Path
from typing import Any

from .device import RoutingTarget
from .errors import RouterError
from .routing_dag import Op
from .trials import route

CANDIDATE = "candidate"
ENTRY_POINT = "CandidatePolicy"


def main() -> None:
    """Route the case on standard input."""
    seed, layout_trials, routing_trials = map(int, sys.argv[1:4])
    num_qubits, operations, target = read_case(sys.stdin.read())
    loaded = False
    try:
        policy = load_policy(Path(f"{CANDIDATE}.py").read_text(encoding="utf-8"))
        loaded = True
        routing = route(
            num_qubits,
            operations,
            target,
            policy,
            seed=seed,
            layout_trials=layout_trials,
            routing_trials=routing_trials,
        )
    except RouterError as error:
        record: dict[str, Any] = {"error": f"routing: {error}", "loaded": loaded}
    except MemoryError:
        record = {"error": "the policy used up the memory", "loaded": loaded}
    except Exception as error:
        traceback.print_exc()
        record = {"error": f"the policy raised {type(error).__name__}: {error}", "loaded": loaded}
    else:
        record = {
            "initial_layout": routing.initial_layout,
            "swaps": routing.swaps,
            "forced": routing.forced,
        }
    Path("trace.json").write_text(json.dumps(record), encoding="utf-8")


def load_policy(source: str) -> Any:
    """Run the candidate's text as a module and make its policy."""
    module = types.ModuleType(CANDIDATE)
    sys.modules[CANDIDATE] = module  # classes find their module by name when they are copied
    exec(compile(source, f"{CANDIDATE}.py", "exec"), module.__dict__)
    maker = getattr(module, ENTRY_POINT, None)
    if maker is None:
        raise RouterError(f"the program defines no {ENTRY_POINT}")
    return maker()


def read_case(text: str) -> tuple[int, list[Op], RoutingTarget]:
    """Number of qubits, operations and device of a case."""
    lines = text.splitlines()
    num_physical, num_edges, num_qubits, num_operations = map(int, lines[0].split())
    edges = [tuple(map(int, line.split())) for line in lines[1 : 1 + num_edges]]
    operations: list[Op] = []
    for line in lines[1 + num_edges : 1 + num_edges + num_operations]:
        name, *qubits = line.split()
        operations.append((name, tuple(map(int, qubits))))
    return num_qubits, operations, RoutingTarget(num_physical, edges)


if __name__ == "__main__":
    main()
