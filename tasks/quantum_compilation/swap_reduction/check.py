"""A stand-alone checker of routings, for any circuit and device.

``python -m tasks.quantum_compilation.swap_reduction.check CIRCUIT.qasm TOPOLOGY.json TRACE.json``
prints the verdict as JSON. The trace is an object with ``initial_layout`` and ``swaps``, or with
``initial_layout`` and ``schedule`` (numbers of operations in file order, and SWAPs). Exit codes:
0 valid, 1 invalid, 2 a file that cannot be used.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tasks.quantum_compilation.qasm import QasmError, parse_qasm
from tasks.quantum_compilation.replay import Verdict, check_record
from tasks.quantum_compilation.topology import TopologyError, read_topology


def check_files(circuit: Path, topology: Path, trace: Path) -> Verdict:
    """The verdict on three files. Raises ``ValueError`` or ``OSError`` naming a useless file."""
    try:
        parsed = parse_qasm(circuit.read_text(encoding="utf-8"))
    except (QasmError, UnicodeDecodeError) as error:
        raise ValueError(f"{circuit}: {error}") from None
    return check_record(parsed, read_topology(topology), _read_trace(trace))


def _read_trace(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not JSON ({error})") from None


def main(arguments: Sequence[str]) -> int:
    """Check, print, and return the exit code."""
    if len(arguments) != 3:
        print("usage: check CIRCUIT.qasm TOPOLOGY.json TRACE.json", file=sys.stderr)
        return 2
    try:
        verdict = check_files(*map(Path, arguments))
    except (TopologyError, ValueError) as error:
        print(f"check: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"check: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    print(json.dumps(verdict.to_json()))
    return 0 if verdict.valid else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
