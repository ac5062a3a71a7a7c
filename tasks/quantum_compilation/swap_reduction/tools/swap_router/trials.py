"""Several layouts, several runs from each, the best of all."""

from __future__ import annotations

import copy
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .contexts import InitialLayoutContext
from .device import RoutingTarget
from .errors import RouterError
from .random_numbers import RngState
from .routing_dag import Op, build_dag
from .run import Run, Swap
from .views import CircuitDagView, TopologyView

LAYOUT_STREAM = 0x9E3779B97F4A7C15
"""Added (exclusive or) to the seed for the stream that varies layouts."""

EXCHANGE_PROBABILITY = 0.35
MOVE_PROBABILITY = 0.25


@dataclass(frozen=True)
class Routing:
    """The best run: where it began, its SWAPs, how often the release valve fired in it."""

    initial_layout: list[int]
    swaps: list[Swap]
    forced: int


def route(
    num_qubits: int,
    operations: Sequence[Op],
    target: RoutingTarget,
    policy: Any,
    *,
    seed: int,
    layout_trials: int,
    routing_trials: int,
) -> Routing:
    """Ask the policy for a layout, vary it, run each several times, keep the fewest SWAPs.

    Each run has a copy of the policy as it was after it had chosen the layout. Raises
    :class:`RouterError` for a layout that breaks a rule and when every run failed.
    """
    dag = build_dag(num_qubits, operations)
    circuit, topology = CircuitDagView(dag), TopologyView(target)
    chosen = policy.choose_best_initial_layout(
        InitialLayoutContext(topology, circuit), RngState(seed)
    )
    base = _checked(chosen, num_qubits, target.num_qubits)
    best: Routing | None = None
    problem = ""
    layouts = vary_layout(base, target, seed, layout_trials)
    for layout, seeds in zip(
        layouts, trial_seeds(seed, layout_trials, routing_trials), strict=True
    ):
        for routing_seed in seeds:
            run = Run(dag, target, layout, circuit, topology)
            try:
                run.route(copy.deepcopy(policy), RngState(routing_seed))
            except RouterError as error:
                problem = problem or str(error)
                continue
            if best is None or len(run.swaps) < len(best.swaps):
                best = Routing(layout, run.swaps, run.forced)
    if best is None:
        raise RouterError(f"all runs failed: {problem}")
    return best


def _checked(layout: Any, num_logical: int, num_physical: int) -> list[int]:
    given = list(layout)
    if len(given) != num_logical:
        raise RouterError(f"the layout has {len(given)} entries; it needs {num_logical}")
    wrong = RouterError(f"the layout must hold whole numbers from 0 to {num_physical - 1}")
    if any(isinstance(place, bool) or not hasattr(place, "__index__") for place in given):
        raise wrong
    places = [operator.index(place) for place in given]  # also numpy's numbers
    if not all(0 <= place < num_physical for place in places):
        raise wrong
    if len(set(places)) != num_logical:
        raise RouterError("the layout puts two logical qubits on one physical qubit")
    return places


def trial_seeds(seed: int, layout_trials: int, routing_trials: int) -> list[list[int]]:
    """For each layout trial the seeds of its routing trials."""
    layouts = RngState(seed)
    streams = [RngState(layouts.next_u64()) for _ in range(layout_trials)]
    return [[stream.next_u64() for _ in range(routing_trials)] for stream in streams]


def vary_layout(
    base: Sequence[int], target: RoutingTarget, seed: int, trials: int
) -> list[list[int]]:
    """The base layout and ``trials - 1`` random variations that stay within components."""
    rng = RngState(seed ^ LAYOUT_STREAM)
    return [list(base), *(_variation(base, target, rng) for _ in range(trials - 1))]


def _variation(base: Sequence[int], target: RoutingTarget, rng: RngState) -> list[int]:
    taken = set(base)
    free = [[q for q in members if q not in taken] for members in target.components]
    members: list[list[int]] = [[] for _ in target.components]
    for logical, physical in enumerate(base):
        members[target.component_of[physical]].append(logical)
    trial = list(base)
    for logical, physical in enumerate(base):
        component = target.component_of[physical]
        inhabitants, empty = members[component], free[component]
        if len(inhabitants) > 1 and rng.gen_f64() < EXCHANGE_PROBABILITY:
            other = inhabitants[rng.gen_index(len(inhabitants))]
            trial[logical], trial[other] = trial[other], trial[logical]
        elif empty and rng.gen_f64() < MOVE_PROBABILITY:
            index = rng.gen_index(len(empty))
            physical = empty[index]
            empty[index] = empty[-1]
            empty.pop()
            empty.append(trial[logical])
            trial[logical] = physical
    return trial
