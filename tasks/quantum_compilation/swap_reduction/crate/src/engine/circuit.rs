//! Operations on logical qubits, and the order in which the router walks over them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One operation: its name and the qubits it touches.
#[derive(Debug, Clone)]
pub struct Operation {
    pub name: String,
    pub qubits: Vec<usize>,
}

/// Operations in program order.
#[derive(Debug, Clone)]
pub struct Circuit {
    pub num_qubits: usize,
    pub operations: Vec<Operation>,
}

/// What can come next: an operation (false) or the start of a wire (true), by its qubits.
type Item<'a> = Reverse<(&'a [usize], bool, usize)>;

/// Indices of the operations, each behind those before it on its wires.
///
/// Of the operations that could come next the one with the lexicographically smallest list of
/// qubits does; the start of wire q counts as an item [q] behind every operation with that list.
pub fn topological_order(circuit: &Circuit) -> Vec<usize> {
    let operations = &circuit.operations;
    let mut following: Vec<Vec<usize>> = vec![Vec::new(); operations.len()];
    let mut starts: Vec<Option<usize>> = vec![None; circuit.num_qubits];
    let mut last: Vec<Option<usize>> = vec![None; circuit.num_qubits];
    let mut missing: Vec<usize> = operations.iter().map(|op| op.qubits.len()).collect();
    for (index, operation) in operations.iter().enumerate() {
        for &qubit in &operation.qubits {
            match last[qubit] {
                None => starts[qubit] = Some(index),
                Some(before) => following[before].push(index),
            }
            last[qubit] = Some(index);
        }
    }
    let wires: Vec<[usize; 1]> = (0..circuit.num_qubits).map(|qubit| [qubit]).collect();
    let mut ready: BinaryHeap<Item<'_>> = (0..circuit.num_qubits)
        .map(|qubit| Reverse((&wires[qubit][..], true, qubit)))
        .collect();
    for (index, operation) in operations.iter().enumerate() {
        if operation.qubits.is_empty() {
            ready.push(Reverse((&operation.qubits[..], false, index)));
        }
    }
    let mut order = Vec::with_capacity(operations.len());
    while let Some(Reverse((_, is_start, item))) = ready.pop() {
        let released = if is_start {
            starts[item].into_iter().collect()
        } else {
            order.push(item);
            std::mem::take(&mut following[item])
        };
        for index in released {
            missing[index] -= 1;
            if missing[index] == 0 {
                ready.push(Reverse((&operations[index].qubits[..], false, index)));
            }
        }
    }
    order
}
