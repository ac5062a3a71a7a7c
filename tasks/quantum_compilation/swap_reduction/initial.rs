// LightSABRE: SWAPs that bring the front gates closer, with a look at the gates behind them.

// EVOLVE-BLOCK-START
const BASIC_WEIGHT: f64 = 1.0;
const LOOKAHEAD_WEIGHT: f64 = 0.5;
const LOOKAHEAD_SIZE: usize = 20;
const DECAY_INCREMENT: f64 = 0.001;
const DECAY_RESET: usize = 5;
const BEST_EPSILON: f64 = 1e-10;

/// What a weight is divided by: nothing, or the number of gates that it is summed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetScaling {
    Constant,
    Size,
}

impl SetScaling {
    fn apply(self, weight: f64, size: usize) -> f64 {
        match self {
            SetScaling::Constant => weight,
            SetScaling::Size if size == 0 => 0.0,
            SetScaling::Size => weight / size as f64,
        }
    }
}

/// One instance chooses the layout; each routing run gets a clone of it.
#[derive(Debug, Clone)]
pub struct CandidatePolicy {
    scaling: SetScaling,
    decay: Vec<f64>,
}

impl Default for CandidatePolicy {
    fn default() -> Self {
        CandidatePolicy {
            scaling: SetScaling::Size,
            decay: Vec::new(),
        }
    }
}

impl Policy for CandidatePolicy {
    /// Densely coupled physical qubits for each group of qubits that interact.
    fn choose_best_initial_layout(
        &mut self,
        ctx: &InitialLayoutContext<'_>,
        _rng: &mut RngState,
    ) -> Result<Vec<usize>, RouterError> {
        self.decay.clear();
        let (circuit, topology) = (ctx.circuit(), ctx.topology());
        let num_logical = circuit.num_logical_qubits();
        if circuit.used_logical_qubits().is_empty() {
            return Ok((0..num_logical).collect());
        }
        let mut layout: Vec<Option<usize>> = vec![None; num_logical];
        let mut taken = vec![false; topology.num_qubits()];
        for (members, component) in assign_components(&circuit, &topology)? {
            let places = dense_places(members.len(), &component, &topology)?;
            for (logical, physical) in members.into_iter().zip(places) {
                layout[logical] = Some(physical);
                taken[physical] = true;
            }
        }
        let mut free = (0..topology.num_qubits()).filter(|&qubit| !taken[qubit]);
        layout
            .into_iter()
            .map(|physical| physical.or_else(|| free.next()))
            .collect::<Option<Vec<usize>>>()
            .ok_or_else(|| RouterError::Routing("the device is too small".into()))
    }

    /// The SWAP with the lowest cost; one of them at random where several are equal.
    fn choose_best_swap(
        &mut self,
        ctx: &SwapSelectionContext<'_>,
        rng: &mut RngState,
    ) -> Option<(usize, usize)> {
        let (topology, layout) = (ctx.topology(), ctx.layout());
        self.update_decay(
            topology.num_qubits(),
            ctx.swaps_since_progress(),
            ctx.last_applied_swap(),
        );
        let front = ctx.front_layer().physical_pairs();
        let candidates = candidate_swaps(front, &topology);
        let ahead: Vec<[usize; 2]> = ctx
            .precomputed_extended_set_logical_pairs()
            .iter()
            .take(LOOKAHEAD_SIZE)
            .map(|&[a, b]| [layout.physical_of_logical(a), layout.physical_of_logical(b)])
            .collect();
        let costs = SwapCosts::new(front, &ahead, topology.distances(), self.scaling);
        let mut best = Vec::new();
        let mut lowest = f64::INFINITY;
        for (a, b) in candidates {
            let cost = costs.after(a, b) * self.decay[a].max(self.decay[b]);
            if cost + BEST_EPSILON < lowest {
                best.clear();
                best.push((a, b));
                lowest = cost;
            } else if (cost - lowest).abs() <= BEST_EPSILON {
                best.push((a, b));
            }
        }
        if best.is_empty() {
            return None;
        }
        Some(best[rng.gen_index(best.len())])
    }
}

impl CandidatePolicy {
    /// Qubits that were just moved become a little more expensive to move again.
    fn update_decay(
        &mut self,
        num_qubits: usize,
        swaps_since_progress: usize,
        last: Option<(usize, usize)>,
    ) {
        if self.decay.len() != num_qubits || swaps_since_progress == 0 {
            self.decay = vec![1.0; num_qubits];
        } else if let Some((a, b)) = last {
            if swaps_since_progress % DECAY_RESET == 0 {
                self.decay.fill(1.0);
            } else {
                self.decay[a] += DECAY_INCREMENT;
                self.decay[b] += DECAY_INCREMENT;
            }
        }
    }
}

/// Pairs of a logical component and the device component that takes it, largest first.
fn assign_components(
    circuit: &CircuitDagView<'_>,
    topology: &TopologyView<'_>,
) -> Result<Vec<(Vec<usize>, Vec<usize>)>, RouterError> {
    let components = topology.connected_components();
    let mut capacity: Vec<usize> = components.iter().map(Vec::len).collect();
    let mut logical = circuit.logical_interaction_components().to_vec();
    logical.sort_by_key(|members| std::cmp::Reverse(members.len()));
    let mut assigned = Vec::new();
    for members in logical {
        let index = capacity
            .iter()
            .position(|&room| room >= members.len())
            .ok_or_else(|| {
                RouterError::Routing("no part of the device is large enough for the circuit".into())
            })?;
        capacity[index] -= members.len();
        assigned.push((members, components[index].clone()));
    }
    Ok(assigned)
}

/// `size` connected physical qubits of a component, in breadth-first order.
fn dense_places(
    size: usize,
    component: &[usize],
    topology: &TopologyView<'_>,
) -> Result<Vec<usize>, RouterError> {
    if size == component.len() {
        return Ok(component.to_vec());
    }
    let count = component.len();
    let mut adjacency = Array2::<f64>::zeros((count, count));
    for (i, &a) in component.iter().enumerate() {
        for (j, &b) in component.iter().enumerate() {
            if topology.is_adjacent(a, b) {
                adjacency[[i, j]] = 1.0;
            }
        }
    }
    let errors = Array2::<f64>::zeros((count, count));
    let [_, _, chosen] =
        dense_layout::best_subset(size, adjacency.view(), 0, 0, false, true, errors.view());
    if chosen.len() < size {
        return Err(RouterError::Routing(
            "found no connected set of physical qubits".into(),
        ));
    }
    Ok(chosen.into_iter().map(|index| component[index]).collect())
}

/// Couplings with at least one qubit of a front gate, each once.
fn candidate_swaps(front: &[[usize; 2]], topology: &TopologyView<'_>) -> Vec<(usize, usize)> {
    let mut active = vec![false; topology.num_qubits()];
    front
        .iter()
        .flatten()
        .for_each(|&qubit| active[qubit] = true);
    let mut swaps = Vec::new();
    for &qubit in front.iter().flatten() {
        for &other in topology.neighbors(qubit) {
            if other > qubit || !active[other] {
                swaps.push((qubit, other));
            }
        }
    }
    swaps
}

/// Mean distance of the front gates plus half the mean distance of the gates behind them.
///
/// Only the gates on the two exchanged qubits change their distance, so only those are looked at.
struct SwapCosts<'a> {
    distances: &'a [Vec<u32>],
    front_weight: f64,
    ahead_weight: f64,
    base: f64,
    front: &'a [[usize; 2]],
    ahead: &'a [[usize; 2]],
}

impl<'a> SwapCosts<'a> {
    fn new(
        front: &'a [[usize; 2]],
        ahead: &'a [[usize; 2]],
        distances: &'a [Vec<u32>],
        scaling: SetScaling,
    ) -> Self {
        let total = |pairs: &[[usize; 2]]| -> f64 {
            pairs.iter().map(|&[a, b]| f64::from(distances[a][b])).sum()
        };
        let front_weight = scaling.apply(BASIC_WEIGHT, front.len());
        let ahead_weight = scaling.apply(LOOKAHEAD_WEIGHT, ahead.len());
        let base = front_weight * total(front) + ahead_weight * total(ahead);
        SwapCosts {
            distances,
            front_weight,
            ahead_weight,
            base,
            front,
            ahead,
        }
    }

    /// The cost when a and b have been exchanged.
    fn after(&self, a: usize, b: usize) -> f64 {
        let change = self.front_weight * self.change(self.front, a, b)
            + self.ahead_weight * self.change(self.ahead, a, b);
        self.base + change
    }

    /// By how much the distances of these gates grow; a gate on a and b keeps its distance.
    fn change(&self, pairs: &[[usize; 2]], a: usize, b: usize) -> f64 {
        let (from_a, from_b) = (&self.distances[a], &self.distances[b]);
        let mut change = 0;
        for &[left, right] in pairs {
            let (moved, other) = if left == a || left == b {
                (left, right)
            } else {
                (right, left)
            };
            if other == a || other == b {
                continue;
            }
            if moved == a {
                change += i64::from(from_b[other]) - i64::from(from_a[other]);
            } else if moved == b {
                change += i64::from(from_a[other]) - i64::from(from_b[other]);
            }
        }
        change as f64
    }
}
// EVOLVE-BLOCK-END
