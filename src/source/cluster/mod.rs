//! Reads a cluster.

/// How to reach a cluster: kubectl's connection flags.
#[derive(Clone, Debug, Default)]
pub struct Connection {}
pub fn default_namespace(_: &Connection) -> std::io::Result<String> {
    unimplemented!()
}
pub fn read(_: &Connection, _: &crate::request::Scope, _: &mut dyn FnMut(&str)) -> std::io::Result<super::Snapshot> {
    unimplemented!()
}
