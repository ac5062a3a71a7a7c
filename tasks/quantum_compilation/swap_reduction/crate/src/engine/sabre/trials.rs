//! Several layouts, several runs from each, the best of all.

use super::run::Run;
use crate::candidate::{
    CircuitDagView, InitialLayoutContext, Policy, PolicyDagData, RngState, TopologyView,
};
use crate::engine::routing_target::RoutingTarget;
use crate::engine::RouterError;

/// Added (exclusive or) to the seed for the stream that varies layouts.
const LAYOUT_STREAM: u64 = 0x9E37_79B9_7F4A_7C15;
const EXCHANGE_PROBABILITY: f64 = 0.35;
const MOVE_PROBABILITY: f64 = 0.25;

/// How often to try, and the seed of everything random.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trials {
    pub seed: u64,
    pub layouts: usize,
    pub runs: usize,
}

/// The best run: where it began, its SWAPs, how often the release valve fired in it.
#[derive(Debug)]
pub(crate) struct Routing {
    pub initial_layout: Vec<usize>,
    pub swaps: Vec<(usize, usize)>,
    pub forced: usize,
}

/// Ask the policy for a layout, vary it, run each several times, keep the fewest SWAPs.
///
/// Each run has a clone of the policy as it was after it had chosen the layout.
pub(crate) fn route<P: Policy>(
    dag: &PolicyDagData,
    target: &RoutingTarget,
    mut policy: P,
    trials: Trials,
) -> Result<Routing, RouterError> {
    let context = InitialLayoutContext {
        topology: TopologyView { target },
        circuit: CircuitDagView { data: dag },
    };
    let chosen = policy.choose_best_initial_layout(&context, &mut RngState::new(trials.seed))?;
    check(&chosen, dag.num_logical_qubits, target.num_qubits)?;
    let mut best: Option<Routing> = None;
    let mut problem: Option<RouterError> = None;
    let mut seeds = RngState::new(trials.seed);
    for layout in vary_layout(&chosen, target, trials) {
        let mut routing_seeds = RngState::new(seeds.next_u64());
        for _ in 0..trials.runs {
            let mut run = Run::new(dag, target, &layout);
            if let Err(error) = run.route(&mut policy.clone(), routing_seeds.next_u64()) {
                problem.get_or_insert(error);
                continue;
            }
            if best
                .as_ref()
                .map_or(true, |kept| run.swaps.len() < kept.swaps.len())
            {
                let (swaps, forced) = (run.swaps, run.forced);
                best = Some(Routing {
                    initial_layout: layout.clone(),
                    swaps,
                    forced,
                });
            }
        }
    }
    best.ok_or_else(|| {
        let first = problem.map_or(String::new(), |error| error.to_string());
        RouterError::Routing(format!("all runs failed: {first}"))
    })
}

fn check(layout: &[usize], num_logical: usize, num_physical: usize) -> Result<(), RouterError> {
    let problem = |what: String| Err(RouterError::Routing(what));
    if layout.len() != num_logical {
        return problem(format!(
            "the layout has {} entries; it needs {num_logical}",
            layout.len()
        ));
    }
    let mut taken = vec![false; num_physical];
    for &physical in layout {
        if physical >= num_physical {
            return problem(format!(
                "the layout names qubit {physical} of {num_physical}"
            ));
        }
        if std::mem::replace(&mut taken[physical], true) {
            return problem("the layout puts two logical qubits on one physical qubit".into());
        }
    }
    Ok(())
}

/// The base layout and random variations of it that stay within components.
fn vary_layout(base: &[usize], target: &RoutingTarget, trials: Trials) -> Vec<Vec<usize>> {
    let mut rng = RngState::new(trials.seed ^ LAYOUT_STREAM);
    let mut layouts = vec![base.to_vec()];
    for _ in 1..trials.layouts {
        layouts.push(variation(base, target, &mut rng));
    }
    layouts
}

fn variation(base: &[usize], target: &RoutingTarget, rng: &mut RngState) -> Vec<usize> {
    let mut free: Vec<Vec<usize>> = target.components.clone();
    free.iter_mut()
        .for_each(|qubits| qubits.retain(|qubit| !base.contains(qubit)));
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); target.components.len()];
    for (logical, &physical) in base.iter().enumerate() {
        members[target.component_of[physical]].push(logical);
    }
    let mut trial = base.to_vec();
    for (logical, &physical) in base.iter().enumerate() {
        let component = target.component_of[physical];
        let (inhabitants, empty) = (&members[component], &mut free[component]);
        if inhabitants.len() > 1 && rng.gen_f64() < EXCHANGE_PROBABILITY {
            trial.swap(logical, inhabitants[rng.gen_index(inhabitants.len())]);
        } else if !empty.is_empty() && rng.gen_f64() < MOVE_PROBABILITY {
            let taken = empty.swap_remove(rng.gen_index(empty.len()));
            empty.push(std::mem::replace(&mut trial[logical], taken));
        }
    }
    trial
}
