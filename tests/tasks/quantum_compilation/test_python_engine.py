"""The engine of the Python track against the vectors, and its rules about policies."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import routing_policies as policies
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import parity_files, read_case

from tasks.quantum_compilation.circuit import Circuit, Operation
from tasks.quantum_compilation.replay import check_swap_trace
from tasks.quantum_compilation.topology import Topology, grid, line

SMALL_SWAPS = 450
"""Cases up to this size are routed in this process; the whole suite is a slow test elsewhere."""


@pytest.fixture(params=parity_files("swap_reduction", "engine_rng_layouts.json"))
def vectors(request: pytest.FixtureRequest) -> Any:
    return read_case(request.param)


def test_random_numbers(vectors: Any) -> None:
    from swap_router.random_numbers import RngState

    for seed, expected in vectors["rng"].items():
        stream = RngState(int(seed))
        assert [str(stream.next_u64()) for _ in range(4)] == expected["u64"]
        stream = RngState(int(seed))
        assert [stream.gen_f64() for _ in range(4)] == expected["f64"]
        stream = RngState(int(seed))
        assert [[n, stream.gen_index(n)] for n, _ in expected["gen_index"]] == expected["gen_index"]
        stream, items = RngState(int(seed)), list(range(10))
        stream.shuffle_slice(items)
        assert items == expected["shuffle_0_9"]


def test_random_numbers_from_a_state() -> None:
    from swap_router.random_numbers import RngState

    stream = RngState.from_state(42)
    expected = [0x63B4A3A813CE700A, 0x382954200617AB24, 0xA7FD85AE3FE950CE]
    assert [stream.next_u64() for _ in range(3)] == expected


@given(st.integers(0, 2**64 - 1), st.sampled_from([1, 2, 3, 2**31 + 1, 2**32 - 1, 2**32, 2**63]))
def test_indices_stay_below_their_bound(seed: int, upper: int) -> None:
    from swap_router.random_numbers import RngState

    stream = RngState(seed)
    assert all(0 <= stream.gen_index(upper) < upper for _ in range(20))


def test_seeds_and_layouts_of_trials(
    vectors: Any, circuits: dict[str, Circuit], topologies: dict[str, Topology]
) -> None:
    from swap_router.__main__ import load_policy
    from swap_router.contexts import InitialLayoutContext
    from swap_router.device import RoutingTarget
    from swap_router.random_numbers import RngState
    from swap_router.routing_dag import build_dag
    from swap_router.trials import trial_seeds, vary_layout
    from swap_router.views import CircuitDagView, TopologyView

    seeds = [[str(seed) for seed in row] for row in trial_seeds(42, 4, 4)]
    assert seeds == vectors["seed42"]["routing_trial_seeds"]
    stream = RngState(42)
    layout_seeds = [str(stream.next_u64()) for _ in range(4)]
    assert layout_seeds == vectors["seed42"]["layout_trial_seeds"]
    for case, expected in vectors["layout_trials"].items():
        name, device = policies.split_case(case)
        circuit, topology = circuits[name], topologies[device]
        target = RoutingTarget(topology.num_qubits, topology.edges)
        dag = build_dag(circuit.num_qubits, [(o.name, o.qubits) for o in circuit.operations])
        context = InitialLayoutContext(TopologyView(target), CircuitDagView(dag))
        policy = load_policy(policies.initial_source("py"))
        base = policy.choose_best_initial_layout(context, RngState(42))
        assert vary_layout(base, target, 42, 4) == expected


@pytest.mark.parametrize(
    "policy", ["none", "random_walk", pytest.param("first_edge", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("path", parity_files("swap_reduction", "engine_trivial_policies.json"))
def test_trivial_policies(
    path: Path, policy: str, circuits: dict[str, Circuit], topologies: dict[str, Topology]
) -> None:
    for case, expected in read_case(path)["policies"][policy]["cases"].items():
        name, device = policies.split_case(case)
        found = policies.route_here(circuits[name], topologies[device], policies.PYTHON[policy])
        assert found.forced == expected["forced"], case
        assert len(found.swaps) == expected["swap_count"], case
        assert policies.trace_sha256(found.initial_layout, found.swaps) == expected["trace_sha256"]


@pytest.mark.parametrize("path", parity_files("swap_reduction", "engine_init*.json"))
def test_initial_policy(
    path: Path, circuits: dict[str, Circuit], topologies: dict[str, Topology]
) -> None:
    vectors = read_case(path)["cases"]
    small = {case: v for case, v in vectors.items() if v["swap_count"] <= SMALL_SWAPS}
    assert len(small) > 30
    for case, expected in small.items():
        name, device = policies.split_case(case)
        source = policies.initial_source("py")
        found = policies.route_here(circuits[name], topologies[device], source)
        assert found.initial_layout == expected["initial_layout"], case
        assert policies.trace_sha256(found.initial_layout, found.swaps) == expected["trace_sha256"]


@pytest.mark.parametrize(
    ("device", "expected"), [("q20", 23_143), ("willow", 37_865), ("heron_fez", 47_940)]
)
def test_single_runs_with_another_seed(
    device: str, expected: int, circuits: dict[str, Circuit], topologies: dict[str, Topology]
) -> None:
    """All 24 circuits, one layout, one run, seed 7: the totals that the specification measured."""
    source, topology = policies.initial_source("py"), topologies[device]
    total = 0
    for circuit in circuits.values():
        found = policies.route_here(circuit, topology, source, trials=(1, 1), seed=7)
        total += len(found.swaps)
    assert total == expected


GATES = st.lists(
    st.one_of(
        st.tuples(st.just("h"), st.integers(0, 5).map(lambda q: (q,))),
        st.tuples(
            st.just("cx"),
            st.lists(st.integers(0, 5), min_size=2, max_size=2, unique=True).map(tuple),
        ),
        st.tuples(
            st.just("barrier"),
            st.lists(st.integers(0, 5), min_size=1, max_size=6, unique=True).map(tuple),
        ),
    ),
    max_size=40,
)


@settings(deadline=None, max_examples=100)
@given(GATES, st.sampled_from(sorted(policies.PYTHON)), st.sampled_from([line(7), grid(3, 3)]))
def test_every_trace_passes_the_check(
    gates: list[tuple[str, tuple[int, ...]]], policy: str, topology: Topology
) -> None:
    circuit = Circuit(6, tuple(Operation(name, qubits) for name, qubits in gates))
    found = policies.route_here(circuit, topology, policies.PYTHON[policy], trials=(2, 1))
    swaps = [list(swap) for swap in found.swaps]
    assert check_swap_trace(circuit, topology, found.initial_layout, swaps).valid


@settings(deadline=None)
@given(GATES)
def test_operations_are_walked_in_a_topological_order(
    gates: list[tuple[str, tuple[int, ...]]],
) -> None:
    from swap_router.routing_dag import build_dag, topological_order

    order = topological_order(6, gates)
    assert sorted(order) == list(range(len(gates)))
    for qubit in range(6):
        on_wire = [index for index in order if qubit in gates[index][1]]
        assert on_wire == sorted(on_wire)
    dag = build_dag(6, gates)
    placed = sorted(dag.initial_operations + [i for node in dag.nodes for i in node.operations])
    assert placed == list(range(len(gates)))


def test_nodes_fold_what_needs_no_routing_of_its_own() -> None:
    from swap_router.routing_dag import build_dag

    gates = [("h", (0,)), ("cx", (0, 1)), ("t", (1,)), ("cx", (1, 0)), ("cx", (1, 2)), ("x", (3,))]
    dag = build_dag(4, gates)
    assert [node.operations for node in dag.nodes] == [[1, 2, 3], [4]]
    assert sorted(dag.initial_operations) == [0, 5]
    assert (dag.first_layer, dag.nodes[1].predecessors) == ([0], [0])
    assert (dag.used_qubits, dag.components) == ([0, 1, 2, 3], [[0, 1, 2], [3]])


def test_look_ahead_is_the_same_however_it_is_read() -> None:
    from swap_router.look_ahead import ENOUGH_PAIRS, LookAhead
    from swap_router.routing_dag import build_dag

    gates = [("cx", ((i * 7) % 9, (i * 5 + 1) % 9)) for i in range(900) if (2 * i - 1) % 9]
    dag = build_dag(9, gates)
    missing = [len(node.predecessors) for node in dag.nodes]

    def fresh() -> LookAhead:
        return LookAhead(dag.nodes, missing, dag.first_layer)

    whole = list(fresh())
    assert ENOUGH_PAIRS <= len(whole) < len(dag.nodes)
    bit_by_bit = fresh()
    assert [bit_by_bit[index] for index in range(len(whole))] == whole
    for piece in (slice(20), slice(3, 40, 2), slice(-5, None), slice(-5, 300), slice(8, 2, -1)):
        assert fresh()[piece] == whole[piece]
    assert fresh()[-1] == whole[-1]
    assert len(fresh()) == len(whole)
    assert bool(fresh())
    stopped = fresh()
    assert stopped[:5] == whole[:5]
    stopped.stop()
    assert list(stopped)[:5] == whole[:5]


def test_lists_fill_holes_with_their_last_item() -> None:
    from swap_router.indexed import IndexedList, remove_by_swap

    ids = IndexedList(range(5))
    ids.discard(1)
    ids.discard(1)
    ids.discard(3)
    assert ids == [0, 4, 2]
    ids.add(1)
    ids.discard(0)
    assert ids == [1, 4, 2]
    front = {7: (0, 1), 3: (2, 3), 5: (4, 5), 9: (6, 7)}
    remove_by_swap(front, 3)
    assert list(front.items()) == [(7, (0, 1)), (9, (6, 7)), (5, (4, 5))]
    remove_by_swap(front, 5)
    assert list(front) == [7, 9]


LAYOUT_RULES = [
    ("return [0, 1]", "it needs 3"),
    ("return [0, 1, 1]", "two logical qubits"),
    ("return [0, 1, 9]", "whole numbers"),
    ("return [0, 1, True]", "whole numbers"),
    ("return [0, 1, 2.0]", "whole numbers"),
    ("from swap_router import RouterError\nraise RouterError('no room')", "no room"),
]


@pytest.mark.parametrize(("layout", "said"), LAYOUT_RULES)
def test_layouts_must_be_injective(layout: str, said: str) -> None:
    from swap_router import RouterError

    circuit = Circuit(3, (Operation("cx", (0, 2)),))
    with pytest.raises(RouterError, match=said):
        policies.route_here(circuit, line(5), policies.python_policy("return None", layout))


def test_a_run_with_a_bad_swap_is_left_out_and_all_bad_runs_are_a_failure() -> None:
    from swap_router import RouterError

    circuit = Circuit(3, (Operation("cx", (0, 2)),))
    sometimes = "return (0, 1) if rng.gen_index(2) else (0, 2)"
    source = policies.python_policy(sometimes)
    assert policies.route_here(circuit, line(3), source, trials=(1, 8)).swaps == [(0, 1)]
    for swap in ("(0, 2)", "(0, -1)", "(-1, 0)", "(0, 77)", "(77, 0)"):
        source = policies.python_policy(f"return {swap}")
        with pytest.raises(RouterError, match="all runs failed"):
            policies.route_here(circuit, line(3), source, trials=(1, 2))


def test_numbers_of_numpy_are_taken() -> None:
    circuit = Circuit(3, (Operation("cx", (0, 2)),))
    swap = "import numpy as np\nreturn tuple(np.array([0, 1]))"
    layout = "import numpy as np\nreturn np.arange(3)"
    found = policies.route_here(
        circuit, line(3), policies.python_policy(swap, layout), trials=(1, 1)
    )
    assert (found.initial_layout, found.swaps) == ([0, 1, 2], [(0, 1)])
    assert all(type(qubit) is int for qubit in (*found.initial_layout, *found.swaps[0]))


def test_each_run_has_its_own_copy_of_the_policy() -> None:
    source = """
class CandidatePolicy:
    def __init__(self):
        self.seen = []
        self.topology = None

    def choose_best_initial_layout(self, ctx, rng):
        self.topology = ctx.topology()
        self.seen.append("layout")
        return list(range(ctx.circuit().num_logical_qubits()))

    def choose_best_swap(self, ctx, rng):
        assert self.seen == ["layout"], self.seen
        assert self.topology is ctx.topology()
        self.seen.append("swap")
        return None
"""
    circuit = Circuit(3, (Operation("cx", (0, 2)),))
    assert policies.route_here(circuit, line(3), source, trials=(1, 4)).forced == 1


def test_views_show_the_state_of_the_run() -> None:
    source = """
class CandidatePolicy:
    def choose_best_initial_layout(self, ctx, rng):
        circuit, topology = ctx.circuit(), ctx.topology()
        assert circuit.node_count() == len(circuit.node_ids()) == 3
        assert circuit.first_layer_node_ids() == [0]
        node = circuit.node(1)
        assert node.two_qubit_pair() == node.qargs() == (0, 3) and node.is_two_qubit()
        assert (node.name(), node.predecessors(), node.successors()) == ("cx", [0], [2])
        assert topology.num_edges() == 4 and topology.max_degree() == 2 and topology.degree(0) == 1
        assert topology.shortest_path(0, 2) == [0, 1, 2] and topology.shortest_path(1, 1) == [1]
        assert topology.distance(0, 4) == 4 and topology.component_of_physical(3) == 0
        return [0, 1, 2, 4]

    def choose_best_swap(self, ctx, rng):
        front, remaining, layout = ctx.front_layer(), ctx.remaining(), ctx.layout()
        assert remaining.is_executed(0)
        if remaining.is_executed(1):
            return None
        assert remaining.state(1).value == "Ready" and remaining.state(2).value == "Pending"
        assert remaining.remaining_predecessor_count(2) == 1
        assert remaining.ready_node_ids() == remaining.front_layer_node_ids() == [1]
        assert sorted(remaining.pending_node_ids()) == [1, 2] == sorted(
            remaining.remaining_two_qubit_node_ids()
        )
        assert len(front) == 1 and front.node_ids() == [1] and not front.is_empty()
        assert front.logical_pair(1) == (0, 3) and front.logical_pair(0) is None
        assert front.physical_pair(1) == front.physical_pairs()[0]
        assert layout.logical_of_physical(layout.physical_of_logical(3)) == 3
        assert list(ctx.precomputed_extended_set_logical_pairs()) == [(3, 2)]
        assert (ctx.swaps_since_progress() == 0) == (ctx.last_applied_swap() is None)
        near = layout.physical_of_logical(0)
        return near, near + 1
"""
    gates = (Operation("cx", (0, 1)), Operation("cx", (0, 3)), Operation("cx", (3, 2)))
    found = policies.route_here(Circuit(4, gates), line(5), source, trials=(1, 1))
    # The last three are the release valve's: half of the path from each end.
    assert found.swaps == [(0, 1), (1, 2), (2, 3), (4, 3), (3, 2), (1, 2)]
    assert found.forced == 1


def test_two_parts_of_a_device_are_never_joined() -> None:
    from swap_router import RouterError

    islands = Topology("islands", 5, ((0, 1), (2, 3), (3, 4)))
    circuit = Circuit(3, (Operation("cx", (0, 2)),))
    apart = policies.python_policy("return None", "return [0, 1, 2]")
    with pytest.raises(RouterError, match="unconnected"):
        policies.route_here(circuit, islands, apart)
    found = policies.route_here(circuit, islands, policies.initial_source("py"))
    places = found.initial_layout
    assert {places[0], places[2]} <= {2, 3, 4}
    big = Circuit(4, (Operation("cx", (0, 1)), Operation("cx", (1, 2)), Operation("cx", (2, 3))))
    with pytest.raises(RouterError, match="no part of the device"):
        policies.route_here(big, islands, policies.initial_source("py"))


def test_unused_qubits_have_places_too() -> None:
    empty = Circuit(3, ())
    found = policies.route_here(empty, line(4), policies.initial_source("py"))
    assert (found.initial_layout, found.swaps) == ([0, 1, 2], [])
    assert copy.deepcopy(found) == found
