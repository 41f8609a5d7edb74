//! Names of what is there, for whoever types one: asked for once, and soon or not at all.

use std::time::Instant;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde::Deserialize;
use serde_json::Value;

use super::api::{Api, Group, JSON, LARGEST_OBJECT, Patience, gather};
use super::environment::Environment;
use super::error::ClusterError;
use super::fault::{self, Fault};
use super::{kubeconfig, path, reach};
use crate::request::{Connection, TargetKind};

/// What names are asked of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// The cluster's namespaces.
    Namespaces,
    /// The objects of a kind: those of the connection's namespace, or nodes.
    Kind(TargetKind),
}

/// Names in a kubeconfig, each once and in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configured {
    /// Of contexts.
    pub contexts: Vec<String>,
    /// Of clusters.
    pub clusters: Vec<String>,
    /// Of users.
    pub users: Vec<String>,
    /// Of the namespaces that contexts name.
    pub namespaces: Vec<String>,
}

/// Objects of one list; who has more has begun to type a name that cannot be asked for by its beginning.
const MOST: &str = "500";
/// The server's own table has the name in its first column, and nothing else that is large: of a thousand pods it is a
/// twentieth of their metadata. Source: Kubernetes API concepts, "Receiving resources as Tables".
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

/// The names in the kubeconfig that a connection leads to. Nothing is dialled.
pub fn configured(environment: &Environment, connection: &Connection) -> Result<Configured, ClusterError> {
    let kubeconfig =
        kubeconfig::find(connection, environment)?.map_err(|looked| ClusterError::NoKubeconfig { looked })?;
    let namespaces = kubeconfig.contexts.iter().filter_map(|context| context.context.as_ref()?.namespace.clone());
    Ok(Configured {
        namespaces: once(namespaces.filter(|namespace| !namespace.is_empty())),
        contexts: once(kubeconfig.contexts.into_iter().map(|context| context.name)),
        clusters: once(kubeconfig.clusters.into_iter().map(|cluster| cluster.name)),
        users: once(kubeconfig.auth_infos.into_iter().map(|user| user.name)),
    })
}

fn once(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = std::collections::BTreeSet::new();
    names.filter(|name| seen.insert(name.clone())).collect()
}

/// Asks for names, all lists at once, and hands over each list as it comes. What has not come by then never does, what is
/// refused or not there has no names, and nothing is tried again. At most the first 500 of a list are told.
pub fn names(
    environment: &Environment,
    connection: &Connection,
    wanted: &[Named],
    deadline: Instant,
    take: &mut dyn FnMut(Vec<String>),
) -> Result<(), ClusterError> {
    let environment = environment.clone().hurried(deadline);
    let namespace = reach::namespace(connection, &environment)?;
    let reach = reach::reach(connection, &environment)?;
    let destination = (&reach).into();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| ClusterError::Process(error.to_string()))?;
    let asked = async {
        let client = kube::Client::try_from(reach.config).map_err(|error| fault::client_error(&error))?;
        let left = deadline.saturating_duration_since(Instant::now());
        let mut silent = |_: &str| {};
        let api = Api::new(client, destination, Patience::Whole(left), &mut silent);
        let mut lists: FuturesUnordered<_> = wanted.iter().map(|named| names_of(&api, *named, &namespace)).collect();
        while let Some(list) = lists.next().await {
            take(list.unwrap_or_default());
        }
        Ok(())
    };
    let ended = runtime.block_on(async { tokio::time::timeout_at(deadline.into(), asked).await });
    // A look-up of a host's name that hangs must not hold up the end.
    runtime.shutdown_background();
    ended.unwrap_or(Ok(()))
}

async fn names_of(api: &Api<'_>, named: Named, namespace: &str) -> Result<Vec<String>, Fault> {
    let list = match named {
        Named::Namespaces => path::of("v1", None, "namespaces"),
        Named::Kind(kind) => {
            let namespace = (kind != TargetKind::Node).then_some(namespace);
            match kind.built_in() {
                Some(version) => path::of(version, namespace, kind.plural()),
                None => path::of(&preferred(api, kind.group()).await?, namespace, kind.plural()),
            }
        }
    };
    let list: List = read(api, &format!("{list}?limit={MOST}&includeObject=None"), TABLE).await?;
    let of_rows = list.rows.into_iter().filter_map(|row| row.cells.into_iter().next()?.as_str().map(ToOwned::to_owned));
    let of_items = list.items.into_iter().map(|item| item.metadata.name);
    Ok(of_rows.chain(of_items).filter(|name| is_name(name)).collect())
}

/// The version of a group that the server prefers.
async fn preferred(api: &Api<'_>, group: &str) -> Result<String, Fault> {
    read(api, &format!("/apis/{group}"), JSON).await.map(Group::preferred)
}

async fn read<T: serde::de::DeserializeOwned>(api: &Api<'_>, path: &str, accept: &str) -> Result<T, Fault> {
    let response = api.try_get(path, accept).await?;
    let (body, whole) = gather(&api.patience.begin(), response, LARGEST_OBJECT).await;
    whole?;
    serde_json::from_slice(&body).map_err(|_| Fault::Answer(fault::first_line(&body)))
}

/// What is put into somebody's command line is nothing but a name, whatever a server says.
fn is_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    name.bytes().next().is_some_and(is_plain) && name.bytes().all(|byte| is_plain(byte) || b"-.".contains(&byte))
}

/// A table, or where the server has none the list itself.
#[derive(Deserialize)]
struct List {
    #[serde(default)]
    rows: Vec<Row>,
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Row {
    cells: Vec<Value>,
}

#[derive(Deserialize)]
struct Item {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_name_is_never_told() {
        for name in ["etl", "llama-70b", "node.example.com", "0"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "a b", "a;b", "$(reboot)", "a\nb", "a\tb", "a\u{1b}[2J", "--token"] {
            assert!(!is_name(name), "{name:?}");
        }
    }
}
