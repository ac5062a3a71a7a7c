//! Node indices: the small part of `rustworkx-core` that policies may use.

pub mod petgraph {
    pub mod graph {
        /// The number of a node.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct NodeIndex(u32);

        impl NodeIndex {
            pub fn new(index: usize) -> Self {
                NodeIndex(u32::try_from(index).expect("a node index fits into 32 bits"))
            }

            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    }
}
