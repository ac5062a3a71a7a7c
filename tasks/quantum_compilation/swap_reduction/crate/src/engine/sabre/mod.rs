//! Routing by SWAPs: one run, and the trials around it.

pub mod layout;
pub mod run;
pub mod trials;
mod worklist;
