//! The device: couplings, distances and components of its graph.

use std::collections::VecDeque;

use crate::engine::RouterError;

/// An undirected coupling map.
///
/// `edges`: sorted pairs, sorted; `neighbors`: ascending; `distances`: number of edges between each
/// two qubits, `u32::MAX` where there is no way; `components`: members ascending, largest first.
#[derive(Debug, Clone)]
pub struct RoutingTarget {
    pub num_qubits: usize,
    pub edges: Vec<[usize; 2]>,
    pub neighbors: Vec<Vec<usize>>,
    pub distances: Vec<Vec<u32>>,
    pub components: Vec<Vec<usize>>,
    pub component_of: Vec<usize>,
}

impl RoutingTarget {
    pub fn new(num_qubits: usize, pairs: &[[usize; 2]]) -> Result<Self, RouterError> {
        let mut edges = Vec::with_capacity(pairs.len());
        for &[a, b] in pairs {
            if a == b || a.max(b) >= num_qubits {
                return Err(RouterError::Topology(format!(
                    "{a} and {b} cannot be coupled"
                )));
            }
            edges.push([a.min(b), a.max(b)]);
        }
        edges.sort_unstable();
        edges.dedup();
        let mut neighbors = vec![Vec::new(); num_qubits];
        for &[a, b] in &edges {
            neighbors[a].push(b);
            neighbors[b].push(a);
        }
        neighbors
            .iter_mut()
            .for_each(|qubits: &mut Vec<usize>| qubits.sort_unstable());
        let distances: Vec<Vec<u32>> = (0..num_qubits)
            .map(|start| distances_from(&neighbors, start))
            .collect();
        let components = components(&distances);
        let mut component_of = vec![0; num_qubits];
        for (index, members) in components.iter().enumerate() {
            members
                .iter()
                .for_each(|&qubit| component_of[qubit] = index);
        }
        Ok(RoutingTarget {
            num_qubits,
            edges,
            neighbors,
            distances,
            components,
            component_of,
        })
    }

    pub fn is_adjacent(&self, a: usize, b: usize) -> bool {
        self.distances[a][b] == 1
    }

    /// A shortest path with both ends, breadth first with neighbours ascending; empty if none.
    pub fn shortest_path(&self, start: usize, end: usize) -> Vec<usize> {
        let mut came_from = vec![None; self.num_qubits];
        came_from[start] = Some(start);
        let mut queue = VecDeque::from([start]);
        while let Some(qubit) = queue.pop_front() {
            if came_from[end].is_some() {
                break;
            }
            for &neighbor in &self.neighbors[qubit] {
                if came_from[neighbor].is_none() {
                    came_from[neighbor] = Some(qubit);
                    queue.push_back(neighbor);
                }
            }
        }
        if came_from[end].is_none() {
            return Vec::new();
        }
        let mut path = vec![end];
        let mut qubit = end;
        while let Some(before) = came_from[qubit].filter(|_| qubit != start) {
            path.push(before);
            qubit = before;
        }
        path.reverse();
        path
    }
}

fn distances_from(neighbors: &[Vec<usize>], start: usize) -> Vec<u32> {
    let mut found = vec![u32::MAX; neighbors.len()];
    found[start] = 0;
    let mut queue = VecDeque::from([start]);
    while let Some(qubit) = queue.pop_front() {
        for &neighbor in &neighbors[qubit] {
            if found[neighbor] == u32::MAX {
                found[neighbor] = found[qubit] + 1;
                queue.push_back(neighbor);
            }
        }
    }
    found
}

fn components(distances: &[Vec<u32>]) -> Vec<Vec<usize>> {
    let mut seen = vec![false; distances.len()];
    let mut found: Vec<Vec<usize>> = Vec::new();
    for start in 0..distances.len() {
        if !seen[start] {
            let reached = |&qubit: &usize| distances[start][qubit] != u32::MAX;
            let members: Vec<usize> = (0..distances.len()).filter(reached).collect();
            members.iter().for_each(|&qubit| seen[qubit] = true);
            found.push(members);
        }
    }
    found.sort_by_key(|members| std::cmp::Reverse(members.len()));
    found
}
