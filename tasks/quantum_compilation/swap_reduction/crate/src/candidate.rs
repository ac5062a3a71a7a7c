//! What a policy sees of circuit, device and layout, and the policy itself.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rustworkx_core::petgraph::graph::NodeIndex;

use crate::engine::dense_layout;
use crate::engine::routing_target::RoutingTarget;
use crate::engine::sabre::layout::Layout;
use crate::engine::RouterError;

/// A router's decisions; the engine does the rest.
pub trait Policy: Clone {
    /// For each logical qubit a physical one; called once, before all runs.
    fn choose_best_initial_layout(
        &mut self,
        ctx: &InitialLayoutContext<'_>,
        rng: &mut RngState,
    ) -> Result<Vec<usize>, RouterError>;

    /// The next SWAP, on a coupling; `None` leaves the next step to the release valve.
    fn choose_best_swap(
        &mut self,
        ctx: &SwapSelectionContext<'_>,
        rng: &mut RngState,
    ) -> Option<(usize, usize)>;
}

/// What a routing node is, by its first operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DagNodeKind {
    Directive,
    SingleQ,
    TwoQ,
    MultiQ,
    ControlFlow,
}

/// Pending: waits for other nodes; Ready: waits for a coupling; Executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemainingNodeState {
    Pending,
    Ready,
    Executed,
}

/// A routing node: its first operation, and all operations that fold into it (`dag_indices`).
#[derive(Debug, Clone)]
pub(crate) struct PolicyDagNodeData {
    pub(crate) dag_index: NodeIndex,
    pub(crate) dag_indices: Vec<NodeIndex>,
    pub(crate) kind: DagNodeKind,
    pub(crate) name: String,
    pub(crate) qargs: Vec<usize>,
    pub(crate) cargs: Vec<usize>,
    pub(crate) successors: Vec<usize>,
    pub(crate) predecessors: Vec<usize>,
    pub(crate) block_count: usize,
}

/// The circuit as routing nodes; `initial_ops` come before any node.
#[derive(Debug, Clone)]
pub(crate) struct PolicyDagData {
    pub(crate) num_logical_qubits: usize,
    pub(crate) initial_ops: Vec<NodeIndex>,
    pub(crate) nodes: Vec<PolicyDagNodeData>,
    pub(crate) first_layer: Vec<usize>,
    pub(crate) used_logical_qubits: Vec<usize>,
    pub(crate) logical_interaction_components: Vec<Vec<usize>>,
}

/// One routing node.
#[derive(Debug, Clone, Copy)]
pub struct DagNodeView<'a> {
    node: &'a PolicyDagNodeData,
}

impl<'a> DagNodeView<'a> {
    pub fn kind(&self) -> DagNodeKind {
        self.node.kind
    }

    pub fn name(&self) -> &str {
        &self.node.name
    }

    pub fn qargs(&self) -> &[usize] {
        &self.node.qargs
    }

    pub fn cargs(&self) -> &[usize] {
        &self.node.cargs
    }

    pub fn successors(&self) -> &[usize] {
        &self.node.successors
    }

    pub fn predecessors(&self) -> &[usize] {
        &self.node.predecessors
    }

    pub fn block_count(&self) -> usize {
        self.node.block_count
    }

    pub fn is_two_qubit(&self) -> bool {
        self.node.kind == DagNodeKind::TwoQ
    }

    pub fn two_qubit_pair(&self) -> Option<(usize, usize)> {
        self.is_two_qubit()
            .then(|| (self.node.qargs[0], self.node.qargs[1]))
    }
}

/// The whole circuit as routing nodes.
#[derive(Debug, Clone, Copy)]
pub struct CircuitDagView<'a> {
    pub(crate) data: &'a PolicyDagData,
}

impl<'a> CircuitDagView<'a> {
    pub fn num_logical_qubits(&self) -> usize {
        self.data.num_logical_qubits
    }

    pub fn node_count(&self) -> usize {
        self.data.nodes.len()
    }

    pub fn node_ids(&self) -> Range<usize> {
        0..self.data.nodes.len()
    }

    pub fn node(&self, id: usize) -> DagNodeView<'a> {
        DagNodeView {
            node: &self.data.nodes[id],
        }
    }

    pub fn first_layer_node_ids(&self) -> &[usize] {
        &self.data.first_layer
    }

    pub fn used_logical_qubits(&self) -> &[usize] {
        &self.data.used_logical_qubits
    }

    pub fn logical_interaction_components(&self) -> &[Vec<usize>] {
        &self.data.logical_interaction_components
    }
}

/// The device.
#[derive(Debug, Clone, Copy)]
pub struct TopologyView<'a> {
    pub(crate) target: &'a RoutingTarget,
}

impl<'a> TopologyView<'a> {
    pub fn num_qubits(&self) -> usize {
        self.target.num_qubits
    }

    pub fn num_edges(&self) -> usize {
        self.target.edges.len()
    }

    /// Sorted pairs, sorted.
    pub fn edges(&self) -> &[[usize; 2]] {
        &self.target.edges
    }

    /// Ascending.
    pub fn neighbors(&self, qubit: usize) -> &[usize] {
        &self.target.neighbors[qubit]
    }

    pub fn degree(&self, qubit: usize) -> usize {
        self.target.neighbors[qubit].len()
    }

    pub fn max_degree(&self) -> usize {
        self.target
            .neighbors
            .iter()
            .map(Vec::len)
            .max()
            .unwrap_or(0)
    }

    /// Edges on a shortest path; `u32::MAX` where there is none.
    pub fn distance(&self, a: usize, b: usize) -> u32 {
        self.target.distances[a][b]
    }

    pub fn distances(&self) -> &[Vec<u32>] {
        &self.target.distances
    }

    /// With both ends; empty where there is none.
    pub fn shortest_path(&self, a: usize, b: usize) -> Vec<usize> {
        self.target.shortest_path(a, b)
    }

    /// Members ascending; largest component first.
    pub fn connected_components(&self) -> &[Vec<usize>] {
        &self.target.components
    }

    pub fn component_of_physical(&self, qubit: usize) -> usize {
        self.target.component_of[qubit]
    }

    pub fn is_adjacent(&self, a: usize, b: usize) -> bool {
        self.target.is_adjacent(a, b)
    }
}

/// Where the logical qubits sit now.
#[derive(Debug, Clone, Copy)]
pub struct LayoutView<'a> {
    pub(crate) layout: &'a Layout,
}

impl<'a> LayoutView<'a> {
    pub fn num_logical(&self) -> usize {
        self.layout.logical_to_physical.len()
    }

    pub fn num_physical(&self) -> usize {
        self.layout.physical_to_logical.len()
    }

    pub fn physical_of_logical(&self, logical: usize) -> usize {
        self.layout.logical_to_physical[logical]
    }

    pub fn logical_of_physical(&self, physical: usize) -> Option<usize> {
        self.layout.physical_to_logical[physical]
    }

    pub fn logical_to_physical(&self) -> &[usize] {
        &self.layout.logical_to_physical
    }

    pub fn physical_to_logical(&self) -> &[Option<usize>] {
        &self.layout.physical_to_logical
    }
}

/// The gates that only lack a coupling, in the order in which they came to the front.
#[derive(Debug, Clone, Copy)]
pub struct FrontLayerView<'a> {
    pub(crate) circuit: CircuitDagView<'a>,
    pub(crate) layout: LayoutView<'a>,
    pub(crate) node_ids: &'a [usize],
    pub(crate) physical_pairs: &'a [[usize; 2]],
}

impl<'a> FrontLayerView<'a> {
    pub fn len(&self) -> usize {
        self.node_ids.len()
    }

    pub fn is_empty(&self) -> bool {
        self.node_ids.is_empty()
    }

    pub fn node_ids(&self) -> &[usize] {
        self.node_ids
    }

    pub fn logical_pair(&self, id: usize) -> Option<(usize, usize)> {
        self.node_ids
            .contains(&id)
            .then(|| self.circuit.node(id).two_qubit_pair())
            .flatten()
    }

    pub fn physical_pair(&self, id: usize) -> Option<(usize, usize)> {
        let place = |logical| self.layout.physical_of_logical(logical);
        self.logical_pair(id).map(|(a, b)| (place(a), place(b)))
    }

    /// Each once, in the order of first sight.
    pub fn active_logical_qubits(&self) -> Vec<usize> {
        let mut found = Vec::with_capacity(2 * self.node_ids.len());
        for &id in self.node_ids {
            if let Some((a, b)) = self.circuit.node(id).two_qubit_pair() {
                for qubit in [a, b] {
                    if !found.contains(&qubit) {
                        found.push(qubit);
                    }
                }
            }
        }
        found
    }

    pub fn active_physical_qubits(&self) -> Vec<usize> {
        let place = |logical| self.layout.physical_of_logical(logical);
        self.active_logical_qubits()
            .into_iter()
            .map(place)
            .collect()
    }

    pub fn physical_pairs(&self) -> &'a [[usize; 2]] {
        self.physical_pairs
    }
}

/// What is still to be executed.
#[derive(Debug, Clone, Copy)]
pub struct RemainingDagView<'a> {
    pub(crate) circuit: CircuitDagView<'a>,
    pub(crate) state: &'a [RemainingNodeState],
    pub(crate) remaining_predecessors: &'a [usize],
    pub(crate) ready_node_ids: &'a [usize],
    pub(crate) pending_node_ids: &'a [usize],
    pub(crate) remaining_two_qubit_node_ids: &'a [usize],
    pub(crate) front_layer_node_ids: &'a [usize],
}

impl<'a> RemainingDagView<'a> {
    pub fn circuit(&self) -> CircuitDagView<'a> {
        self.circuit
    }

    pub fn state(&self, id: usize) -> RemainingNodeState {
        self.state[id]
    }

    pub fn is_executed(&self, id: usize) -> bool {
        self.state[id] == RemainingNodeState::Executed
    }

    pub fn remaining_predecessor_count(&self, id: usize) -> usize {
        self.remaining_predecessors[id]
    }

    pub fn remaining_predecessor_counts(&self) -> &[usize] {
        self.remaining_predecessors
    }

    pub fn ready_node_ids(&self) -> &[usize] {
        self.ready_node_ids
    }

    /// Everything that has not been executed.
    pub fn pending_node_ids(&self) -> &[usize] {
        self.pending_node_ids
    }

    pub fn unexecuted_node_ids(&self) -> &[usize] {
        self.pending_node_ids
    }

    pub fn remaining_two_qubit_node_ids(&self) -> &[usize] {
        self.remaining_two_qubit_node_ids
    }

    pub fn front_layer_node_ids(&self) -> &[usize] {
        self.front_layer_node_ids
    }
}

/// What a policy may look at when it chooses the initial layout.
#[derive(Debug, Clone, Copy)]
pub struct InitialLayoutContext<'a> {
    pub(crate) topology: TopologyView<'a>,
    pub(crate) circuit: CircuitDagView<'a>,
}

impl<'a> InitialLayoutContext<'a> {
    pub fn topology(&self) -> TopologyView<'a> {
        self.topology
    }

    pub fn circuit(&self) -> CircuitDagView<'a> {
        self.circuit
    }
}

/// What a policy may look at when it chooses the next SWAP.
#[derive(Debug, Clone, Copy)]
pub struct SwapSelectionContext<'a> {
    pub(crate) topology: TopologyView<'a>,
    pub(crate) layout: LayoutView<'a>,
    pub(crate) circuit: CircuitDagView<'a>,
    pub(crate) remaining: RemainingDagView<'a>,
    pub(crate) front_layer: FrontLayerView<'a>,
    pub(crate) precomputed_extended_set_logical_pairs: Option<&'a [[usize; 2]]>,
    pub(crate) swaps_since_progress: usize,
    pub(crate) last_applied_swap: Option<(usize, usize)>,
}

impl<'a> SwapSelectionContext<'a> {
    pub fn topology(&self) -> TopologyView<'a> {
        self.topology
    }

    pub fn layout(&self) -> LayoutView<'a> {
        self.layout
    }

    pub fn circuit(&self) -> CircuitDagView<'a> {
        self.circuit
    }

    pub fn remaining(&self) -> RemainingDagView<'a> {
        self.remaining
    }

    pub fn front_layer(&self) -> FrontLayerView<'a> {
        self.front_layer
    }

    /// Two-qubit gates behind the front layer, breadth first, about 256 of them.
    pub fn precomputed_extended_set_logical_pairs(&self) -> &'a [[usize; 2]] {
        self.precomputed_extended_set_logical_pairs.unwrap_or(&[])
    }

    pub fn swaps_since_progress(&self) -> usize {
        self.swaps_since_progress
    }

    pub fn last_applied_swap(&self) -> Option<(usize, usize)> {
        self.last_applied_swap
    }
}

/// Random numbers that depend on the seed alone.
#[derive(Debug, Clone)]
pub struct RngState {
    rng: Pcg64Mcg,
}

impl RngState {
    pub fn new(seed: u64) -> Self {
        RngState {
            rng: Pcg64Mcg::seed_from_u64(seed),
        }
    }

    pub fn next_u64(&mut self) -> u64 {
        self.rng.random::<u64>()
    }

    /// Uniform in 0..upper; 0 without a draw when `upper` is at most 1.
    pub fn gen_index(&mut self, upper: usize) -> usize {
        if upper <= 1 {
            return 0;
        }
        self.rng.random_range(0..upper)
    }

    /// Uniform in [0, 1).
    pub fn gen_f64(&mut self) -> f64 {
        self.rng.random::<f64>()
    }

    /// Fisher and Yates, from the last place down to the second.
    pub fn shuffle_slice<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.gen_index(last + 1));
        }
    }
}

// EVOLVE-BLOCK-START
// EVOLVE-BLOCK-END
