//! Lists of node ids whose order is part of the router's behaviour.

const ABSENT: usize = usize::MAX;

/// Distinct node ids; removing one moves the last into its place.
#[derive(Debug, Clone)]
pub struct IndexedList {
    ids: Vec<usize>,
    place: Vec<usize>,
}

impl IndexedList {
    /// A list for ids below `bound`.
    pub fn new(bound: usize, ids: impl IntoIterator<Item = usize>) -> Self {
        let mut list = IndexedList {
            ids: Vec::new(),
            place: vec![ABSENT; bound],
        };
        ids.into_iter().for_each(|id| list.add(id));
        list
    }

    pub fn add(&mut self, id: usize) {
        self.place[id] = self.ids.len();
        self.ids.push(id);
    }

    pub fn discard(&mut self, id: usize) {
        let place = std::mem::replace(&mut self.place[id], ABSENT);
        if place == ABSENT {
            return;
        }
        self.ids.swap_remove(place);
        if let Some(&moved) = self.ids.get(place) {
            self.place[moved] = place;
        }
    }

    pub fn ids(&self) -> &[usize] {
        &self.ids
    }
}
