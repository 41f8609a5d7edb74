//! Reads a cluster.

/// How to reach a cluster: kubectl's connection flags.
#[derive(Clone, Debug, Default)]
pub struct Connection {}
