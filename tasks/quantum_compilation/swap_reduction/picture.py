"""A picture of what a router did, readable in black and white."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tasks.quantum_compilation.circuit import Circuit
from tasks.quantum_compilation.replay import CNOTS_PER_SWAP
from tasks.quantum_compilation.schedule import Step, greedy_schedule
from tasks.quantum_compilation.swap_reduction.scoring import REPORTED_DEVICE, CaseResult, Tally
from tasks.quantum_compilation.swap_reduction.suite import Suite
from tasks.quantum_compilation.topology import Topology

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, PALE, ACCENT = "black", "0.8", "tab:red"
MAX_COLUMNS = 48
"""Longest piece of a routed circuit that can still be read."""

TELLING_SWAPS = 3
"""A routed circuit with fewer shows little of how the router works."""

_Q20_COLUMNS = 5


def draw(suite: Suite, tally: Tally, records: Sequence[Mapping[str, Any]], figure: Figure) -> None:
    """SWAPs by circuit, the device with its SWAPs, and the beginning of one routed circuit."""
    figure.set_size_inches(11, 8.5)
    shown = [result for result in tally.on(REPORTED_DEVICE).results if result.swaps is not None]
    by_id = {record["id"]: record for record in records}
    grid = figure.add_gridspec(2, 2, height_ratios=[1.35, 1.0])
    _draw_counts(figure.add_subplot(grid[0, 0]), tally.on(REPORTED_DEVICE))
    topology = suite.topologies[REPORTED_DEVICE]
    swaps = [swap for result in shown for swap in by_id[result.case.id]["swaps"]]
    _draw_device(figure.add_subplot(grid[0, 1]), topology, swaps)
    example = _example(suite, shown)
    if example is not None:
        record = by_id[example.case.id]
        circuit, _ = suite.parts(example.case)
        steps = greedy_schedule(circuit, topology, record["initial_layout"], record["swaps"])
        axes = figure.add_subplot(grid[1, :])
        draw_routed(axes, circuit, record["initial_layout"], steps)
        axes.set_title(f"{example.case.circuit} as routed, the beginning", fontsize=10)


def _draw_counts(axes: Axes, tally: Tally) -> None:
    """A dot for the router and a circle for the reference, on a scale that shows 0 and 5000."""
    rows = range(len(tally.results))
    reference = [result.case.orig_cnot / CNOTS_PER_SWAP for result in tally.results]
    for row, result, other in zip(rows, tally.results, reference, strict=True):
        if result.swaps is None:
            axes.text(0, row, " failed", va="center", fontsize=7)
            continue
        axes.plot([result.swaps, other], [row, row], color=PALE, linewidth=2.5, zorder=1)
        axes.plot(result.swaps, row, "o", color=ACCENT, markersize=5, zorder=3)
    axes.plot(reference, rows, "o", markerfacecolor="none", color=INK, markersize=7, zorder=2)
    axes.plot([], [], "o", color=ACCENT, label="this router")
    axes.plot([], [], "o", markerfacecolor="none", color=INK, label="reference")
    axes.set_yticks(rows, [result.case.circuit for result in tally.results], fontsize=7)
    axes.invert_yaxis()
    axes.set_xscale("symlog", linthresh=1)
    most = max([*reference, *(result.swaps or 0 for result in tally.results)])
    axes.set_xlim(-0.3, 2 * most + 1)
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.set_xlabel("SWAPs")
    axes.grid(axis="x", color="0.92")
    axes.legend(loc="upper right", fontsize=8)
    total = "undefined" if tally.swaps is None else str(tally.swaps)
    axes.set_title(
        f"SWAPs on {REPORTED_DEVICE}: {total} (reference {sum(reference):.0f})", fontsize=10
    )


def _draw_device(axes: Axes, topology: Topology, swaps: Sequence[Sequence[int]]) -> None:
    """The couplings, wider the more SWAPs they carry."""
    used = Counter((min(swap), max(swap)) for swap in swaps)
    most = max(used.values(), default=1)
    place = {q: (q % _Q20_COLUMNS, -(q // _Q20_COLUMNS)) for q in range(topology.num_qubits)}
    for a, b in topology.edges:
        (x, y), (u, v) = place[a], place[b]
        axes.plot([x, u], [y, v], color=PALE, linewidth=0.8, zorder=1)
        if used[a, b]:
            width = 0.5 + 9.0 * used[a, b] / most
            axes.plot([x, u], [y, v], color=ACCENT, linewidth=width, alpha=0.55, zorder=2)
    for qubit, (x, y) in place.items():
        axes.plot(x, y, "o", color="white", markeredgecolor=INK, markersize=15, zorder=3)
        axes.text(x, y, str(qubit), ha="center", va="center", fontsize=7.5, zorder=4)
    axes.set_aspect("equal")
    axes.margins(0.1)
    axes.set_axis_off()
    busiest = used.most_common(1)
    said = f"; most, {busiest[0][1]}, on {busiest[0][0]}" if busiest else ""
    axes.set_title(f"SWAPs by coupling of {topology.name}{said}", fontsize=10)


def _example(suite: Suite, shown: Sequence[CaseResult]) -> CaseResult | None:
    """The smallest circuit that needs some SWAPs, so that most of it can be seen."""
    circuits = suite.load()

    def size(result: CaseResult) -> tuple[bool, int]:
        return ((result.swaps or 0) < TELLING_SWAPS, len(circuits[result.case.circuit].operations))

    return min(shown, key=size, default=None)


def draw_routed(axes: Axes, circuit: Circuit, layout: Sequence[int], steps: Sequence[Step]) -> None:
    """Physical qubits as lines; each step in the first column in which it crosses nothing."""
    placed = on_physical_qubits(circuit, layout, steps)
    wires = sorted({qubit for _, qubits in placed for qubit in qubits})
    row = {qubit: -index for index, qubit in enumerate(wires)}
    free_from = Counter[int]()
    last = 0
    for step, qubits in placed:
        heights = [row[qubit] for qubit in qubits]
        crossed = range(min(heights), max(heights) + 1)
        column = max(free_from[height] for height in crossed)
        for height in crossed:
            free_from[height] = column + 1
        if column >= MAX_COLUMNS:
            continue
        last = max(last, column)
        if isinstance(step, list):
            axes.plot([column] * 2, heights, color=ACCENT, linewidth=2.5, zorder=2)
            axes.plot([column] * 2, heights, "x", color=ACCENT, markersize=9, mew=2.5, zorder=3)
        else:
            _draw_gate(axes, circuit.operations[step].name, column, heights)
    for qubit in wires:
        axes.plot([-1, last + 1], [row[qubit]] * 2, color=PALE, linewidth=1, zorder=1)
    names = {physical: logical for logical, physical in enumerate(layout)}
    labels = [f"{qubit} (q{names[qubit]})" if qubit in names else str(qubit) for qubit in wires]
    axes.set_yticks([row[qubit] for qubit in wires], labels, fontsize=8)
    axes.set_xticks([])
    axes.set_ylabel("physical (logical at start)", fontsize=8)
    axes.set_xlim(-1.2, last + 1.2)
    for spine in axes.spines.values():
        spine.set_visible(False)


def on_physical_qubits(
    circuit: Circuit, layout: Sequence[int], steps: Sequence[Step]
) -> list[tuple[Step, list[int]]]:
    """Each step with the physical qubits that it touches when its turn comes."""
    place = list(layout)
    placed: list[tuple[Step, list[int]]] = []
    for step in steps:
        if isinstance(step, list):
            placed.append((step, step))
            exchanged = {step[0]: step[1], step[1]: step[0]}
            place = [exchanged.get(physical, physical) for physical in place]
        else:
            placed.append((step, [place[q] for q in circuit.operations[step].qubits]))
    return placed


def _draw_gate(axes: Axes, name: str, column: int, heights: Sequence[int]) -> None:
    if len(heights) == 1:
        box = {"facecolor": "white", "edgecolor": INK, "linewidth": 0.6, "pad": 1.5}
        axes.text(column, heights[0], name, ha="center", va="center", fontsize=6, bbox=box)
        return
    axes.plot([column] * len(heights), heights, color=INK, linewidth=1, zorder=2)
    axes.plot(column, heights[0], "o", color=INK, markersize=4, zorder=3)
    axes.plot(column, heights[-1], "o", color="white", markeredgecolor=INK, markersize=8, zorder=3)
    axes.plot(column, heights[-1], "+", color=INK, markersize=8, zorder=4)
