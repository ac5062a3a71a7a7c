//! Routing one circuit once, from one initial layout.

use std::collections::VecDeque;

use super::layout::Layout;
use super::worklist::IndexedList;
use crate::candidate::{
    CircuitDagView, FrontLayerView, LayoutView, Policy, PolicyDagData, RemainingDagView,
    RemainingNodeState, RngState, SwapSelectionContext, TopologyView,
};
use crate::engine::routing_target::RoutingTarget;
use crate::engine::RouterError;

const LOOKAHEAD_PAIRS: usize = 256;
const MAX_SWAPS_WITHOUT_PROGRESS: usize = 1000;

type Swap = (usize, usize);

/// The state of one routing run. `forced` counts how often the release valve had to help.
pub(crate) struct Run<'a> {
    dag: &'a PolicyDagData,
    target: &'a RoutingTarget,
    layout: Layout,
    pub swaps: Vec<Swap>,
    pub forced: usize,
    missing: Vec<usize>,
    state: Vec<RemainingNodeState>,
    ready: IndexedList,
    pending: IndexedList,
    two_qubit: IndexedList,
    front: IndexedList,
    front_at: Vec<Option<usize>>, // by logical qubit
    lookahead: Vec<[usize; 2]>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(dag: &'a PolicyDagData, target: &'a RoutingTarget, layout: &[usize]) -> Self {
        let count = dag.nodes.len();
        let gates = (0..count).filter(|&id| pair_of(dag, id).is_some());
        Run {
            dag,
            target,
            layout: Layout::new(layout, target.num_qubits),
            swaps: Vec::new(),
            forced: 0,
            missing: dag
                .nodes
                .iter()
                .map(|node| node.predecessors.len())
                .collect(),
            state: vec![RemainingNodeState::Pending; count],
            ready: IndexedList::new(count, []),
            pending: IndexedList::new(count, 0..count),
            two_qubit: IndexedList::new(count, gates),
            front: IndexedList::new(count, []),
            front_at: vec![None; dag.num_logical_qubits],
            lookahead: Vec::new(),
        }
    }

    /// Execute everything. Fails when the policy names no coupling.
    pub(crate) fn route<P: Policy>(
        &mut self,
        policy: &mut P,
        seed: u64,
    ) -> Result<(), RouterError> {
        let mut rng = RngState::new(seed);
        let dag = self.dag;
        self.execute(&dag.first_layer);
        while !self.front.ids().is_empty() {
            let (mut current, mut routable) = self.ask(policy, &mut rng)?;
            if routable.is_empty() {
                (current, routable) = self.release(&current)?;
                self.forced += 1;
            }
            self.swaps.append(&mut current);
            routable.sort_unstable();
            for &node in &routable {
                self.leave_front(node);
            }
            self.execute(&routable);
        }
        Ok(())
    }

    /// Apply the policy's SWAPs until a front gate can run or it has no answer.
    fn ask<P: Policy>(
        &mut self,
        policy: &mut P,
        rng: &mut RngState,
    ) -> Result<(Vec<Swap>, Vec<usize>), RouterError> {
        let mut current: Vec<Swap> = Vec::new();
        let mut routable = Vec::new();
        while routable.is_empty() && current.len() <= MAX_SWAPS_WITHOUT_PROGRESS {
            let (a, b) = match self.choose(policy, rng, &current) {
                Some(swap) => swap,
                None => break,
            };
            let size = self.target.num_qubits;
            if a >= size || b >= size || !self.target.is_adjacent(a, b) {
                let what = format!("choose_best_swap: {a} and {b} are not coupled");
                return Err(RouterError::Routing(what));
            }
            self.layout.swap_physical(a, b);
            current.push((a, b));
            routable = self.routable_at([b, a]);
        }
        Ok((current, routable))
    }

    fn choose<P: Policy>(
        &self,
        policy: &mut P,
        rng: &mut RngState,
        current: &[Swap],
    ) -> Option<Swap> {
        let physical_pairs: Vec<[usize; 2]> = self
            .front
            .ids()
            .iter()
            .filter_map(|&node| self.physical_pair(node))
            .collect();
        let circuit = CircuitDagView { data: self.dag };
        let layout = LayoutView {
            layout: &self.layout,
        };
        let context = SwapSelectionContext {
            topology: TopologyView {
                target: self.target,
            },
            layout,
            circuit,
            remaining: RemainingDagView {
                circuit,
                state: &self.state,
                remaining_predecessors: &self.missing,
                ready_node_ids: self.ready.ids(),
                pending_node_ids: self.pending.ids(),
                remaining_two_qubit_node_ids: self.two_qubit.ids(),
                front_layer_node_ids: self.front.ids(),
            },
            front_layer: FrontLayerView {
                circuit,
                layout,
                node_ids: self.front.ids(),
                physical_pairs: &physical_pairs,
            },
            precomputed_extended_set_logical_pairs: Some(&self.lookahead[..])
                .filter(|pairs| !pairs.is_empty()),
            swaps_since_progress: current.len(),
            last_applied_swap: current.last().copied(),
        };
        policy.choose_best_swap(&context, rng)
    }

    /// Front gates on these physical qubits whose qubits are adjacent now.
    fn routable_at(&self, physical: [usize; 2]) -> Vec<usize> {
        let mut found = Vec::new();
        for qubit in physical {
            let node = self.layout.physical_to_logical[qubit].and_then(|q| self.front_at[q]);
            if let Some(node) = node.filter(|&node| self.is_routable(node)) {
                if !found.contains(&node) {
                    found.push(node);
                }
            }
        }
        found
    }

    fn physical_pair(&self, node: usize) -> Option<[usize; 2]> {
        let places = &self.layout.logical_to_physical;
        pair_of(self.dag, node).map(|[a, b]| [places[a], places[b]])
    }

    fn is_routable(&self, node: usize) -> bool {
        self.physical_pair(node)
            .map_or(true, |[a, b]| self.target.is_adjacent(a, b))
    }

    /// Undo what led nowhere; bring the closest front gate together along a shortest path.
    fn release(&mut self, current: &[Swap]) -> Result<(Vec<Swap>, Vec<usize>), RouterError> {
        for &(a, b) in current.iter().rev() {
            self.layout.swap_physical(a, b);
        }
        let places = self
            .front
            .ids()
            .iter()
            .filter_map(|&node| Some((node, self.physical_pair(node)?)));
        let (closest, [start, end]) = places
            .min_by_key(|&(_, [a, b])| self.target.distances[a][b])
            .expect("the front layer is not empty");
        let path = self.target.shortest_path(start, end);
        if path.is_empty() {
            let what = "two qubits of a gate sit on unconnected parts of the device";
            return Err(RouterError::Routing(what.to_string()));
        }
        let half = path.len() / 2;
        let mut swaps: Vec<Swap> = (0..half).map(|i| (path[i], path[i + 1])).collect();
        let last = path.len() - 1;
        swaps.extend((0..half - 1).map(|i| (path[last - i], path[last - i - 1])));
        for &(a, b) in &swaps {
            self.layout.swap_physical(a, b);
        }
        let mut routable = vec![closest];
        if let [(a, b)] = swaps[..] {
            routable.extend(
                self.routable_at([a, b])
                    .into_iter()
                    .filter(|&node| node != closest),
            );
        }
        Ok((swaps, routable))
    }

    fn leave_front(&mut self, node: usize) {
        self.front.discard(node);
        for qubit in pair_of(self.dag, node).into_iter().flatten() {
            self.front_at[qubit] = None;
        }
    }

    /// Execute nodes and what follows from them; the rest of it comes to the front.
    fn execute(&mut self, nodes: &[usize]) {
        let mut queue: VecDeque<usize> = nodes.iter().copied().collect();
        while let Some(node) = queue.pop_front() {
            if self.state[node] == RemainingNodeState::Executed {
                continue;
            }
            if !self.is_routable(node) {
                self.state[node] = RemainingNodeState::Ready;
                self.ready.add(node);
                self.front.add(node);
                for qubit in pair_of(self.dag, node).into_iter().flatten() {
                    self.front_at[qubit] = Some(node);
                }
                continue;
            }
            self.state[node] = RemainingNodeState::Executed;
            self.ready.discard(node);
            self.pending.discard(node);
            self.two_qubit.discard(node);
            for &following in &self.dag.nodes[node].successors {
                self.missing[following] -= 1;
                if self.missing[following] == 0 {
                    queue.push_back(following);
                }
            }
        }
        self.look_ahead();
    }

    /// Two-qubit gates behind the front layer, breadth first, until there are enough.
    fn look_ahead(&mut self) {
        self.lookahead.clear();
        let mut queue: VecDeque<usize> = self.front.ids().iter().copied().collect();
        let mut touched = Vec::new(); // counters are lent for the search and given back after it
        while let Some(node) = queue.pop_front() {
            for &following in &self.dag.nodes[node].successors {
                self.missing[following] -= 1;
                touched.push(following);
                if self.missing[following] == 0 {
                    queue.push_back(following);
                    self.lookahead.extend(pair_of(self.dag, following));
                }
            }
            if self.lookahead.len() >= LOOKAHEAD_PAIRS {
                break;
            }
        }
        touched.into_iter().for_each(|node| self.missing[node] += 1);
    }
}

/// The two logical qubits of a two-qubit gate.
fn pair_of(dag: &PolicyDagData, node: usize) -> Option<[usize; 2]> {
    let node = &dag.nodes[node];
    match node.kind {
        crate::candidate::DagNodeKind::TwoQ => Some([node.qargs[0], node.qargs[1]]),
        _ => None,
    }
}
