//! The router: everything that is the same for all policies.

pub mod circuit;
pub mod dag;
pub mod dense_layout;
pub mod routing_target;
pub mod sabre;

use std::fmt;

/// What can go wrong while a circuit is read and routed.
#[derive(Debug, Clone)]
pub enum RouterError {
    Parse(String),
    Topology(String),
    Routing(String),
}

impl fmt::Display for RouterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RouterError::Parse(what) => write!(f, "parsing: {what}"),
            RouterError::Topology(what) => write!(f, "device: {what}"),
            RouterError::Routing(what) => write!(f, "routing: {what}"),
        }
    }
}

impl std::error::Error for RouterError {}
