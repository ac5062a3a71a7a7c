"""Reading OpenQASM 2 (and the same statements under an OpenQASM 3 header) for routing.

What a router needs is which operation touches which qubits in which order. Angles stay text; a
gate that the file defines itself counts as one operation. Everything that would change that
picture is refused with the line it stands on: control flow, modifiers, gates on three qubits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tasks.quantum_compilation.circuit import ORDER_ONLY, Circuit, Operation

MAX_OPERATIONS = 5_000_000


class QasmError(ValueError):
    """The text is no circuit that can be routed; the message names the line."""


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DEFINITION = re.compile(r"\bgate\s[^{};]*\{[^{}]*\}")
_IGNORED = re.compile(r"(OPENQASM|include|opaque|pragma)\b")
_DECLARATION = re.compile(
    r"(?:(qreg|creg)\s+(\w+)\s*\[\s*(\d+)\s*\]|(qubit|bit)\s*(?:\[\s*(\d+)\s*\])?\s*(\w+))$"
)
_MEASURE_TO = re.compile(r"measure\s+(?P<qubits>.+?)\s*->\s*(?P<bits>.+)$", re.DOTALL)
_MEASURE_INTO = re.compile(r"(?P<bits>[^=]+?)\s*=\s*measure\s+(?P<qubits>.+)$", re.DOTALL)
_GATE = re.compile(
    r"(?P<name>[A-Za-z_]\w*)\s*(?:\((?P<parameters>.*)\)\s*|\s)"
    r"(?P<operands>[A-Za-z_][\w\s\[\],]*)$",
    re.DOTALL,
)
_OPERAND = re.compile(r"([A-Za-z_]\w*)\s*(?:\[\s*(\d+)\s*\])?$")
_REFUSED = frozenset({"if", "for", "while", "switch", "def", "defcal", "box", "let", "input",
                      "return", "ctrl", "negctrl", "inv", "pow", "gphase", "cal",
                      "extern"})  # fmt: skip


@dataclass
class _Registers:
    """Register names with their first wire and size; qubits and bits are numbered apart."""

    qubits: dict[str, range] = field(default_factory=dict)
    clbits: dict[str, range] = field(default_factory=dict)

    def declare(self, quantum: bool, name: str, size: int) -> None:
        if name in self.qubits or name in self.clbits:
            raise QasmError(f"register {name} is declared twice")
        group = self.qubits if quantum else self.clbits
        first = self.count(quantum)
        group[name] = range(first, first + size)

    def count(self, quantum: bool) -> int:
        return sum(map(len, (self.qubits if quantum else self.clbits).values()))

    def operand(self, text: str, quantum: bool = True) -> tuple[int, ...] | int:
        """The wire of ``name[i]``, or all wires of ``name``."""
        match = _OPERAND.match(text.strip())
        wires = (self.qubits if quantum else self.clbits).get(match[1]) if match else None
        if match is None or wires is None:
            kind = "qubit" if quantum else "bit"
            raise QasmError(f"{text.strip()!r} is no declared {kind}")
        if match[2] is None:
            return tuple(wires)
        if int(match[2]) >= len(wires):
            raise QasmError(f"{text.strip()}: register {match[1]} has {len(wires)} elements")
        return wires[int(match[2])]


def parse_qasm(text: str) -> Circuit:
    """The circuit in an OpenQASM text. Raises :class:`QasmError`."""
    registers = _Registers()
    operations: list[Operation] = []
    known: dict[str, Operation] = {}  # circuits repeat the same few hundred statements
    for line, statement in _statements(text):
        operation = known.get(statement)
        if operation is not None:
            operations.append(operation)
            continue
        try:
            found = list(_meaning(statement, registers))
        except QasmError as error:
            raise QasmError(f"line {line}: {error}") from None
        if len(found) == 1:
            known[statement] = found[0]
        operations.extend(found)
        if len(operations) > MAX_OPERATIONS:
            raise QasmError(f"line {line}: more than {MAX_OPERATIONS} operations")
    num_qubits = registers.count(quantum=True)
    if num_qubits == 0:
        raise QasmError("the circuit declares no qubits")
    return Circuit(num_qubits, tuple(operations), registers.count(quantum=False))


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Statements without comments and gate definitions, each with the line it begins on."""

    def blank(match: re.Match[str]) -> str:
        return "\n" * match[0].count("\n") or " "

    text = _DEFINITION.sub(blank, _COMMENT.sub(blank, text))
    line = 1
    for piece in text.split(";"):
        statement = piece.strip()
        if statement:
            yield line + piece[: len(piece) - len(piece.lstrip())].count("\n"), statement
        line += piece.count("\n")


def _meaning(statement: str, registers: _Registers) -> Iterator[Operation]:
    if _IGNORED.match(statement):
        return
    declared = _DECLARATION.match(statement)
    if declared is not None:
        old, old_name, old_size, new, new_size, new_name = declared.groups()
        quantum = (old or new) in ("qreg", "qubit")
        registers.declare(quantum, old_name or new_name, int(old_size or new_size or 1))
        return
    measured = _MEASURE_TO.match(statement) or _MEASURE_INTO.match(statement)
    if measured is not None:
        qubits = registers.operand(measured["qubits"])
        yield from _measurements(qubits, registers.operand(measured["bits"], quantum=False))
        return
    gate = _GATE.match(statement)
    if gate is None or gate["name"] in _REFUSED:
        raise QasmError(f"{statement[:60]!r} cannot be routed here; give plain gates")
    operands = [registers.operand(part) for part in gate["operands"].split(",")]
    yield from _applied(gate["name"], (gate["parameters"] or "").strip(), operands)


def _measurements(
    qubits: tuple[int, ...] | int, bits: tuple[int, ...] | int
) -> Iterator[Operation]:
    """One measurement, or one for each element of two registers."""
    sources = (qubits,) if isinstance(qubits, int) else qubits
    targets = (bits,) if isinstance(bits, int) else bits
    if len(sources) != len(targets):
        raise QasmError("measure needs as many bits as qubits")
    for qubit, bit in zip(sources, targets, strict=True):
        yield Operation("measure", (qubit,), clbits=(bit,))


def _applied(
    name: str, parameters: str, operands: list[tuple[int, ...] | int]
) -> Iterator[Operation]:
    """One operation, or one for each element where a whole register is an operand."""
    if name in ("barrier", "delay"):
        flat = [q for item in operands for q in ([item] if isinstance(item, int) else item)]
        yield _operation(name, parameters, tuple(flat))
        return
    sizes = {len(item) for item in operands if isinstance(item, tuple)}
    if not sizes:
        yield _operation(name, parameters, tuple(q for q in operands if isinstance(q, int)))
        return
    if len(sizes) > 1:
        raise QasmError(f"{name} is given registers of different sizes")
    for index in range(sizes.pop()):
        qubits = tuple(item if isinstance(item, int) else item[index] for item in operands)
        yield _operation(name, parameters, qubits)


def _operation(name: str, parameters: str, qubits: tuple[int, ...]) -> Operation:
    if len(set(qubits)) != len(qubits):
        raise QasmError(f"{name} uses a qubit twice")
    if len(qubits) > 2 and name not in ORDER_ONLY:
        raise QasmError(
            f"{name} acts on {len(qubits)} qubits; decompose it into gates on one or two"
        )
    return Operation(name, qubits, parameters)


def qasm_text(circuit: Circuit) -> str:
    """A circuit as OpenQASM 2 with one register ``q`` (and ``c`` for classical bits)."""
    lines = ["OPENQASM 2.0;", 'include "qelib1.inc";', f"qreg q[{circuit.num_qubits}];"]
    if circuit.num_clbits:
        lines.append(f"creg c[{circuit.num_clbits}];")
    for operation in circuit.operations:
        angles = f"({operation.parameters})" if operation.parameters else ""
        qubits = ",".join(f"q[{qubit}]" for qubit in operation.qubits)
        target = f" -> c[{operation.clbits[0]}]" if operation.clbits else ""
        lines.append(f"{operation.name}{angles} {qubits}{target};")
    return "\n".join(lines) + "\n"
