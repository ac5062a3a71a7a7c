//! Where logical qubits sit.

/// An injective map from logical to physical qubits, kept in both directions.
#[derive(Debug, Clone)]
pub struct Layout {
    pub logical_to_physical: Vec<usize>,
    pub physical_to_logical: Vec<Option<usize>>,
}

impl Layout {
    /// `places` must be distinct and below `num_physical`.
    pub fn new(places: &[usize], num_physical: usize) -> Self {
        let mut physical_to_logical = vec![None; num_physical];
        for (logical, &physical) in places.iter().enumerate() {
            physical_to_logical[physical] = Some(logical);
        }
        Layout {
            logical_to_physical: places.to_vec(),
            physical_to_logical,
        }
    }

    /// Exchange what sits on two physical qubits.
    pub fn swap_physical(&mut self, a: usize, b: usize) {
        self.physical_to_logical.swap(a, b);
        for physical in [a, b] {
            if let Some(logical) = self.physical_to_logical[physical] {
                self.logical_to_physical[logical] = physical;
            }
        }
    }
}
