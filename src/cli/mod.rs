//! x
/// kubectl's connection flags.
pub mod connection;
