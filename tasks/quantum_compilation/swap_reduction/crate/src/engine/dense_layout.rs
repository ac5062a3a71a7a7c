//! Finding a well connected set of physical qubits.

use ndarray::ArrayView2;

/// `k` qubits with many couplings among them, in breadth-first order from the best start.
///
/// From every start the first `k` qubits of a breadth-first search are taken; the set with most
/// couplings inside wins, the lowest start where sets are equal. Returns rows and columns of the
/// chosen subgraph's couplings (places in the third list) and the chosen qubits. The device has no
/// error rates, so `num_meas`, `num_cx`, `use_error` and `err` do not matter; without `symmetric`
/// a coupling counts in both directions even where `adj` holds one.
pub fn best_subset(
    k: usize,
    adj: ArrayView2<f64>,
    _num_meas: usize,
    _num_cx: usize,
    _use_error: bool,
    symmetric: bool,
    _err: ArrayView2<f64>,
) -> [Vec<usize>; 3] {
    let size = adj.nrows();
    let coupled = |a: usize, b: usize| adj[[a, b]] != 0.0 || (!symmetric && adj[[b, a]] != 0.0);
    let neighbours: Vec<Vec<usize>> = (0..size)
        .map(|a| (0..size).filter(|&b| coupled(a, b)).collect())
        .collect();
    let mut best: Vec<usize> = Vec::new();
    let mut most = None;
    for start in 0..size {
        let chosen = breadth_first(k, &neighbours, start);
        let mut member = vec![false; size];
        chosen.iter().for_each(|&qubit| member[qubit] = true);
        let inside = chosen
            .iter()
            .flat_map(|&qubit| &neighbours[qubit])
            .filter(|&&q| member[q])
            .count();
        if most.map_or(true, |count| inside > count) {
            best = chosen;
            most = Some(inside);
        }
    }
    let (mut rows, mut columns) = (Vec::new(), Vec::new());
    for (row, &a) in best.iter().enumerate() {
        for (column, &b) in best.iter().enumerate() {
            if coupled(a, b) {
                rows.push(row);
                columns.push(column);
            }
        }
    }
    [rows, columns, best]
}

fn breadth_first(k: usize, neighbours: &[Vec<usize>], start: usize) -> Vec<usize> {
    let mut order = Vec::with_capacity(k);
    let mut seen = vec![false; neighbours.len()];
    let mut level = vec![start];
    while !level.is_empty() && order.len() < k {
        let mut following = Vec::new();
        for qubit in level {
            if seen[qubit] {
                continue;
            }
            seen[qubit] = true;
            order.push(qubit);
            if order.len() == k {
                break;
            }
            following.extend_from_slice(&neighbours[qubit]);
        }
        level = following;
    }
    order
}
