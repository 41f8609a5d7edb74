//! A server in this process, kubeconfigs in temporary folders, and objects as the API server writes them.

pub(crate) mod cluster;
pub(crate) mod fleet;
mod home;
pub(crate) mod objects;
pub(crate) mod proxy;
pub(crate) mod server;
pub(crate) mod tls;

pub(crate) use home::{Home, kubeconfig};
pub(crate) use server::{FakeApi, Reply, Request};

use sigapps::source::{Resource, Snapshot, Source};

/// What became of a resource.
pub(crate) fn source(snapshot: &Snapshot, resource: Resource) -> &Source {
    snapshot.sources.iter().find(|source| source.resource == resource.name()).unwrap()
}
