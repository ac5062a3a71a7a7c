"""One small circuit as several routers ran it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchmark.evaluator import Invalid
from benchmark.side_by_side import Shown, Value
from tasks.quantum_compilation.schedule import Step, greedy_schedule
from tasks.quantum_compilation.swap_reduction.picture import draw_routed, on_physical_qubits
from tasks.quantum_compilation.swap_reduction.scoring import REPORTED_DEVICE, judge
from tasks.quantum_compilation.swap_reduction.suite import RoutingCase, Suite

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIRST_CHOICE = "alu-v0_27"
"""Circuit that is drawn where the suite has it and every router ran it."""

Records = Sequence[Mapping[str, Any]]


def draw(suite: Suite, routed: Sequence[tuple[str, Records]], figure: Figure) -> Shown:
    """The circuit on the reported device, one router a row. Raises :class:`Invalid`."""
    case = _case(suite, routed)
    circuit, topology = suite.parts(case)
    figure.set_size_inches(11, 0.6 + 2.9 * len(routed))
    panels = figure.subplots(len(routed), 1, squeeze=False).ravel()
    rows: list[tuple[Value, ...]] = []
    for axes, (label, records) in zip(panels, routed, strict=True):
        record = next(record for record in records if record["id"] == case.id)
        layout, swaps = record["initial_layout"], record["swaps"]
        steps = greedy_schedule(circuit, topology, layout, swaps)
        draw_routed(axes, circuit, layout, steps)
        plural = "SWAP" if len(swaps) == 1 else "SWAPs"
        axes.set_title(f"{label}: {len(swaps)} {plural}", loc="left", fontsize="medium")
        rows += [
            (label, place, _name(step, circuit), " ".join(map(str, qubits)))
            for place, (step, qubits) in enumerate(on_physical_qubits(circuit, layout, steps))
        ]
    title = f"{case.circuit} on {topology.name}, inserted SWAPs in colour"
    figure.suptitle(title, fontsize="medium")
    return Shown(("artifact", "step", "operation", "physical_qubits"), rows)


def _name(step: Step, circuit: Any) -> str:
    return "swap inserted" if isinstance(step, list) else str(circuit.operations[step].name)


def _case(suite: Suite, routed: Sequence[tuple[str, Records]]) -> RoutingCase:
    """The first choice, else the smallest circuit on which the numbers of SWAPs differ most."""
    tallies = [judge(suite, records).on(REPORTED_DEVICE) for _, records in routed]
    counts: dict[RoutingCase, list[int | None]] = {
        results[0].case: [result.swaps for result in results]
        for results in zip(*(tally.results for tally in tallies), strict=True)
        if all(result.swaps is not None for result in results)
    }
    if not counts:
        raise Invalid(f"no circuit on {REPORTED_DEVICE} was routed by all")
    circuits = suite.load()

    def preference(case: RoutingCase) -> tuple[bool, bool, int]:
        same = len(set(counts[case])) == 1
        return (case.circuit != FIRST_CHOICE, same, len(circuits[case.circuit].operations))

    return min(counts, key=preference)
