//! The circuit as a graph of routing nodes: two-qubit gates with what folds into them.

use std::collections::HashMap;

use rustworkx_core::petgraph::graph::NodeIndex;

use crate::candidate::{DagNodeKind, PolicyDagData, PolicyDagNodeData};
use crate::engine::circuit::{topological_order, Circuit, Operation};

/// Walk the operations in topological order and make nodes of them.
pub(crate) fn build(circuit: &Circuit) -> PolicyDagData {
    let mut owner: Vec<Option<usize>> = vec![None; circuit.num_qubits];
    let mut dag = PolicyDagData {
        num_logical_qubits: circuit.num_qubits,
        initial_ops: Vec::new(),
        nodes: Vec::new(),
        first_layer: Vec::new(),
        used_logical_qubits: used_qubits(circuit),
        logical_interaction_components: Vec::new(),
    };
    dag.logical_interaction_components = components(&dag.used_logical_qubits, circuit);
    for index in topological_order(circuit) {
        let operation = &circuit.operations[index];
        let kind = kind_of(operation);
        let place = NodeIndex::new(index);
        let mut owners: Vec<usize> = operation.qubits.iter().filter_map(|&q| owner[q]).collect();
        let all_owned = owners.len() == operation.qubits.len();
        owners.sort_unstable();
        owners.dedup();
        if owners.is_empty() {
            if kind != DagNodeKind::TwoQ {
                dag.initial_ops.push(place);
                continue;
            }
            dag.first_layer.push(dag.nodes.len());
        } else if all_owned && owners.len() == 1 {
            let only = &mut dag.nodes[owners[0]];
            if kind != DagNodeKind::TwoQ || is_same_pair(only, &operation.qubits) {
                only.dag_indices.push(place);
                continue;
            }
        }
        let id = dag.nodes.len();
        for &before in &owners {
            dag.nodes[before].successors.push(id);
        }
        for &qubit in &operation.qubits {
            owner[qubit] = Some(id);
        }
        dag.nodes.push(PolicyDagNodeData {
            dag_index: place,
            dag_indices: vec![place],
            kind,
            name: operation.name.clone(),
            qargs: operation.qubits.clone(),
            cargs: Vec::new(),
            successors: Vec::new(),
            predecessors: owners,
            block_count: 0,
        });
    }
    dag
}

fn kind_of(operation: &Operation) -> DagNodeKind {
    match (operation.name.as_str(), operation.qubits.len()) {
        ("barrier" | "delay", _) => DagNodeKind::Directive,
        (_, 1) => DagNodeKind::SingleQ,
        (_, 2) => DagNodeKind::TwoQ,
        _ => DagNodeKind::MultiQ,
    }
}

fn is_same_pair(node: &PolicyDagNodeData, qubits: &[usize]) -> bool {
    node.kind == DagNodeKind::TwoQ
        && (node.qargs == qubits || (node.qargs[0] == qubits[1] && node.qargs[1] == qubits[0]))
}

fn used_qubits(circuit: &Circuit) -> Vec<usize> {
    let mut used: Vec<usize> = circuit
        .operations
        .iter()
        .flat_map(|operation| operation.qubits.iter().copied())
        .collect();
    used.sort_unstable();
    used.dedup();
    used
}

/// Used qubits joined by gates; members ascending, components by their first member.
fn components(used: &[usize], circuit: &Circuit) -> Vec<Vec<usize>> {
    let mut root: Vec<usize> = (0..circuit.num_qubits).collect();
    fn find(root: &mut [usize], mut qubit: usize) -> usize {
        while root[qubit] != qubit {
            root[qubit] = root[root[qubit]];
            qubit = root[qubit];
        }
        qubit
    }
    for operation in &circuit.operations {
        if kind_of(operation) == DagNodeKind::Directive {
            continue;
        }
        for pair in operation.qubits.windows(2) {
            let (a, b) = (find(&mut root, pair[0]), find(&mut root, pair[1]));
            root[a.max(b)] = a.min(b);
        }
    }
    let mut place: HashMap<usize, usize> = HashMap::new();
    let mut found: Vec<Vec<usize>> = Vec::new();
    for &qubit in used {
        let first = find(&mut root, qubit);
        let index = *place.entry(first).or_insert_with(|| {
            found.push(Vec::new());
            found.len() - 1
        });
        found[index].push(qubit);
    }
    found
}
