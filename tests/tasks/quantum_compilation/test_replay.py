"""The trusted check: parity vectors, and agreement with a slow replay written another way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import parity_files, read_case

from tasks.quantum_compilation.circuit import Circuit, Operation
from tasks.quantum_compilation.replay import check_record, check_schedule, check_swap_trace
from tasks.quantum_compilation.schedule import greedy_schedule
from tasks.quantum_compilation.topology import Topology, grid, line, ring

BELL = Circuit(2, (Operation("h", (0,)), Operation("cx", (0, 1))))


@pytest.mark.parametrize(
    "path",
    parity_files("swap_reduction", "traces_*.json") + parity_files("swap_reduction", "sched*.json"),
)
def test_parity(path: Path, circuits: dict[str, Circuit], topologies: dict[str, Topology]) -> None:
    cases = read_case(path, numbers=False)
    assert cases
    for case in cases:
        given = case["input"]
        circuit, topology = circuits[given["circuit"]], topologies[given["topology"]]
        found = check_record(circuit, topology, given).to_json()
        found.pop("detail", None)
        assert found == case["expected"], case["case"]


@pytest.mark.parametrize("path", parity_files("swap_reduction", "traces_valid.json"))
def test_valid_traces_have_a_valid_schedule(
    path: Path, circuits: dict[str, Circuit], topologies: dict[str, Topology]
) -> None:
    for case in read_case(path, numbers=False):
        given = case["input"]
        circuit, topology = circuits[given["circuit"]], topologies[given["topology"]]
        if len(circuit.operations) > 600:
            continue
        layout, swaps = given["initial_layout"], given["swaps"]
        schedule = greedy_schedule(circuit, topology, layout, swaps)
        verdict = check_schedule(circuit, topology, layout, schedule).to_json()
        assert verdict == case["expected"], case["case"]


def slow_replay(circuit: Circuit, topology: Topology, layout: list[int], swaps: Any) -> int:
    """Number of operations that run: one pass over the whole list before and after each SWAP."""
    place, done = list(layout), [False] * len(circuit.operations)

    def sweep() -> None:
        blocked: set[int] = set()
        for number, operation in enumerate(circuit.operations):
            if done[number]:
                continue
            wires = set(circuit.wires(operation))
            near = not operation.needs_coupling or (
                tuple(sorted(place[q] for q in operation.qubits)) in topology.edges
            )
            if wires & blocked or not near:
                blocked |= wires
            else:
                done[number] = True

    sweep()
    for a, b in swaps:
        place = [{a: b, b: a}.get(physical, physical) for physical in place]
        sweep()
    return sum(done)


@st.composite
def routings(draw: st.DrawFn) -> tuple[Circuit, Topology, list[int], list[list[int]]]:
    topology = draw(st.sampled_from([line(6), ring(6), grid(2, 3), grid(3, 3)]))
    size = draw(st.integers(2, 5))
    qubit = st.integers(0, size - 1)
    pair = st.lists(qubit, min_size=2, max_size=2, unique=True)
    several = st.lists(qubit, min_size=1, max_size=size, unique=True)
    operation = st.one_of(
        qubit.map(lambda q: Operation("h", (q,))),
        pair.map(lambda p: Operation("cx", (p[0], p[1]))),
        several.map(lambda s: Operation("barrier", tuple(s))),
        st.tuples(qubit, st.integers(0, 1)).map(
            lambda m: Operation("measure", (m[0],), clbits=(m[1],))
        ),
    )
    circuit = Circuit(size, tuple(draw(st.lists(operation, max_size=12))), num_clbits=2)
    places = draw(st.permutations(range(topology.num_qubits)))[:size]
    swaps = draw(st.lists(st.sampled_from([list(edge) for edge in topology.edges]), max_size=8))
    return circuit, topology, list(places), swaps


@settings(deadline=None, max_examples=300)
@given(routings())
def test_fast_replay_agrees_with_a_slow_one(
    routing: tuple[Circuit, Topology, list[int], list[list[int]]],
) -> None:
    circuit, topology, layout, swaps = routing
    executed = slow_replay(circuit, topology, layout, swaps)
    verdict = check_swap_trace(circuit, topology, layout, swaps)
    total = len(circuit.operations)
    assert verdict.valid == (executed == total)
    if not verdict.valid:
        assert (verdict.executed_gates, verdict.total_gates) == (executed, total)
    schedule = greedy_schedule(circuit, topology, layout, swaps)
    checked = check_schedule(circuit, topology, layout, schedule)
    assert (checked.valid, checked.executed_gates) == (verdict.valid, verdict.executed_gates)
    assert checked.final_layout == verdict.final_layout


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({}, "layout_length"),
        ({"initial_layout": "01", "swaps": []}, "layout_length"),
        ({"initial_layout": (0, 1), "swaps": []}, "layout_length"),
        ({"initial_layout": [0, True], "swaps": []}, "layout_type"),
        ({"initial_layout": [[0], 1], "swaps": []}, "layout_type"),
        ({"initial_layout": [0, 10**30], "swaps": []}, "layout_range"),
        ({"initial_layout": [1, 1], "swaps": []}, "layout_not_injective"),
        ({"initial_layout": [0, 1]}, "swap_format"),
        ({"initial_layout": [0, 1], "swaps": {"0": [0, 1]}}, "swap_format"),
        ({"initial_layout": [0, 1], "swaps": [(0, 1)]}, "swap_format"),
        ({"initial_layout": [0, 1], "swaps": [[0, None]]}, "swap_format"),
        ({"initial_layout": [0, 1], "swaps": [[0, 3], [0, 9], "x"]}, "swap_not_an_edge"),
        ({"initial_layout": [0, 1], "swaps": [[0, 1], [0, 9], "x"]}, "swap_range"),
        ({"initial_layout": [0, 2], "swaps": []}, "gates_left"),
        ({"initial_layout": [0, 1], "schedule": {}}, "schedule_format"),
        ({"initial_layout": [0, 1], "schedule": [0, 1, 2]}, "gate_index"),
        ({"initial_layout": [0, 1], "schedule": [1, 0]}, "gate_order"),
        ({"initial_layout": [0, 2], "schedule": [0, 1]}, "gate_not_on_edge"),
        ({"initial_layout": [0, 2], "schedule": [0, [0, 2]]}, "swap_not_an_edge"),
        ({"initial_layout": [0, 2], "schedule": [0, [1.0, 2]]}, "swap_format"),
        ({"initial_layout": [0, 2], "schedule": [0]}, "gates_left"),
        ([], "swap_format"),
    ],
)
def test_reasons(record: Any, reason: str) -> None:
    assert check_record(BELL, line(4), record).reason == reason


def test_a_measurement_waits_for_the_bit_and_a_barrier_for_all() -> None:
    circuit = Circuit(
        3,
        (
            Operation("cx", (0, 1)),
            Operation("measure", (1,), clbits=(0,)),
            Operation("measure", (2,), clbits=(0,)),
            Operation("barrier", (0, 2)),
            Operation("x", (0,)),
        ),
        num_clbits=1,
    )
    apart = check_swap_trace(circuit, line(4), [0, 3, 1], [])
    assert (apart.reason, apart.executed_gates) == ("gates_left", 0)
    assert check_swap_trace(circuit, line(4), [0, 3, 2], [[3, 2], [2, 1]]).valid
