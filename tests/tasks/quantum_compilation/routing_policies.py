"""Trivial policies, the same in both languages, and how tests route with them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmark import Artifact, Score
from benchmark.evaluation import load_evaluator, prepare
from tasks.quantum_compilation.circuit import Circuit
from tasks.quantum_compilation.swap_reduction import archive
from tasks.quantum_compilation.swap_reduction.evaluator import SwapReduction
from tasks.quantum_compilation.swap_reduction.suite import Suite
from tasks.quantum_compilation.topology import Topology

Judge = Callable[..., tuple[Artifact, Score]]
"""Produces and scores a program: see the fixture ``judge``."""

TASK = Path(archive.__file__).parent

IDENTITY = "list(range(ctx.circuit().num_logical_qubits()))"
_PYTHON = """
class CandidatePolicy:
    def choose_best_initial_layout(self, ctx, rng):
        {layout}

    def choose_best_swap(self, ctx, rng):
        {swap}
"""
_RUST = """
// EVOLVE-BLOCK-START
#[derive(Clone, Default)]
pub struct CandidatePolicy;

impl Policy for CandidatePolicy {{
    fn choose_best_initial_layout(
        &mut self, ctx: &InitialLayoutContext<'_>, rng: &mut RngState,
    ) -> Result<Vec<usize>, RouterError> {{
        {layout}
    }}

    fn choose_best_swap(
        &mut self, ctx: &SwapSelectionContext<'_>, rng: &mut RngState,
    ) -> Option<(usize, usize)> {{
        {swap}
    }}
}}
// EVOLVE-BLOCK-END
"""


def python_policy(swap: str, layout: str = f"return {IDENTITY}") -> str:
    """A policy in Python: the bodies of its two methods, one statement a line."""
    indent = "\n        "
    return _PYTHON.format(layout=layout.replace("\n", indent), swap=swap.replace("\n", indent))


def rust_policy(swap: str, layout: str = "Ok((0..ctx.circuit().num_logical_qubits()).collect())",
                extra: str = "") -> str:  # fmt: skip
    """A policy in Rust: the bodies of its two methods, and what stands beside it in the block."""
    text = _RUST.format(layout=layout, swap=swap)
    return text.replace("// EVOLVE-BLOCK-END", f"{extra}\n// EVOLVE-BLOCK-END")


PYTHON = {
    "none": python_policy("return None"),
    "first_edge": python_policy("return ctx.topology().edges()[0]"),
    "random_walk": python_policy(
        "if ctx.swaps_since_progress() >= 3:\n"
        "    return None\n"
        "active = ctx.front_layer().active_physical_qubits()\n"
        "qubit = active[rng.gen_index(len(active))]\n"
        "near = ctx.topology().neighbors(qubit)\n"
        "return qubit, near[rng.gen_index(len(near))]",
        "qubits = list(range(ctx.topology().num_qubits()))\n"
        "rng.shuffle_slice(qubits)\n"
        "return qubits[: ctx.circuit().num_logical_qubits()]",
    ),
}
RUST = {
    "none": rust_policy("None"),
    "first_edge": rust_policy("let [a, b] = ctx.topology().edges()[0]; Some((a, b))"),
    "random_walk": rust_policy(
        """if ctx.swaps_since_progress() >= 3 { return None; }
        let active = ctx.front_layer().active_physical_qubits();
        let qubit = active[rng.gen_index(active.len())];
        let topology = ctx.topology();
        let near = topology.neighbors(qubit);
        Some((qubit, near[rng.gen_index(near.len())]))""",
        """let mut qubits: Vec<usize> = (0..ctx.topology().num_qubits()).collect();
        rng.shuffle_slice(&mut qubits);
        qubits.truncate(ctx.circuit().num_logical_qubits());
        Ok(qubits)""",
    ),
}


def initial_source(language: str) -> str:
    """The initial program in ``py`` or ``rs``."""
    return (TASK / f"initial.{language}").read_text(encoding="utf-8")


def split_case(case: str) -> tuple[str, str]:
    """Circuit and device of a case id."""
    device = next(name for name in ("q20", "willow", "heron_fez") if case.endswith(f"_{name}"))
    return case.removesuffix(f"_{device}"), device


def route_here(
    circuit: Circuit,
    topology: Topology,
    source: str,
    trials: tuple[int, int] = (4, 4),
    seed: int = 42,
) -> Any:
    """Route with a policy of ours in this process."""
    from swap_router.__main__ import load_policy
    from swap_router.device import RoutingTarget
    from swap_router.trials import route

    operations = [(operation.name, operation.qubits) for operation in circuit.operations]
    target = RoutingTarget(topology.num_qubits, topology.edges)
    layout_trials, routing_trials = trials
    return route(
        circuit.num_qubits,
        operations,
        target,
        load_policy(source),
        seed=seed,
        layout_trials=layout_trials,
        routing_trials=routing_trials,
    )


def trace_sha256(layout: Sequence[int], swaps: Sequence[Sequence[int]]) -> str:
    """The digest by which the vectors name a trace."""
    content = [list(layout), [list(swap) for swap in swaps]]
    return hashlib.sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()


def load_task(variant: str, **options: str) -> SwapReduction:
    """The task's evaluator for a data variant."""
    evaluator = load_evaluator(prepare("swap_reduction", variant, options))
    assert isinstance(evaluator, SwapReduction)
    return evaluator


def shortened(suite: Suite, ids: Collection[str]) -> Suite:
    """Only some cases of a suite."""
    return replace(suite, cases=[case for case in suite.cases if case.id in ids])


def trivial_record(suite: Suite, case_id: str) -> dict[str, Any]:
    """A valid trace by the policy that never proposes anything."""
    case = next(case for case in suite.cases if case.id == case_id)
    routed = route_here(*suite.parts(case), PYTHON["none"], trials=(1, 1))
    swaps = [list(swap) for swap in routed.swaps]
    return {"id": case_id, "initial_layout": routed.initial_layout, "swaps": swaps}
